/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_PREDICT_H
#define COHORT_COLLECTIVES_MODEL_PREDICT_H

#include <stdbool.h>

#include "collectives/algo/algorithm.h"
#include "collectives/model/parameters.h"
#include "collectives/plan/machine.h"

/* How much of what a row does leaves its place, where the sites are in several: the fractions of
 * the amounts of its struct cohort__cost, 0 to 1. */
struct cohort__reach {
    double startups;
    double bytes; /* and reduced */
    double messages;
    double moved; /* and combined */
};

/* The sites are in NUM_PLACES, as many in each. Rows that are no trees have their partners
 * anywhere. A tree follows the places as far as the sites of each have consecutive numbers
 * (IS_CONTIGUOUS). Then it has one edge to each place but the first, and its uppermost levels are
 * between places. But whatever a row does, a block that is needed elsewhere has to go there. */
struct cohort__reach cohort__reach_of(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      const struct cohort__cost *cost, double num_places,
                                      bool is_contiguous);

/* Where the sites are, as far as the model uses it. The same at all sites. */
struct cohort__placement {
    uint32_t num_sites;
    uint32_t num_localities; /* that have at least one site */
    uint32_t num_hosts;      /* likewise */
    uint32_t largest;        /* how many sites the locality with most of them has */
    bool is_contiguous;      /* the sites of each locality, and host, are next to each other */
    uint32_t sharing;        /* the most hosts that share the same cores; 0 or 1: none do */
};

/* As if no hosts shared cores. */
struct cohort__placement cohort__placement_of(const struct cohort__machine *machine);

/* How many hosts at most share the cores of one, at least 1. */
uint32_t cohort__placement_sharing(const struct cohort__placement *placement);

/* The amounts that the terms of struct cohort__parameters are multiplied with, in a job whose sites
 * all meet at DISTANCE. */
void cohort__predict_amounts(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement,
                             enum cohort__distance distance, const struct cohort__cost *cost,
                             double ret_amounts[COHORT__NUM_TERMS]);

/* The predicted time, in nanoseconds, of row number ROW of the table for REQUEST, which has that
 * COST:
 *
 *   call + startup startups + byte bytes + reduced reduced             the critical path
 *   + (site num_sites + message messages + moved moved + combined combined) / cores        work
 *
 * times the row's factor. `cores` is how many cores have a worker of these sites. The critical path
 * and the work are added: Cohort is made for fewer cores than sites, so the cores do the work of
 * all sites one after the other, and the rest of the critical path is waiting (wake-ups, a
 * network). A sum is linear in the parameters, so they can be found by least squares. And it fits
 * better than the larger one of the two (docs/SELECTION.md).
 *
 * If some sites share a locality, others a host, and others do not, each amount is divided into
 * what stays in a locality, what stays in a host, and the rest, and each of these has
 * the prices of a job whose sites all are so far apart. For a shift without hops they are counted.
 */
double cohort__predict(const struct cohort__parameters *parameters,
                       const struct cohort__placement *placement, uint32_t row,
                       const struct cohort__request *request, const struct cohort__cost *cost);

/* The predicted time of STAGE of a call of sites at PLACEMENT, done by ROW, whose COST is that of
 * one of its places. A time of its own for each stage, one after the other, is what a composed row
 * takes. */
double cohort__predict_stage(const struct cohort__parameters *parameters,
                             const struct cohort__placement *placement,
                             const struct cohort__stage *stage, uint32_t row,
                             const struct cohort__request *request,
                             const struct cohort__cost *cost);

/* The time in which each of AT_ONCE leaders on a host of PLACEMENT copies BYTES within its memory.
 * Bytes are priced as those of a gather that moves as many in the host: what no longer fits into
 * caches takes several times as long. */
double cohort__predict_copies(const struct cohort__parameters *parameters,
                              const struct cohort__placement *placement, double at_once,
                              double bytes);

/* The factor of a row for any number of sites and bytes. Between the knots it is the weighted mean
 * of the knots around it; outside of them it is that of the nearest knot. There is one exception:
 * localities that share cores have to wait for their turns, and localities that don't share them
 * never have to. So for a number of localities with which the cores are shared, knots at which they
 * are not shared are ignored. */
double cohort__predict_factor(const struct cohort__parameters *parameters,
                              enum cohort__distance distance, uint32_t row, uint32_t num_sites,
                              size_t bytes);

#endif
