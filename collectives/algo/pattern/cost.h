/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_COST_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_COST_H

#include "collectives/algo/algorithm.h"

/* Arithmetic for the `cost` of rows. These functions do not compute `memory`, they only add it up
 * (cohort__cost_then) or keep it: each row sets its own. */

/* The smallest k with 2^k >= NUM_SITES, and the largest k with 2^k <= NUM_SITES. For 0 both are
 * 0. */
uint32_t cohort__log2_ceiling(uint32_t num_sites);
uint32_t cohort__log2_floor(uint32_t num_sites);

/* FIRST, then SECOND: the sum of all fields. */
struct cohort__cost cohort__cost_then(struct cohort__cost first, struct cohort__cost second);

/* COUNT times COST at the same time, at different sites: the time of one, the work of all. */
struct cohort__cost cohort__cost_at_once(struct cohort__cost cost, double count);

/* A message to a site that waits for it. */
struct cohort__cost cohort__cost_message(size_t bytes);

/* NUM blocks of TMP, with their alignment. */
double cohort__cost_tmp(uint32_t num, size_t bytes);

/* One collective over the tree of cohort__tree. The root is in all of the largest groups, so its
 * own port is the longest path: min(arity, sites) - 1 messages in each level. An arity of NUM_SITES
 * is linear. An arity of 2 is binomial: log2_ceiling(num_sites) messages.
 *   broadcast: every message has BYTES.
 *   scatter: BYTES for each site below, so (num_sites - 1) BYTES pass the root's port. Gather is
 *   the reverse and costs the same.
 *   reduce: as broadcast. Of each level's reductions only the last one adds time. The others are
 *   done while blocks are received, as long as a block is reduced faster than received. */
struct cohort__cost cohort__cost_broadcast(uint32_t num_sites, uint32_t arity, size_t bytes);
struct cohort__cost cohort__cost_scatter(uint32_t num_sites, uint32_t arity, size_t bytes);
struct cohort__cost cohort__cost_reduce(uint32_t num_sites, uint32_t arity, size_t bytes);

#endif
