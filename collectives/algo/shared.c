/* SPDX-License-Identifier: Apache-2.0 */
/* All collectives, for sites that share memory, by a meeting. Each site brings its buffers and
 * waits. When the last site has come, all data is moved from where it is to where it belongs.
 * Nothing is sent, and nothing is stored on the way. Reductions go strictly from the left, piece by
 * piece, so that the pieces stay in the cache. Among localities of a host the inputs are read on a
 * board, to which each locality has copied its own. In a large all_reduce each locality reduces a
 * share, and then all copy the shares.
 * Cost: what the sites write, once; "messages" are the sites that come and are told. TMP: none.
 * Source: the shared-memory collectives of MPI libraries (Graham, Shipman, EuroPVM/MPI 2008), with
 * the flat, in-place variant of "XPMEM" collectives, where peers read each other's buffers.
 * The rows need no plan: collectives/exec/movement.c moves the data. */
#include "collectives/algo/algorithm.h"

/* The cost if all sites together write BYTES, and reduce REDUCED of them. */
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

/* All blocks are reduced to one. If all sites get it, it is copied to the others. */
static struct cohort__cost reduce_cost(const struct cohort__request *request)
{
    double reduced = (request->num_sites - 1.0) * (double)request->bytes;
    bool all = request->collective == COHORT__ALL_REDUCE;
    return cost_of(request, all ? reduced : 0, reduced);
}

/* A reduction for each site, of a block of each site. */
static struct cohort__cost reduce_scatter_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, 0, num_sites * (num_sites - 1) * (double)request->bytes);
}

/* Nothing is written. */
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

const struct cohort__algorithm cohort__shift_shared = {
    .collective = COHORT__SHIFT,
    .name = "shared",
    .shared = true,
    .cost = blocks_cost,
};

/* How many blocks each site has of IN and of OUT. */
struct form {
    uint32_t num_in;
    uint32_t num_out;
};

static struct form form_of(const struct cohort__request *request)
{
    uint32_t num = request->num_sites, is_root = request->this_site == request->root;
    switch (request->collective) {
    case COHORT__GATHER:
        return (struct form){1, is_root * num};
    case COHORT__SCATTER:
        return (struct form){is_root * num, 1};
    case COHORT__BROADCAST:
        return (struct form){is_root, 1 - is_root};
    case COHORT__REDUCE:
        return (struct form){1, is_root};
    case COHORT__ALL_GATHER:
        return (struct form){1, num};
    case COHORT__ALL_TO_ALL:
        return (struct form){num, num};
    case COHORT__REDUCE_SCATTER:
        return (struct form){num, 1};
    case COHORT__EXCLUSIVE_SCAN:
        return (struct form){request->this_site<num - 1, request->this_site> 0};
    case COHORT__BARRIER:
        return (struct form){0, 0};
    default: /* all_reduce, scan, shift */
        return (struct form){1, 1};
    }
}

cohort_status cohort__shared_build(const struct cohort__request *request,
                                   struct cohort__plan **ret_plan)
{
    enum { PHASE = 1 };
    struct cohort__plan_builder *builder;
    struct form form = form_of(request);
    bool is_shift = request->collective == COHORT__SHIFT;
    cohort_status status =
        cohort__plan_builder_create(&builder, "shared", request->num_sites, request->this_site);
    if (status)
        return status;
    cohort__plan_set_members(builder, NULL, request->num_sites, request->this_site);
    uint32_t in = cohort__plan_range(builder, COHORT__SPACE_IN, 0, form.num_in * request->bytes);
    uint32_t out = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, form.num_out * request->bytes);
    cohort__plan_meet(builder, PHASE, request->collective,
                      is_shift ? request->shift : request->root, request->bytes, out, in);
    return cohort__plan_finish(builder, ret_plan);
}
