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
    /* Of all sites. It numbers its calls itself (COHORT_AUTO_GENERATION), since all sites make the
     * same calls in the same order. */
    cohort_comm *comm;
    const void *work; /* the program's own; the sites of a locality share it */
};

/* All the work of one site. While a site waits, its thread runs the others. Its error ends the
 * whole job: the site gives up its endpoint, and the others are told, so none of them waits. */
typedef cohort_status site_function(struct site *site);

struct sites_program {
    const char *name;
    site_function *run;
    const void *work;
    /* Of the whole job. The localities get equal shares of the sites. Neighbours stay together, so
     * a tree keeps most of its traffic within the locality. 0: sites_per_locality decides. */
    uint32_t num_sites;
    uint32_t sites_per_locality; /* 0: SITES_DEFAULT_PER_LOCALITY */
    /* Of the communicator; sites_run fills in num_sites, this_site and auto_generation. */
    cohort_comm_options options;
};

/* Runs PROGRAM, as cohort_main does. Returns main's status. */
int sites_run(int argc, char **argv, const struct sites_program *program);

/* Either all sites go on, or all end with site 0's error. STATUS is that error; other sites' STATUS
 * is ignored. Also hands FACTS, BYTES (at most SITES_MAX_FACTS) of them, from site 0 to the others;
 * NULL, 0: none. */
cohort_status site_agree(struct site *site, cohort_status status, void *facts,
                         size_t bytes) COHORT_MUST_USE;

/* Allocates COUNT elements of BYTES, all zero. The caller frees them. COUNT 0 also gets memory. */
cohort_status site_allocate(const struct site *site, size_t count, size_t bytes,
                            void *ret_memory) COHORT_MUST_USE;

/* site_scatter sends site 0's ALL to the sites; site_gather makes ALL of what they have. Site i has
 * COUNTS[i] elements; this site has COUNT elements in MINE. ALL and COUNTS are for site 0 only. */
cohort_status site_scatter(struct site *site, const void *all, const size_t *counts, void *mine,
                           size_t count, cohort_datatype datatype) COHORT_MUST_USE;
cohort_status site_gather(struct site *site, const void *mine, size_t count, void *all,
                          const size_t *counts, cohort_datatype datatype) COHORT_MUST_USE;

#endif
