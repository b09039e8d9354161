/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_LEDGER_FORMAT_H
#define COHORT_RUNTIME_BASE_LEDGER_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

/* What is in a ledger, for its writer (ledger.h) and its readers (ledger_read.h, and a debugger).
 * Flat memory without pointers that a reader has to follow: addresses are those of the process, to
 * be compared and to be looked up in its modules.
 *
 * A ledger's memory has a region for each locality of the host, by slot. A region begins with a
 * head. Behind that there are chunks, each of lines of one kind. A line is in use while its first
 * word is not 0. That word is written last, and cleared first: so a reader that finds the same
 * before and after it has read the other fields knows that they belong together. */

#define COHORT__LEDGER_MAGIC UINT64_C(0x72656764656c6863) /* "chledger" */
#define COHORT__LEDGER_REGION_BYTES (UINT64_C(512) << 20)
#define COHORT__LEDGER_NAME "cohort-ledger" /* of the memory, in /proc/PID/fd and maps */

enum {
    COHORT__LEDGER_VERSION = 11,
    COHORT__LEDGER_HEAD_BYTES = 4096,
    COHORT__LEDGER_PAGE_BYTES = 65536, /* a region is divided into these; no system has larger */
    COHORT__LEDGER_CHUNKS = 224,
    COHORT__LEDGER_EVENTS = 4096, /* 2^16 bytes of them */
    COHORT__LEDGER_PENDING_MOST = 12,
    COHORT__LEDGER_PENDING_NAME = 64,
    COHORT__LEDGER_INPUTS_MOST = 8,
    COHORT__LEDGER_COUNTERS_MOST = 62,
};

enum cohort__ledger_kind {
    COHORT__LEDGER_WORKERS = 1, /* struct cohort__worker_line */
    COHORT__LEDGER_WAITS,       /* struct cohort__wait_line */
    COHORT__LEDGER_SITES,       /* struct cohort__site_line */
    COHORT__LEDGER_GROUPS,      /* struct cohort__group_line */
    COHORT__LEDGER_JOINS,       /* struct cohort__join_line */
    COHORT__LEDGER_MODULES,     /* struct cohort__module_line */
    COHORT__LEDGER_PENDING,     /* struct cohort__pending_line */
    COHORT__LEDGER_TRACE,       /* struct cohort__trace_block */
    COHORT__LEDGER_COUNTERS,    /* struct cohort__counters_line */
    COHORT__LEDGER_WORDS,       /* struct cohort__words_line */
    COHORT__LEDGER_INPUTS,      /* struct cohort__inputs_line */
    COHORT__LEDGER_NUM_KINDS,   /* and one more */
};

/* How far the program has come. */
enum cohort__ledger_stage {
    COHORT__LEDGER_STARTING,
    COHORT__LEDGER_RUNNING,
    COHORT__LEDGER_RETURNED, /* from the program's main function; others may still need it */
    COHORT__LEDGER_OVER,
};

/* The same moment by three clocks: cohort__clock_cycles, and nanoseconds of CLOCK_MONOTONIC and
 * CLOCK_REALTIME. */
struct cohort__ledger_moment {
    _Atomic uint64_t cycles, mono, real;
};

struct cohort__ledger_chunk {
    _Atomic uint32_t kind; /* written last */
    uint32_t stride;       /* bytes of a line */
    uint32_t num;          /* lines */
    uint32_t page;         /* where it begins, in pages of the region */
};

