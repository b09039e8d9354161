/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_CROSSING_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_CROSSING_H

#include "collectives/plan/machine.h"

/* What leaves a subgroup if each site sends to site + shift. */
struct cohort__crossing {
    uint32_t num_sites;     /* of the subgroup */
    uint32_t num_leaving;   /* of these, whose target is in another subgroup */
    uint32_t num_subgroups; /* so many others the targets are in; never too small */
};

/* The one of the first of the largest subgroups of LEVEL, which stands for all: a look at each
 * would take longer than a shift. */
struct cohort__crossing cohort__crossing_of(const struct cohort__machine *machine, uint32_t level,
                                            uint32_t shift);

#endif
