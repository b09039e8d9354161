/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_TRACE_FORMAT_H
#define COHORT_RUNTIME_BASE_TRACE_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

/* What a locality writes down with COHORT_TRACE=FILE, for its writer (trace.h) and its readers
 * (tools/trace). Each thread fills blocks of records. A block that is full goes to the locality's
 * part, the file FILE.RANK.part: a head, then blocks of all threads, in the order in which they
 * became full. Until then it is a line of the ledger of kind COHORT__LEDGER_TRACE, so that nothing
 * is lost if the process is killed. All is in the host's byte order. */

#define COHORT__TRACE_MAGIC UINT64_C(0x6563617274746863) /* "chttrace" */

enum {
    COHORT__TRACE_VERSION = 2,
    COHORT__TRACE_HEAD_BYTES = 4096, /* the first block begins behind it */
    COHORT__TRACE_BLOCK_BYTES = 65536,
    COHORT__TRACE_BLOCK_RECORDS = 2046,
    COHORT__TRACE_TEXT_BYTES = 22, /* in one record */
    COHORT__TRACE_NO_ROW = 0xffff,
};

/* The fields of a record: small (8 bits), value (48), a, b (64). What a record does not name is
 * 0. Addresses are those of the process: they tell things apart only as long as these exist. */
enum cohort__trace_kind {
    COHORT__TRACE_NONE,
    /* A task begins on this thread. small: 1: in place of an await of the task on this thread; 2:
     * it is no task, but a function of cohort_blocking; a: the task, or what is its like, b: its
     * function, the user's. */
    COHORT__TRACE_BEGIN,
    /* It ends, and its future completes next. small: the status, a: the task. */
    COHORT__TRACE_END,
    /* The innermost task on this thread, with those below it, waits. value: the wait, a: what for
     * (enum cohort__wait_kind in its low bits), b: where, an address of code. */
    COHORT__TRACE_SUSPEND,
    /* It goes on, perhaps on another thread. value: the wait. */
    COHORT__TRACE_RESUME,
    /* This thread makes it go on. May come before its SUSPEND. value: the wait. */
    COHORT__TRACE_WAKE,
    /* This thread has found nothing to do, and sleeps until AWAKE. */
    COHORT__TRACE_SLEEP,
    COHORT__TRACE_AWAKE,
    /* What its next record has no room for: a, b, which are c and d of that record. */
    COHORT__TRACE_MORE,
    /* A call of a collective. small: the collective, value: the endpoint, a: the generation, b: the
     * row; c: the count, d: the root, or the distance of a shift. */
    COHORT__TRACE_CALL,
    /* It has ended, and its future completes next. small: the status, value: the endpoint, a: the
     * generation, b: the collective. */
    COHORT__TRACE_ENDED,
    /* A new endpoint. value: it, a: the instance of the communicator, b: the site, plus 2^32 times
     * the number of sites. Its TEXT is the communicator's name. */
    COHORT__TRACE_ENDPOINT,
    /* It has left. value: the endpoint. */
    COHORT__TRACE_LEFT,
    /* A message to, or from, another locality. small: its kind (wire/envelope.h), value: the other
     * locality, a: its number between the two, b: its bytes; c: the generation. */
    COHORT__TRACE_SENT,
    COHORT__TRACE_RECEIVED,
    /* From now on another thread writes here. a: its number in the kernel. Its TEXT is its name. */
    COHORT__TRACE_THREAD,
    /* `at` is, by other clocks, in nanoseconds: a: CLOCK_MONOTONIC, b: CLOCK_REALTIME. */
    COHORT__TRACE_CLOCK,
    /* A file that is mapped as code. value: what to take from an address to get the one in the
     * file, a, b: the addresses from a to b. Its TEXT is the path, its BUILD_ID the build id. */
    COHORT__TRACE_MODULE,
    /* How a collective, or a row of one, is called. small: an enum cohort__trace_needs, value: the
     * row, or COHORT__TRACE_NO_ROW, a: the collective. Its TEXT is the name. */
    COHORT__TRACE_ROW,
    /* What belongs to the record before it. small: the bytes, which are in value, a and b; a longer
     * one goes on in the next record. */
    COHORT__TRACE_TEXT,
    COHORT__TRACE_BUILD_ID,
    /* As TEXT, but it belongs to the next CALL of this thread: the sites whose data it waits for,
     * as "2 5". There may be more sites than have a place in it. */
    COHORT__TRACE_FROM,
    /* In no part, but at the begin of the whole trace: a locality. small: 1: it has come to its
     * end, value: its pid, a: the records that are lost, b: the localities of the job, c: the
     * number of its host. Its TEXT is "program host". */
    COHORT__TRACE_LOCALITY,
    /* In no part, behind LOCALITY: its clock. small: enum cohort__trace_clock_known, value: to
     * within how many ns that is known, a: by how many ns it is ahead of the first locality's, as a
     * signed number. */
    COHORT__TRACE_OFFSET,
    /* A level of an endpoint's machine. small: its number, the finest is 0; value: the endpoint.
     * Its TEXT is the name. */
    COHORT__TRACE_LEVEL,
    /* A step of a call begins. small: what it does (enum cohort__trace_step), plus 16 times the
     * phase; value: the endpoint, a: the generation, b: the other site, plus 2^32 times the tag,
     * plus 2^60 times the finest level at which all that take part in it are together: the number
     * of levels if there is none, COHORT__TRACE_NO_LEVEL if it is this site alone. */
    COHORT__TRACE_STEP,
    /* It is over. The same fields. Of a COMPUTE there is only this. */
    COHORT__TRACE_OVER,
    COHORT__TRACE_KINDS,
};

