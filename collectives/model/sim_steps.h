/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_STEPS_H
#define COHORT_COLLECTIVES_MODEL_SIM_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/plan/plan.h"

/* A binary heap: the entry with the lowest key comes out first, and among equal keys the one with
 * the lowest value. A heap with all bytes zero is empty. */
struct cohort__sim_entry {
    double key;
    uint64_t value;
};

struct cohort__sim_heap {
    struct cohort__sim_entry *entries;
    size_t count;
    size_t capacity;
};

/* False where memory ran out. */
bool cohort__sim_heap_push(struct cohort__sim_heap *heap, double key, uint64_t value);

/* To be called only if count > 0. */
struct cohort__sim_entry cohort__sim_heap_pop(struct cohort__sim_heap *heap);

void cohort__sim_heap_fini(struct cohort__sim_heap *heap);

/* The steps of all sites, with consecutive numbers. They have only what a simulation needs of the
 * plans: 32 bytes each. Each SEND knows its RECV. */

typedef cohort_status cohort__sim_get_plan(void *argument, uint32_t site,
                                           struct cohort__plan **ret_plan);

struct cohort__sim_step {
    size_t bytes;
    uint32_t site;
    uint32_t peer;
    uint32_t partner; /* SEND, RECV: the step at the other end; until they are matched, and of a
                       * MEET: the tag */
    uint32_t num_waits;
    uint32_t first_successor; /* into successors; they end where those of the next step begin */
    uint8_t kind;
    uint8_t phase;
    uint8_t collective; /* of a MEET */
};

struct cohort__sim_steps {
    uint32_t num_sites;
    uint32_t num_steps;
    uint32_t num_successors;
    uint32_t num_messages;
    uint32_t num_meets;             /* MEET steps */
    struct cohort__sim_step *steps; /* and one more, for the end of the last one's successors */
    uint32_t *successors;           /* numbers of steps */
    uint32_t *first;                /* the number of each site's step 0; first[num_sites] is
                                     * num_steps */
    size_t step_capacity;
    size_t successor_capacity;
    const char *name; /* of the plans */
    size_t memory;    /* bytes of IN, OUT and TMP of the site with most of them, and that site */
    uint32_t memory_site;
    size_t tmp_bytes; /* of the site with most of it, and that site */
    uint32_t tmp_site;
};

/* Gets the plan of each site in turn, copies what is needed and gives the plan back (unref).
 * Errors: those of GET_PLAN; NO_MEMORY; BAD_PARAMETER where plans don't fit together. */
cohort_status cohort__sim_steps_init(struct cohort__sim_steps *ret_steps, uint32_t num_sites,
                                     cohort__sim_get_plan *get_plan, void *argument);
void cohort__sim_steps_fini(struct cohort__sim_steps *steps);

/* Fails with the message "plan NAME, site, step (SEND to 3, ...): WHAT". */
cohort_status cohort__sim_steps_fail(const struct cohort__sim_steps *steps, uint32_t step,
                                     const char *what);

#endif
