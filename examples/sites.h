/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SITES_H
#define COHORT_EXAMPLES_SITES_H

#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* A program whose sites work together: tasks, some in each locality of the job, all of which run
 * the same function. */

enum { SITES_MAX = 4096, SITES_MAX_FACTS = 64, SITES_DEFAULT_PER_LOCALITY = 4 };

/* One of them. */
struct site {
    uint32_t index;
    uint32_t num_sites;
    cohort_comm *comm; /* of all sites */
    /* Of the last collective on comm. They are numbered 1, 2, 3, ..., alike at all sites: all make
     * the same calls in the same order, so each just counts. */
    uint64_t generation;
    const void *work; /* the program's own; the sites of a locality share it */
};

/* All the work of one site. Where one waits, its thread runs the others meanwhile. Its error is
 * that of the whole job: it gives up its endpoint, which the others are told, so nobody waits. */
typedef cohort_status site_function(struct site *site);

struct sites_program {
    const char *name;
    site_function *run;
    const void *work;
    /* Of the whole job; the localities get equal shares of them, neighbours together, so a tree
     * keeps most of its traffic within the locality. 0: sites_per_locality says it. */
    uint32_t num_sites;
    uint32_t sites_per_locality; /* 0: SITES_DEFAULT_PER_LOCALITY */
    /* Of the communicator; sites_run fills in num_sites and this_site. */
    cohort_comm_options options;
};

/* Runs PROGRAM, as cohort_main; returns main's status. */
int sites_run(int argc, char **argv, const struct sites_program *program);

/* All sites go on, or all end with site 0's error: STATUS, which elsewhere is not looked at. Also
 * hands FACTS, BYTES (at most SITES_MAX_FACTS) of them, from site 0 to the others; NULL, 0: none.
 */
cohort_status site_agree(struct site *site, cohort_status status, void *facts,
                         size_t bytes) COHORT_MUST_USE;

/* COUNT elements of BYTES, all zero; the caller frees them. Also for COUNT 0 there is memory. */
cohort_status site_allocate(const struct site *site, size_t count, size_t bytes,
                            void *ret_memory) COHORT_MUST_USE;

/* Site 0's ALL goes to the sites, or is made of what they have: COUNT elements in MINE, COUNTS[i]
 * for site i. ALL and COUNTS are site 0's only. */
cohort_status site_scatter(struct site *site, const void *all, const size_t *counts, void *mine,
                           size_t count, cohort_datatype datatype) COHORT_MUST_USE;
cohort_status site_gather(struct site *site, const void *mine, size_t count, void *all,
                          const size_t *counts, cohort_datatype datatype) COHORT_MUST_USE;

#endif