struct cohort__ledger_head {
    uint64_t magic;
    uint32_t version;
    uint32_t epoch; /* of the job */
    uint32_t rank;
    uint32_t size; /* localities of the job */
    int32_t pid;   /* as the process itself sees it */
    _Atomic uint32_t stage;
    _Atomic uint64_t stage_at; /* when it came to that, in nanoseconds of CLOCK_MONOTONIC */
    _Atomic int32_t status;    /* that the program has returned */
    _Atomic uint32_t is_cut;   /* some lines are missing: there was no memory for them */
    struct cohort__ledger_moment first;
    struct cohort__ledger_moment last; /* at the last tick, for core files */
    _Atomic uint64_t moved; /* another number at each tick before which something moved */
    _Atomic uint64_t tasks; /* that there were at the last tick, begun or not */
    uint64_t key;           /* of the job, which tells it from others */
    _Atomic uint32_t num_chunks;
    /* The program acts outside of tasks, too, by callbacks of its own on the loop. As of the last
     * tick. (With cohort_start a task waits for the end of what the program's thread does.) */
    _Atomic uint32_t acts_outside;
    uint32_t padding[96];
    struct cohort__ledger_chunk chunks[COHORT__LEDGER_CHUNKS];
};

/* What a line waits for: an address, with the kind in its low bits. */
enum cohort__wait_kind {
    COHORT__WAIT_PLAIN,      /* a future of which no more is known, as that of a promise */
    COHORT__WAIT_TASK,       /* what: the task, as in another line */
    COHORT__WAIT_COLLECTIVE, /* the future */
    COHORT__WAIT_GET,        /* the future */
    COHORT__WAIT_SET,        /* the future */
    COHORT__WAIT_CREATION,   /* the future, as in a line of a join */
    COHORT__WAIT_SEVERAL,    /* the future of a combinator, or that of a scope's end, as in a line
                              * of inputs */
    COHORT__WAIT_OUTSIDE,    /* a timer, a file, a connection, a call in a thread of its own */
    COHORT__WAIT_REMOTE,     /* the future of a remote task */
    COHORT__WAIT_YIELD,      /* nothing: it goes on by itself */
    COHORT__WAIT_MUTEX,      /* the task that held it when the wait began, or 0 */
    COHORT__WAIT_CONDITION,  /* this and those below: its address */
    COHORT__WAIT_SEMAPHORE,
    COHORT__WAIT_LATCH,
    COHORT__WAIT_LOCAL_BARRIER,
    COHORT__WAIT_QUEUE,
    COHORT__WAIT_KINDS, /* 16: the low bits of `what`, all of which are used */
};

/* Tasks are known by their addresses, which are used again. One that has called for a site has a
 * stamp in the bits above these, in all lines from then on. `what` has only the address. */
#define COHORT__LEDGER_ADDRESS_BITS 48
#define COHORT__LEDGER_ADDRESS ((UINT64_C(1) << COHORT__LEDGER_ADDRESS_BITS) - 1)

/* One for each stack, and for each thread outside of tasks that waits. */
struct cohort__wait_line {
    _Atomic uint64_t since;     /* cycles; 0: it runs, or holds no task */
    _Atomic uintptr_t caller;   /* a return address: where it waits */
    _Atomic uintptr_t what;     /* an address, plus an enum cohort__wait_kind */
    _Atomic uintptr_t function; /* the user's, of the task; 0: a thread outside of tasks */
    _Atomic uintptr_t task;     /* see above; plus the marks below */
    _Atomic uintptr_t fiber; /* the stack, whose first word is the stack pointer; 0: a thread's */
    _Atomic uintptr_t outer; /* the task that awaits this one, which it runs itself */
    _Atomic uintptr_t outermost; /* the same, at the base of the stack */
    _Atomic uintptr_t scope;     /* that the task is in, or else one that it runs for */
    _Atomic uintptr_t range;     /* that it runs a chunk of, or runs for */
    uint64_t padding[6];
};

/* Of the task in a line: it runs in place of an await of `outer`; it has a scope; a range.
 * Without the mark the field is of an earlier task on that stack. */
#define COHORT__WAIT_LINE_IS_INNER UINT64_C(1)
#define COHORT__WAIT_LINE_IS_IN_SCOPE UINT64_C(2)
#define COHORT__WAIT_LINE_IS_IN_RANGE UINT64_C(4)

