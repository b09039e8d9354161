/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_COUNTERS_H
#define COHORT_RUNTIME_BASE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cohort/status.h"
#include "runtime/base/ledger_format.h"

/* What a locality counts with COHORT_STATS, see docs/COUNTERS.md. All grow only, from the start of
 * the locality. Who counts in its threads: cohort__trace_count and the records of a trace
 * (trace.h). */
enum cohort__counter {
    COHORT__COUNTER_TASKS_STARTED,
    COHORT__COUNTER_TASKS_ENDED,
    COHORT__COUNTER_TASKS_IN_PLACE,
    COHORT__COUNTER_TASKS_STOLEN,
    COHORT__COUNTER_SUSPENSIONS,
    COHORT__COUNTER_YIELDS,
    COHORT__COUNTER_THREAD_SLEEPS,
    COHORT__COUNTER_MESSAGES_SENT,
    COHORT__COUNTER_MESSAGES_RECEIVED,
    COHORT__COUNTER_MESSAGES_DROPPED,
    COHORT__COUNTER_BYTES_SENT,
    COHORT__COUNTER_BYTES_RECEIVED,
    COHORT__COUNTER_FETCHES,
    COHORT__COUNTER_BYTES_FETCHED,
    COHORT__COUNTER_REMOTE_CALLS,
    COHORT__COUNTER_REMOTE_SERVED,
    COHORT__COUNTER_LOOP_EVENTS,
    COHORT__COUNTER_LOOP_TICKS,
    COHORT__COUNTER_SLAB_CHUNKS,
    COHORT__COUNTER_USER_US,
    COHORT__COUNTER_SYSTEM_US,
    COHORT__COUNTER_MAX_MEMORY_BYTES,
    COHORT__COUNTER_MINOR_FAULTS,
    COHORT__COUNTER_MAJOR_FAULTS,
    COHORT__COUNTER_VOLUNTARY_SWITCHES,
    COHORT__COUNTER_INVOLUNTARY_SWITCHES,
    COHORT__COUNTER_COLLECTIVES_FAILED,
    COHORT__COUNTER_CALLED, /* of the first collective; the others' follow */
    COHORT__COUNTER_ENDED = COHORT__COUNTER_CALLED + 14, /* the same */
    COHORT__NUM_COUNTERS = COHORT__COUNTER_ENDED + 14,
    COHORT__COUNTED_COLLECTIVES = COHORT__COUNTER_ENDED - COHORT__COUNTER_CALLED,
};

_Static_assert((int)COHORT__NUM_COUNTERS <= (int)COHORT__LEDGER_COUNTERS_MOST, "a line has room");

/* "tasks_started" and so on. COUNTER is below COHORT__NUM_COUNTERS. */
const char *cohort__counter_name(unsigned counter);

/* The counters of one locality at one moment. All zero: none are known. */
struct cohort__counters {
    uint64_t at; /* nanoseconds of CLOCK_REALTIME */
    uint32_t rank;
    uint64_t of[COHORT__NUM_COUNTERS];
};

/* Writes them into LINE of the ledger, for others. One thread at a time. */
void cohort__counters_publish(const struct cohort__counters *counters,
                              struct cohort__counters_line *line);

/* A copy of a line that was read from a ledger, as they are. */
void cohort__counters_take(struct cohort__counters *ret_counters,
                           const struct cohort__counters_line *line);

/* One line of JSON, a flat object, with a newline. Returns its bytes. */
enum { COHORT__COUNTERS_JSON_BYTES = 4096 };
size_t cohort__counters_json(char text[COHORT__COUNTERS_JSON_BYTES],
                             const struct cohort__counters *counters);

/* A table of those counters of NUM localities that are not 0 everywhere: for each the sum, and,
 * where there are several localities, the least and the most with the locality (the lowest one). */
void cohort__counters_print(FILE *to, const struct cohort__counters *counters, uint32_t num);

/* What COHORT_STATS says. COHORT_ERR_BAD_PARAMETER, with a message that names it: a word as "yes",
 * which would be taken for the name of a file. */
cohort_status cohort__counters_check(const char *setting);

/* The file of COHORT_STATS=FILE, to the end of which lines are written. COHORT_ERR_SYSTEM, with a
 * message that names the variable. */
cohort_status cohort__counters_open(const char *file, int *ret_fd);

/* Appends the line of COUNTERS, as one write. False: errno says why not. */
bool cohort__counters_append(int fd, const struct cohort__counters *counters);

#endif
