/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_PAIRS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

/* The usual way to have a power of two ranks among any number of sites. The first sites form pairs,
 * as many as there are sites too many. The left site of a pair is a rank and stands for both. The
 * right one is spare. Ranks are in the order of the sites. */
struct cohort__pairs {
    uint32_t num_ranks; /* the largest power of two that is not above num_sites */
    uint32_t num_spare;
    bool is_spare;  /* this site: its rank is that of the site before it */
    bool has_spare; /* this site stands for the site after it, too */
    uint32_t this_rank;
};

struct cohort__pairs cohort__pairs_of(uint32_t num_sites, uint32_t this_site);

uint32_t cohort__pairs_site(const struct cohort__pairs *pairs, uint32_t rank);

#endif
