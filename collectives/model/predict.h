/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_PREDICT_H
#define COHORT_COLLECTIVES_MODEL_PREDICT_H

#include "collectives/algo/algorithm.h"
#include "collectives/model/parameters.h"

/* Who sits where, as far as the model looks at it; the same at all sites. */
struct cohort__placement {
    uint32_t num_sites;
    uint32_t num_localities; /* that have a site */
    uint32_t largest;        /* the sites of the locality that has most */
    bool is_contiguous;      /* the sites of each locality are next to each other */
};

/* From the locality of each site. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__placement_of(struct cohort__placement *ret_placement,
                                   const uint32_t *locality_of, uint32_t num_sites);

/* The amounts that the terms of struct cohort__parameters are multiplied with, in a job whose sites
 * all meet in SCOPE. */
void cohort__predict_amounts(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement, enum cohort__scope scope,
                             const struct cohort__cost *cost,
                             double ret_amounts[COHORT__NUM_TERMS]);

/* The time of row number ROW of the table for REQUEST, which has that COST, in nanoseconds:
 *
 *   call + startup startups + byte bytes + reduced reduced                    the longest way
 *   + (site num_sites + message messages + moved moved + combined combined) / cores        work
 *
 * times the row's factor, with as many cores as have a worker here. The two are added: fewer cores
 * than sites, which is what Cohort is made for, do the work of all of them one after the other, and
 * what is on the longest way besides is waiting (wake-ups, a network). A sum is linear in the
 * parameters, so they are found by least squares; and it fits better than the larger of the two
 * (docs/SELECTION.md).
 *
 * Where some sites share a locality and others don't, it is the mean of what it would be with all
 * together and all apart, weighted by the messages that stay in a locality and those that don't. */
double cohort__predict(const struct cohort__parameters *parameters,
                       const struct cohort__placement *placement, uint32_t row,
                       const struct cohort__request *request, const struct cohort__cost *cost);

/* The factor of a row at any number of sites and bytes: between the knots, as a weighted mean of
 * those around it, else that of the nearest. But localities that share cores wait for each other's
 * turns, and those that don't never do: where there are more of them than cores, the knots at which
 * there are not have no say. */
double cohort__predict_factor(const struct cohort__parameters *parameters, enum cohort__scope scope,
                              uint32_t row, uint32_t num_sites, size_t bytes);

#endif