/* What a line of inputs is about. */
enum cohort__inputs_kind {
    COHORT__INPUTS_FUTURES,   /* a combinator; or a task that begins when others are complete */
    COHORT__INPUTS_SCOPE,     /* the end of a scope: `num` tasks in it have not ended */
    COHORT__INPUTS_CANCELLED, /* the same, and the scope is cancelled */
    COHORT__INPUTS_RANGE, /* the end of a range of indices, of which `num` chunks are not over */
};

/* One for each of these that was seen pending at two ticks in turn. The memory of one that has
 * ended is used again: so the line is about a wait for that address only if the wait began before
 * `seen_at`. */
struct cohort__inputs_line {
    _Atomic uint64_t seen_at;   /* cycles: when the last tick began, as of which the line is */
    _Atomic uintptr_t of;       /* the future or the task, as those that wait for it have it */
    _Atomic uintptr_t function; /* the user's, of the task; 0: it is none */
    _Atomic uintptr_t scope;    /* or the range, whose end it is; or that the task is in; 0: none */
    _Atomic uint64_t num;       /* inputs that are pending */
    _Atomic uint64_t wanted;    /* so many of these are still to be complete */
    _Atomic uint32_t kind;      /* enum cohort__inputs_kind */
    uint32_t padding;
    _Atomic uint64_t since; /* cycles: the first tick that has seen it */
    _Atomic uintptr_t what[COHORT__LEDGER_INPUTS_MOST]; /* the first of those that are pending, each
                                                         * as in a line of a wait; 0: no more */
};

/* One for each endpoint that has not left. */
struct cohort__site_line {
    _Atomic uint64_t instance;    /* of the communicator */
    _Atomic uint64_t last_called; /* generation; 0: none */
    _Atomic uintptr_t task;       /* that called last, at first: that created it; with a stamp */
    _Atomic uint32_t site;
    _Atomic uint32_t rank;   /* the locality: a process may hold several in tests */
    _Atomic uint32_t number; /* as in events: of its line, below 2^20 */
    uint32_t padding[7];
};

/* One for each communicator with endpoints here. */
struct cohort__group_line {
    _Atomic uint64_t instance;
    _Atomic uint32_t num_sites;
    _Atomic uint32_t rank;
    char name[256]; /* ends with 0 */
    uint64_t padding[6];
};

/* For what sites join each other. */
enum cohort__join_kind {
    COHORT__JOIN_NAME,      /* a communicator, by its name */
    COHORT__JOIN_SPLIT,     /* one that a collective of another one makes */
    COHORT__JOIN_SHRINK,    /* one of the sites of `parent` that live */
    COHORT__JOIN_AGREEMENT, /* no communicator: these agree */
};

/* One for each site that has joined what is not complete. */
struct cohort__join_line {
    _Atomic uint64_t since; /* nanoseconds of CLOCK_MONOTONIC */
    _Atomic uintptr_t future;
    _Atomic uint32_t site;
    _Atomic uint32_t num_sites;
    _Atomic uint32_t rank;
    _Atomic uint32_t kind;    /* enum cohort__join_kind */
    char name[256];           /* ends with 0 */
    _Atomic uint64_t parent;  /* of a shrink or an agreement: the instance of the communicator */
    _Atomic uint32_t of_site; /* the same: which of its sites this is */
    uint32_t padding[5];
};

/* One for each file that the process has mapped as code. */
struct cohort__module_line {
    _Atomic uint64_t begin, end; /* addresses */
    uint64_t bias;               /* of its addresses to those in the file */
    uint32_t build_id_bytes;     /* 0: it has none */
    uint8_t build_id[20];
    char path[464];
};

/* A call, a get, a set or a remote call that is not over; or one of another locality that a task
 * works on here. */
