/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_ALGORITHM_H
#define COHORT_COLLECTIVES_ALGO_ALGORITHM_H

#include <stdbool.h>

#include "collectives/plan/plan.h"

enum cohort__collective {
    COHORT__GATHER,     /* IN: block; OUT at the root: num_sites blocks in site order */
    COHORT__SCATTER,    /* IN at the root: num_sites blocks; OUT: block */
    COHORT__BROADCAST,  /* IN at the root: block; OUT elsewhere: block */
    COHORT__REDUCE,     /* IN: block; OUT at the root: block */
    COHORT__ALL_GATHER, /* IN: block; OUT: num_sites blocks */
    COHORT__ALL_REDUCE, /* IN: block; OUT: block */
    COHORT__ALL_TO_ALL, /* IN: num_sites blocks; OUT: num_sites blocks */
    COHORT__BARRIER,    /* no memory */
    COHORT__NUM_COLLECTIVES
};

/* What a plan is built for. All but this_site are equal at all sites of the call. */
struct cohort__request {
    enum cohort__collective collective;
    uint32_t num_sites;
    uint32_t this_site;
    uint32_t root;    /* of the rooted ones; 0 for the others */
    uint32_t arity;   /* of the tree, >= 2 */
    size_t bytes;     /* of one block */
    bool commutative; /* the reduction may be done in any order of the sites */
};

/* One row of the table: one algorithm for one collective, one file. */
struct cohort__algorithm {
    enum cohort__collective collective;
    const char *name;  /* "hierarchical"; unique for the collective */
    bool hierarchical; /* uses the arity */
    cohort_status (*build)(const struct cohort__request *request, struct cohort__plan **ret_plan);
};

/* All rows, in the order of algo/meson.build. */
extern const struct cohort__algorithm *const cohort__algorithms[];
extern const uint32_t cohort__num_algorithms;

/* The row of that NAME for COLLECTIVE, or NULL. */
const struct cohort__algorithm *cohort__algorithm_find(enum cohort__collective collective,
                                                       const char *name);

/* What everybody but a row's own file calls: checks REQUEST, also against overflow, and builds. */
cohort_status cohort__algorithm_build(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      struct cohort__plan **ret_plan);

/* "all_to_all" and so on. */
const char *cohort__collective_name(enum cohort__collective collective);

#endif
