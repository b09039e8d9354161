/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/shared.h"

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

struct cohort__cost cohort__shared_blocks_cost(const struct cohort__request *request)
{
    return cost_of(request, (double)request->num_sites * (double)request->bytes, 0);
}

struct cohort__cost cohort__shared_pairs_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, num_sites * num_sites * (double)request->bytes, 0);
}

struct cohort__cost cohort__shared_reduce_cost(const struct cohort__request *request)
{
    double reduced = (request->num_sites - 1.0) * (double)request->bytes;
    bool all = request->collective == COHORT__ALL_REDUCE;
    return cost_of(request, all ? reduced : 0, reduced);
}

struct cohort__cost cohort__shared_reduce_scatter_cost(const struct cohort__request *request)
{
    double num_sites = request->num_sites;
    return cost_of(request, 0, num_sites * (num_sites - 1) * (double)request->bytes);
}

struct cohort__cost cohort__shared_barrier_cost(const struct cohort__request *request)
{
    return cost_of(request, 0, 0);
}

/* What the sites do, and how many blocks each has of IN and of OUT. */
struct form {
    enum cohort__step_meeting meeting;
    uint32_t num_in;
    uint32_t num_out;
};

static struct form form_of(const struct cohort__request *request)
{
    uint32_t num = request->num_sites, is_root = request->this_site == request->root;
    switch (request->collective) {
    case COHORT__GATHER:
        return (struct form){COHORT__MEETING_GATHER, 1, is_root * num};
    case COHORT__SCATTER:
        return (struct form){COHORT__MEETING_SCATTER, is_root * num, 1};
    case COHORT__BROADCAST:
        return (struct form){COHORT__MEETING_BROADCAST, is_root, 1 - is_root};
    case COHORT__REDUCE:
        return (struct form){COHORT__MEETING_REDUCE, 1, is_root};
    case COHORT__ALL_GATHER:
        return (struct form){COHORT__MEETING_ALL_GATHER, 1, num};
    case COHORT__ALL_REDUCE:
        return (struct form){COHORT__MEETING_ALL_REDUCE, 1, 1};
    case COHORT__ALL_TO_ALL:
        return (struct form){COHORT__MEETING_ALL_TO_ALL, num, num};
    case COHORT__REDUCE_SCATTER:
        return (struct form){COHORT__MEETING_REDUCE_SCATTER, num, 1};
    case COHORT__SCAN:
        return (struct form){COHORT__MEETING_SCAN, 1, 1};
    case COHORT__EXCLUSIVE_SCAN:
        return (struct form){COHORT__MEETING_EXCLUSIVE_SCAN,
                             request->this_site<num - 1, request->this_site> 0};
    case COHORT__SHIFT:
        return (struct form){COHORT__MEETING_SHIFT, 1, 1};
    default: /* a barrier */
        return (struct form){COHORT__MEETING_GATHER, 0, 0};
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
    cohort__plan_meet(builder, PHASE, form.meeting, is_shift ? request->shift : request->root,
                      request->bytes, out, in);
    return cohort__plan_finish(builder, ret_plan);
}