struct cohort__pending {
    _Atomic uintptr_t future; /* of a remote call: 0: none has this place; of the last kind: the
                               * task; 0: it has yet to begin */
    _Atomic uint64_t number;  /* the generation, the tag, or that of the remote call */
    _Atomic uint32_t site;    /* of a get: whose message it waits for; UINT32_MAX: anybody's; of a
                               * set: who is to get it; of a remote call: the other locality */
    _Atomic uint32_t kind;    /* COHORT__WAIT_COLLECTIVE, _GET, _SET, _REMOTE or _TASK; or with: */
};

/* Of a collective: it does not end at this site before all sites have called it. Of a set: it does
 * not end before that site gets it. */
#define COHORT__PENDING_NEEDS_ALL 256

/* Of a get: its message has come, and is read. */
#define COHORT__PENDING_HAS_COME 512

/* One for each endpoint that ever had something in flight at two ticks of its locality in turn:
 * what that was, the oldest call first, then gets, then sets. It stays as it is when there is
 * nothing any more. So an entry tells something of a line that waits for its future only if that
 * has waited since before `at`.
 *
 * One also for each locality that has had remote calls of this one: with instance 0, and the name
 * of each in `text` at its place times COHORT__LEDGER_PENDING_NAME, as far as it fits. These are
 * there from the beginning of the call to its end. And some for the calls of others that are worked
 * on here, oldest first. */
struct cohort__pending_line {
    _Atomic uint64_t at; /* cycles */
    _Atomic uint64_t instance;
    _Atomic uint32_t site;
    _Atomic uint32_t rank;
    _Atomic uint32_t num; /* may be more than have a place in `of` */
    uint32_t padding;
    _Atomic uint64_t described; /* the generation of which `text` says what it waits for; 0: none */
    struct cohort__pending of[COHORT__LEDGER_PENDING_MOST];
    char text[824]; /* lines; ends with 0 */
};

enum cohort__event_kind {
    COHORT__EVENT_CALL,     /* of a collective */
    COHORT__EVENT_END,      /* of one */
    COHORT__EVENT_RECEIVED, /* a message of a collective, from a locality; and below: */
    COHORT__EVENT_CHANNEL,  /* of a channel, whose tag is in place of the generation */
    COHORT__EVENT_REMOTE,   /* of a remote task, the number of whose call is there */
};

enum { COHORT__EVENT_KIND_SHIFT = 20, COHORT__EVENT_GENERATION_SHIFT = 24 };

/* `what` is the generation, of which the upper 24 bits are lost, times 2^24, plus the kind times
 * 2^20, plus the number of the site's line or of the locality. `at` is the last reading of the
 * clock before that, in cycles: some 20 us old, or more in a long task. */
struct cohort__ledger_event {
    _Atomic uint64_t at, what;
};

/* One for each worker and for the progress thread. */
struct cohort__worker_line {
    _Atomic uint64_t thread;  /* its number in the kernel */
    _Atomic uint64_t seen_at; /* when it last turned the loop, or left that to others; cycles */
    union {
        _Atomic uint64_t event_bytes; /* of all events so far */
        _Atomic uint16_t event_place; /* its lower bits: where in `events` the next one is */
    };
    _Atomic uint32_t index;     /* of the worker; UINT32_MAX: the progress thread */
    _Atomic uint32_t is_idle;   /* it sleeps, since it has nothing to do */
    _Atomic uintptr_t function; /* the user's, of the task that it runs; 0: it runs none */
    uint32_t padding[6];
    struct cohort__ledger_event events[COHORT__LEDGER_EVENTS];
};

/* One, with COHORT_STATS: what the locality has counted, as of its last tick, or its end. */
struct cohort__counters_line {
    _Atomic uint64_t at; /* nanoseconds of CLOCK_REALTIME */
    _Atomic uint32_t rank;
    uint32_t padding;
    _Atomic uint64_t of[COHORT__LEDGER_COUNTERS_MOST]; /* by enum cohort__counter */
};

/* One, where the program has failed, or dies of a signal: why. */
struct cohort__words_line {
    _Atomic uint64_t at; /* nanoseconds of CLOCK_MONOTONIC */
    char text[1016];     /* ends with 0 */
};

#endif
