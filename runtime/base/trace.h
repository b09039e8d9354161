/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_TRACE_H
#define COHORT_RUNTIME_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/counters.h"
#include "runtime/base/trace_format.h"

/* The trace of this process, see trace_format.h. There is one set of hooks, behind one flag. A
 * thread writes blocks of its own, so a record takes no lock and waits for nobody, except that each
 * 2,046th one writes a block to the file.
 *
 * The same hooks feed the counters of COHORT_STATS (counters.h). With them alone no record is kept,
 * only counted.
 *
 * If the file can't take more, or is as long as it may be, the thread stops, and its further
 * records are counted as lost: so what is there has no gaps. */

struct cohort__trace_options {
    /* Absolute; the part is FILE.RANK.part, in place of what had that name. NULL: nothing is
     * written down, there are only counters. */
    const char *file;
    uint64_t most_bytes; /* of the part */
    uint64_t key;
    uint32_t epoch, rank, size;
};

/* What COHORT_TRACE says. COHORT_ERR_BAD_PARAMETER, with a message that names it: FILE is a folder.
 */
cohort_status cohort__trace_check_file(const char *file);

/* Begins the trace. Before other threads that may come to a hook. COHORT_ERR_SYSTEM: the part can't
 * be made; COHORT_ERR_NO_MEMORY; COHORT_ERR_STATE: there was a trace in this process already. */
cohort_status cohort__trace_begin(const struct cohort__trace_options *options);

/* Which clock the CLOCK_MONOTONIC of this process is: processes with the same text have the same
 * one. Empty: it is not known. */
enum { COHORT__TRACE_CLOCK_NAME = 80 };
void cohort__trace_clock_name(char text[COHORT__TRACE_CLOCK_NAME]);

/* Now and then: compares the clocks. Any thread. */
void cohort__trace_tick(void);

/* Ends it: what was written down is in the part. All threads that write records have ended, or will
 * come to no hook any more. Returns whether there was a file. */
bool cohort__trace_end(void);

/* Written before other threads can come to a hook, and by a child that was forked. */
extern bool cohort__trace_is_on __attribute__((visibility("hidden")));

/* KIND_SMALL: kind, plus 2^8 times small. Keeps errno. */
void cohort__trace_write(uint32_t kind_small, uint64_t value, uint64_t a, uint64_t b);

/* The same, with its MORE before it. AT: what trace_now has said, since when this thread has
 * written nothing; 0: now. */
void cohort__trace_write_more(uint64_t at, uint32_t kind_small, uint64_t value, uint64_t a,
                              uint64_t b, uint64_t c, uint64_t d);

/* Whether records are written down, not only counted. */
bool cohort__trace_has_file(void);

/* 0: there is no trace. */
uint64_t cohort__trace_now(void);

/* What belongs to the record that this thread has written last. */
void cohort__trace_write_text(enum cohort__trace_kind kind, const void *text, size_t bytes);

/* Adds BY to COUNTER of this thread. Keeps errno. */
void cohort__trace_add(enum cohort__counter counter, uint64_t by);

/* Adds what all threads have counted to COUNTERS, also what they had when the trace has ended. */
void cohort__trace_sum(struct cohort__counters *counters);

/* Counts what is no record, if anything is counted: two instructions where it is not. Any thread,
 * also with locks held. */
static inline void cohort__trace_count(enum cohort__counter counter, uint64_t by)
{
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__trace_add(counter, by);
}

/* Writes a record, if there is a trace: two instructions where there is none. Any thread, also with
 * locks held. */
static inline void cohort__trace(enum cohort__trace_kind kind, uint32_t small, uint64_t value,
                                 uint64_t a, uint64_t b)
{
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__trace_write((uint32_t)kind | (small & 0xff) << 8, value, a, b);
}

#endif
