/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_REACH_H
#define COHORT_COLLECTIVES_MODEL_REACH_H

#include <stdbool.h>

#include "collectives/algo/algorithm.h"

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

#endif
