/* SPDX-License-Identifier: Apache-2.0 */
/* All collectives, for sites that share memory: a site publishes where its buffers are, and waits;
 * who comes last has all data moved from where it is to where it belongs. Nothing is sent and
 * nothing is stored on the way. Reductions go strictly from the left, piece by piece, so that the
 * pieces stay in the cache. Among localities of a host the inputs are read on a board, where each
 * has copied its own; of a large all_reduce each locality reduces a share, which all then copy.
 * Cost: what the sites write, once; "messages" are the sites that come and are told. TMP: none.
 * Source: the shared-memory collectives of MPI libraries (Graham, Shipman, EuroPVM/MPI 2008), with
 * the flat, in-place variant of "XPMEM" collectives, where peers read each other's buffers. */
#include "collectives/algo/table.h"

/* BYTES written by all sites; REDUCED of these by a reduction. */
static struct cohort__cost cost_of(const struct cohort__request *request, double bytes,
                                   double reduced)
{
    return (struct cohort__cost){
        .startups = 1,
        .bytes = bytes,
        .reduced = reduced,
        .messages = request->num_sites,
        .moved = bytes,
        .combined = reduced,
    };
}

/* A block for each site. */
static struct cohort__cost blocks_cost(const struct cohort__request *request)
{
    return cost_of(request, (double)request->num_sites * (double)request->bytes, 0);
}

/* A block for each pair. */
static struct cohort__cost pairs_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, num_sites * num_sites * (double)request->bytes, 0);
}

/* All blocks into one, and that to the others, if ALL get it. */
static struct cohort__cost reduce_cost(const struct cohort__request *request)
{
    double reduced = (request->num_sites - 1.0) * (double)request->bytes;
    bool all = request->collective == COHORT__ALL_REDUCE;
    return cost_of(request, all ? reduced : 0, reduced);
}

/* A reduction for each site, of a block of everybody. */
static struct cohort__cost reduce_scatter_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, 0, num_sites * (num_sites - 1) * (double)request->bytes);
}

static struct cohort__cost barrier_cost(const struct cohort__request *request)
{
    return cost_of(request, 0, 0);
}

const struct cohort__algorithm cohort__gather_shared = {
    .collective = COHORT__GATHER,
    .name = "shared",
    .shared = true,
    .cost = blocks_cost,
};

const struct cohort__algorithm cohort__scatter_shared = {
    .collective = COHORT__SCATTER,
    .name = "shared",
    .shared = true,
    .cost = blocks_cost,
};

const struct cohort__algorithm cohort__broadcast_shared = {
    .collective = COHORT__BROADCAST,
    .name = "shared",
    .shared = true,
    .cost = blocks_cost,
};

const struct cohort__algorithm cohort__reduce_shared = {
    .collective = COHORT__REDUCE,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = reduce_cost,
};

const struct cohort__algorithm cohort__all_gather_shared = {
    .collective = COHORT__ALL_GATHER,
    .name = "shared",
    .shared = true,
    .cost = pairs_cost,
};

const struct cohort__algorithm cohort__all_reduce_shared = {
    .collective = COHORT__ALL_REDUCE,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = reduce_cost,
};

const struct cohort__algorithm cohort__all_to_all_shared = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "shared",
    .shared = true,
    .cost = pairs_cost,
};

const struct cohort__algorithm cohort__barrier_shared = {
    .collective = COHORT__BARRIER,
    .name = "shared",
    .shared = true,
    .cost = barrier_cost,
};

const struct cohort__algorithm cohort__reduce_scatter_shared = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = reduce_scatter_cost,
};

const struct cohort__algorithm cohort__scan_shared = {
    .collective = COHORT__SCAN,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = reduce_cost,
};

const struct cohort__algorithm cohort__exclusive_scan_shared = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "shared",
    .shared = true,
    .ordered = true,
    .cost = reduce_cost,
};

const struct cohort__algorithm cohort__shift_shared = {
    .collective = COHORT__SHIFT,
    .name = "shared",
    .shared = true,
    .cost = blocks_cost,
};
