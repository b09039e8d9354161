/* SPDX-License-Identifier: Apache-2.0 */
/* Scan, linear: a chain along the sites. Each site adds its block to what comes from the site
 * before it and sends the sum on. It is strictly from the left, with the fewest messages and
 * reductions.
 * Cost: (t_s + (t_w + t_r) m)(N-1). TMP: none; exclusive, a block at the sites in between.
 * Source: folklore. */
#include "collectives/algo/algorithm.h"

enum { PHASE = 1, TAG = 0 };

static void chain_append(struct cohort__plan_builder *builder,
                         const struct cohort__request *request, bool is_exclusive)
{
    uint32_t site = request->this_site;
    bool is_last = site + 1 == request->num_sites;
    uint32_t own = is_exclusive && is_last
                       ? COHORT__NO_STEP
                       : cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t sum = own; /* of all sites up to this one */
    uint32_t reduce = COHORT__NO_STEP;
    if (site > 0) {
        uint32_t before = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
        uint32_t recv = cohort__plan_recv(builder, PHASE, site - 1, TAG, &before, 1);
        sum = is_exclusive && !is_last ? cohort__plan_tmp(builder, request->bytes) : before;
        if (!is_exclusive || !is_last) {
            reduce = cohort__plan_reduce(builder, PHASE, sum, before, own);
            cohort__plan_after(builder, reduce, recv);
        }
    }
    if (!is_last) {
        uint32_t send = cohort__plan_send(builder, PHASE, site + 1, TAG, &sum, 1);
        cohort__plan_after(builder, send, reduce);
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    bool is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN;
    if (!is_exclusive && request->this_site == 0)
        cohort__alone_append(builder, request);
    chain_append(builder, request, is_exclusive);
}

static struct cohort__cost scan_cost(const struct cohort__request *request)
{
    bool is_exclusive = request->collective == COHORT__EXCLUSIVE_SCAN;
    double size = (double)request->bytes;
    double messages = request->num_sites - 1.0;
    double reductions = is_exclusive && messages > 0 ? messages - 1 : messages;
    return (struct cohort__cost){.startups = messages,
                                 .bytes = messages * size,
                                 .reduced = reductions * size,
                                 .messages = messages,
                                 .moved = messages * size,
                                 .combined = reductions * size,
                                 .memory = is_exclusive && reductions > 0 ? size : 0};
}

const struct cohort__algorithm cohort__scan_linear = {
    .collective = COHORT__SCAN,
    .name = "linear",
    .ordered = true,
    .build = build,
    .cost = scan_cost,
};

/* Exclusive scan, linear: the scan without a site's own block. Site 0 gets nothing. The last
 * site's block is not sent. */
const struct cohort__algorithm cohort__exclusive_scan_linear = {
    .collective = COHORT__EXCLUSIVE_SCAN,
    .name = "linear",
    .ordered = true,
    .build = build,
    .cost = scan_cost,
};
