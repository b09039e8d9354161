/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NAMES_NUMBERS_H
#define COHORT_RUNTIME_NAMES_NUMBERS_H

#include <stdint.h>

/* Numbers that the home of names lends to instances: of the memory that their localities share
 * within each host (runtime/net/board.h, notes.h). No two instances of a job that live at the same
 * time have the same one, since each home has numbers of its own. One is lent again when all
 * localities of the instance have given it back. One thread at a time. */
struct cohort__numbers {
    uint32_t first; /* the home's numbers are this one, and each `step` after it */
    uint32_t step;
    uint32_t num; /* how many there are */
    uint32_t num_used;
    uint32_t free_from; /* all of lower index are lent */
    struct cohort__loan_of_number {
        uint64_t instance;
        uint32_t num_users; /* localities that have not given it back; 0: it is free */
        uint32_t num_ranks; /* that there is room for */
        uint32_t *ranks;    /* of these localities, in order */
    } * loans;
};

enum { COHORT__NO_NUMBER = UINT32_MAX };

/* For home RANK of SIZE homes, which share the numbers below LIMIT. */
void cohort__numbers_init(struct cohort__numbers *numbers, uint32_t rank, uint32_t size,
                          uint32_t limit);
void cohort__numbers_fini(struct cohort__numbers *numbers);

/* Lends a number to INSTANCE, which has the NUM_USERS localities RANKS, in order.
 * COHORT__NO_NUMBER: none is left, or there is no memory. */
uint32_t cohort__numbers_lend(struct cohort__numbers *numbers, uint64_t instance,
                              const uint32_t *ranks, uint32_t num_users);

/* Locality RANK of INSTANCE gives NUMBER back. Does nothing if it was not lent to that instance, or
 * RANK has given it back. */
void cohort__numbers_return(struct cohort__numbers *numbers, uint64_t instance, uint32_t number,
                            uint32_t rank);

/* Locality RANK has died: it has given all back. */
void cohort__numbers_died(struct cohort__numbers *numbers, uint32_t rank);

#endif
