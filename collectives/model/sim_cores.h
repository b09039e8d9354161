/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_SIM_CORES_H
#define COHORT_COLLECTIVES_MODEL_SIM_CORES_H

#include <stdbool.h>
#include <stdint.h>

/* The localities of a simulated machine, each with one worker and a queue of works, and the cores
 * on which they take turns. Consecutive localities share a *pool* of cores. A locality that has a
 * core keeps it until its queue is empty; those that wait for one get it in the order in which they
 * asked. */

#define COHORT__NO_WORK UINT32_MAX

struct cohort__sim_cores {
    uint32_t per_pool;  /* localities */
    uint32_t num_cores; /* of a pool */
    uint32_t *first;    /* by locality: its queue */
    uint32_t *last;
    uint32_t *next;       /* by work: the one behind it */
    uint32_t *core;       /* by locality: the one that it has */
    bool *is_on;          /* by locality: it has a core, or waits for one */
    uint32_t *user;       /* by core: the locality that has it, or had it last */
    bool *is_taken;       /* by core */
    uint32_t *pool_first; /* by pool: the localities that wait */
    uint32_t *pool_last;
    uint32_t *next_locality; /* by locality */
};

/* PER_POOL: a divisor of NUM_LOCALITIES. False: no memory; fini is still to be called. */
bool cohort__sim_cores_init(struct cohort__sim_cores *cores, uint32_t num_localities,
                            uint32_t per_pool, uint32_t num_cores, uint32_t num_works);
void cohort__sim_cores_fini(struct cohort__sim_cores *cores);

/* A locality that goes on with the first work of its queue. */
struct cohort__sim_go {
    uint32_t locality;
    uint32_t work;
    bool is_turn; /* the core was another locality's before */
};

/* Puts WORK into the queue of LOCALITY. Returns whether that starts now, and fills *RET. */
bool cohort__sim_cores_add(struct cohort__sim_cores *cores, uint32_t locality, uint32_t work,
                           struct cohort__sim_go *ret);

/* The work of LOCALITY is over. Returns whether one starts now on its core, its own next one or
 * another locality's. */
bool cohort__sim_cores_over(struct cohort__sim_cores *cores, uint32_t locality,
                            struct cohort__sim_go *ret);

#endif
