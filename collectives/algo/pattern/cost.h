/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_COST_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_COST_H

#include "collectives/algo/algorithm.h"

/* Arithmetic of `cost` of the rows. All functions leave `memory` 0 or as it is: it is the row's. */

/* The smallest k with 2^k >= NUM_SITES, and the largest one with 2^k <= NUM_SITES; of 0: 0. */
uint32_t cohort__log2_ceiling(uint32_t num_sites);
uint32_t cohort__log2_floor(uint32_t num_sites);

/* FIRST, then SECOND: the sum of everything. */
struct cohort__cost cohort__cost_then(struct cohort__cost first, struct cohort__cost second);

/* COUNT of them at the same time at different sites: as long as one, as much work as all. */
struct cohort__cost cohort__cost_at_once(struct cohort__cost cost, double count);

/* A message to somebody who waits for it. */
struct cohort__cost cohort__cost_message(size_t bytes);

/* NUM blocks of TMP, with their alignment. */
double cohort__cost_tmp(uint32_t num, size_t bytes);

/* One collective over the tree of cohort__tree, whose root is in all of the largest groups; so its
 * own port is the longest way, levels of min(arity, sites) - 1 messages each. An arity of NUM_SITES
 * is linear, an arity of 2 binomial: log2_ceiling(num_sites) messages.
 *   broadcast: every message has BYTES;
 *   scatter: BYTES for each site below, so (num_sites - 1) BYTES pass the root's port; gather is
 * the reverse and costs the same; reduce: as broadcast, and of each level's reductions the last one
 * is waited for: the others hide behind the receives, as long as a block is reduced faster than
 * received. */
struct cohort__cost cohort__cost_broadcast(uint32_t num_sites, uint32_t arity, size_t bytes);
struct cohort__cost cohort__cost_scatter(uint32_t num_sites, uint32_t arity, size_t bytes);
struct cohort__cost cohort__cost_reduce(uint32_t num_sites, uint32_t arity, size_t bytes);

#endif
