/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SALESMAN_SEARCH_H
#define COHORT_EXAMPLES_SALESMAN_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* The part of the travelling salesman that one process does by itself. */

enum {
    SALESMAN_CITIES_MAX = 16,
    SALESMAN_DEPTH_MAX = 4,
};

/* A tour, or the beginning of one. It starts in city 0, and ends there. */
struct salesman_tour {
    uint32_t length; /* so far; of a whole one with the way back */
    uint32_t num;
    uint8_t cities[SALESMAN_CITIES_MAX];
};

/* Draws the distances. Before all others. */
void salesman_init(uint32_t num_cities, uint64_t seed);

/* TOUR and one more city. False: the city is in it already. */
bool salesman_tour_extend(const struct salesman_tour *tour, uint32_t city,
                          struct salesman_tour *ret_tour);

/* Whether TOUR, which came from elsewhere, is the beginning of one. */
cohort_status salesman_tour_check(const struct salesman_tour *tour);

/* The length of a whole tour, added up anew. 0: it is not whole. */
uint32_t salesman_tour_length(const struct salesman_tour *tour);

/* TOUR is a whole one. Whether it is shorter than all that are known in this process, which it is
 * from now on. */
bool salesman_offer(const struct salesman_tour *tour);

/* The best tour that is known in this process. False: none is. */
bool salesman_best(struct salesman_tour *ret_tour);

/* The best tour that begins with BEGINNING, if it is shorter than all that are known in this
 * process. It is known then. Ends early when the task's scope is cancelled. Does not suspend. */
bool salesman_search(const struct salesman_tour *beginning, struct salesman_tour *ret_best);

/* The length of the shortest tour by dynamic programming (Held and Karp). UINT32_MAX: there is no
 * memory. */
uint32_t salesman_exact(void);

#endif