/* Whose calls a site's result depends on. */
enum cohort__trace_needs {
    COHORT__TRACE_NEEDS_ITSELF,
    COHORT__TRACE_NEEDS_ALL,
    COHORT__TRACE_NEEDS_ALL_AT_ROOT, /* the root needs all, others themselves */
    COHORT__TRACE_NEEDS_ROOT,
    COHORT__TRACE_NEEDS_LOWER,  /* sites below it */
    COHORT__TRACE_NEEDS_SOURCE, /* of a shift */
};

/* How it is known how far a clock is ahead of the first locality's. */
enum cohort__trace_clock_known {
    COHORT__TRACE_CLOCK_DAY,      /* only by the time of day */
    COHORT__TRACE_CLOCK_COMPARED, /* by messages */
    COHORT__TRACE_CLOCK_SAME,     /* it is the same clock */
};

/* What a step of a call does. */
enum cohort__trace_step {
    COHORT__TRACE_STEP_SEND,    /* to the other site */
    COHORT__TRACE_STEP_RECEIVE, /* from it */
    COHORT__TRACE_STEP_MEET,    /* sites that share memory; the tag says which meeting it is */
    COHORT__TRACE_STEP_POST,    /* a note; the tag says which one */
    COHORT__TRACE_STEP_READ,    /* the other site's note */
    COHORT__TRACE_STEP_AGREE,
    COHORT__TRACE_STEP_COMPUTE, /* what other threads did */
    COHORT__TRACE_STEPS,
};

enum { COHORT__TRACE_PHASES = 4, COHORT__TRACE_NO_LEVEL = 15 };

struct cohort__trace_record {
    _Atomic uint64_t at;   /* cycles; written last; 0: there is none */
    _Atomic uint64_t head; /* kind, plus 2^8 times small, plus 2^16 times value */
    _Atomic uint64_t a, b;
};

struct cohort__trace_block {
    _Atomic uint64_t thread;   /* its number, from 0, plus 1 */
    _Atomic uint64_t sequence; /* of the thread's blocks, from 0 */
    uint64_t padding[6];
    struct cohort__trace_record records[COHORT__TRACE_BLOCK_RECORDS];
};

struct cohort__trace_head {
    uint64_t magic;
    uint32_t version;
    uint32_t epoch; /* of the job */
    uint64_t key;   /* of the job */
    uint32_t rank;
    uint32_t size; /* localities of the job */
    int32_t pid;
    uint32_t is_closed; /* the locality has come to its end */
    uint64_t lost;      /* records for which there was no room */
    char clock[80];     /* which CLOCK_MONOTONIC it has: others have nothing in common with it */
    char host[72];
    char program[256];
    uint64_t padding[455];
};

_Static_assert(sizeof(struct cohort__trace_head) == COHORT__TRACE_HEAD_BYTES, "a page");
_Static_assert(sizeof(struct cohort__trace_block) == COHORT__TRACE_BLOCK_BYTES, "as said");

#endif
