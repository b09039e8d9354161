/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_SHARED_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_SHARED_H

#include "collectives/algo/algorithm.h"

/* All collectives, for sites that share memory, by a meeting. Each site brings its buffers and
 * waits. When the last site has come, all data is moved from where it is to where it belongs.
 * Nothing is sent, and nothing is stored on the way. Reductions go strictly from the left, piece by
 * piece, so that the pieces stay in the cache. Among localities of a host the inputs are read on a
 * board, to which each locality has copied its own. In a large all_reduce each locality reduces a
 * share, and then all copy the shares.
 * Cost: what the sites write, once; "messages" are the sites that come and are told. TMP: none.
 * Source: the shared-memory collectives of MPI libraries (Graham, Shipman, EuroPVM/MPI 2008), with
 * the flat, in-place variant of "XPMEM" collectives, where peers read each other's buffers.
 *
 * The rows need no plan (collectives/exec/movement.c moves the data), so they take only their cost
 * from here. */

/* A block for each site. */
struct cohort__cost cohort__shared_blocks_cost(const struct cohort__request *request);

/* A block for each pair. */
struct cohort__cost cohort__shared_pairs_cost(const struct cohort__request *request);

/* All blocks are reduced to one. If all sites get it, it is copied to the others. */
struct cohort__cost cohort__shared_reduce_cost(const struct cohort__request *request);

/* A reduction for each site, of a block of each site. */
struct cohort__cost cohort__shared_reduce_scatter_cost(const struct cohort__request *request);

/* Nothing is written. */
struct cohort__cost cohort__shared_barrier_cost(const struct cohort__request *request);

/* The plan of a `shared` row for sites of one locality: the meeting as a step, to be embedded
 * behind an agreement. */
cohort_status cohort__shared_build(const struct cohort__request *request,
                                   struct cohort__plan **ret_plan);

#endif
