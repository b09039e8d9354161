/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_EXERCISE_H
#define COHORT_TESTS_SUPPORT_EXERCISE_H

#include <cohort/cohort.h>

/* One call of a collective with contents that follow from site, generation and place, checked
 * against what a naive reference says must come out. */
enum exercise_kind {
    EXERCISE_GATHER,
    EXERCISE_SCATTER,
    EXERCISE_BROADCAST,
    EXERCISE_REDUCE,
    EXERCISE_REDUCE_ORDERED, /* the user's operation, not commutative */
    EXERCISE_ALL_GATHER,
    EXERCISE_ALL_REDUCE,
    EXERCISE_ALL_REDUCE_ORDERED,
    EXERCISE_ALL_TO_ALL,
    EXERCISE_BARRIER,
    EXERCISE_NUM_KINDS,
};

struct exercise {
    cohort_comm *comm;
    enum exercise_kind kind;
    size_t count; /* of 8-byte elements */
    uint64_t generation;
    uint64_t *in;
    uint64_t *out;
    cohort_future *done;
};

const char *exercise_name(enum exercise_kind kind);

/* Calls; all sites with the same arguments. */
void exercise_begin(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                    size_t count, uint64_t generation);

/* Awaits and checks; a wrong result ends the test. */
cohort_status exercise_end(struct exercise *exercise);

#endif
