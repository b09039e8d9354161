/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter, Bruck: the reverse of all_gather/bruck.c, for any N. A site has all blocks: first
 * its own one, then those of the sites after it, round the circle. The distance d is the largest
 * power of two below N, then half of it and so on down to 1. In each step a site sends all blocks
 * after the first d to the site d after it, for which these are the first blocks. It adds what
 * arrives from the site d before it to its own first blocks.
 * Cost: t_s ceil(log N) + (t_w + t_r) m (N-1). TMP: at most N/2 blocks for what is reduced and N/4
 * for what arrives.
 * Source: Bruck et al., Efficient algorithms for all-to-all communications in multiport
 * message-passing systems (TPDS 1997), reversed. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/wrap.h"

enum { PHASE = 1, TAG = 0, MAX_PARTS = 3 };

/* The blocks that a site still has. They are counted from its own block on. */
struct held {
    const struct cohort__request *request;
    uint32_t num_reduced; /* the first ones, in TMP at `offset`; the others are still in IN */
    size_t offset;
    uint32_t first_reduce; /* the first of the steps that made them */
    uint32_t num_reduces;
};

/* How many of the COUNT blocks from FIRST on are one range of memory. range_append makes that
 * range. */
static uint32_t reach(const struct held *held, uint32_t first, uint32_t count)
{
    uint32_t num_sites = held->request->num_sites;
    uint32_t before_end = num_sites - held->request->this_site;
    uint32_t end = first < held->num_reduced ? held->num_reduced
                   : first < before_end      ? before_end
                                             : num_sites;
    return count < end - first ? count : end - first;
}

static uint32_t range_append(struct cohort__plan_builder *builder, const struct held *held,
                             uint32_t first, uint32_t count)
{
    const struct cohort__request *request = held->request;
    uint32_t site = cohort__wrap_after(request->this_site, first, request->num_sites);
    if (first < held->num_reduced)
        return cohort__plan_range(builder, COHORT__SPACE_TMP, held->offset + first * request->bytes,
                                  count * request->bytes);
    return cohort__plan_range(builder, COHORT__SPACE_IN, site * request->bytes,
                              count * request->bytes);
}

static void step_after_reduces(struct cohort__plan_builder *builder, const struct held *held,
                               uint32_t step)
{
    for (uint32_t i = 0; i < held->num_reduces; i++)
        cohort__plan_after(builder, step, held->first_reduce + i);
}

static void send_append(struct cohort__plan_builder *builder, const struct held *held,
                        uint32_t distance, uint32_t count)
{
    const struct cohort__request *request = held->request;
    uint32_t parts[MAX_PARTS];
    uint32_t num_parts = 0;
    for (uint32_t done = 0, num; done < count; done += num) {
        num = reach(held, distance + done, count - done);
        parts[num_parts++] = range_append(builder, held, distance + done, num);
    }
    uint32_t peer = cohort__wrap_after(request->this_site, distance, request->num_sites);
    uint32_t send = cohort__plan_send(builder, PHASE, peer, TAG, parts, num_parts);
    step_after_reduces(builder, held, send);
}

/* Reduces COUNT blocks, which RECV brings to ARRIVED, with those that are held, to RESULTS. */
static void reduces_append(struct cohort__plan_builder *builder, struct held *held, uint32_t recv,
                           struct cohort__block arrived, struct cohort__block results,
                           uint32_t count)
{
    struct held next = *held;
    size_t bytes = held->request->bytes;
    next.num_reduces = 0;
    next.first_reduce = cohort__plan_num_steps(builder);
    for (uint32_t done = 0, num; done < count; done += num) {
        num = reach(held, done, count - done);
        uint32_t own = range_append(builder, held, done, num);
        uint32_t from =
            cohort__plan_range(builder, arrived.space, arrived.offset + done * bytes, num * bytes);
        uint32_t to =
            cohort__plan_range(builder, results.space, results.offset + done * bytes, num * bytes);
        uint32_t reduce = cohort__plan_reduce(builder, PHASE, to, own, from);
        cohort__plan_after(builder, reduce, recv);
        step_after_reduces(builder, held, reduce);
        next.num_reduces++;
    }
    if (count > next.num_reduced)
        next.num_reduced = count;
    *held = next;
}

/* `reduced` holds the results of the first step and of the second one. Those of the second one may
 * be more, if N is little above a power of two. Blocks arrive in a buffer. The exceptions are the
 * first step, in which they arrive in `reduced`, and the last one, in which they arrive in OUT. */
static uint32_t num_first(uint32_t num_sites)
{
    return num_sites - (1U << (cohort__log2_ceiling(num_sites) - 1));
}

static uint32_t count_reduced(uint32_t num_sites)
{
    uint32_t num_steps = cohort__log2_ceiling(num_sites);
    uint32_t second = num_steps > 2 ? 1U << (num_steps - 2) : 0;
    if (num_steps < 2)
        return 0;
    return num_first(num_sites) > second ? num_first(num_sites) : second;
}

static uint32_t count_arriving(uint32_t num_sites)
{
    uint32_t num_steps = cohort__log2_ceiling(num_sites);
    return num_steps > 2 ? 1U << (num_steps - 2) : 0;
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t num_steps = cohort__log2_ceiling(num_sites);
    size_t bytes = request->bytes;
    struct cohort__block reduced = cohort__plan_get_block(
        builder, cohort__plan_tmp(builder, count_reduced(num_sites) * bytes));
    struct cohort__block buffer = cohort__plan_get_block(
        builder, cohort__plan_tmp(builder, count_arriving(num_sites) * bytes));
    struct cohort__block out = {.space = COHORT__SPACE_OUT};
    struct held held = {.request = request, .offset = reduced.offset};
    for (uint32_t k = num_steps; k-- > 0;) {
        bool is_first = k + 1 == num_steps;
        uint32_t count = is_first ? num_first(num_sites) : 1U << k;
        struct cohort__block arrived = k == 0 ? out : is_first ? reduced : buffer;
        uint32_t block = cohort__plan_range(builder, arrived.space, arrived.offset, count * bytes);
        uint32_t peer = cohort__wrap_before(request->this_site, 1U << k, num_sites);
        uint32_t recv = cohort__plan_recv(builder, PHASE, peer, TAG, &block, 1);
        if (k > 0 && k + 2 < num_steps)
            step_after_reduces(builder, &held, recv);
        send_append(builder, &held, 1U << k, count);
        reduces_append(builder, &held, recv, arrived, k == 0 ? out : reduced, count);
    }
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    enum { ALIGNMENT = 64 };
    uint32_t num_sites = request->num_sites;
    double num_steps = cohort__log2_ceiling(num_sites);
    double size = (double)request->bytes;
    double others = (num_sites - 1.0) * size;
    return (struct cohort__cost){
        .startups = num_steps,
        .bytes = others,
        .reduced = others,
        .messages = num_sites * num_steps,
        .moved = num_sites * others,
        .combined = num_sites * others,
        .memory =
            (count_reduced(num_sites) + (double)count_arriving(num_sites)) * size + ALIGNMENT};
}

const struct cohort__algorithm cohort__reduce_scatter_bruck = {
    .collective = COHORT__REDUCE_SCATTER,
    .name = "bruck",
    .needs = cohort__needs_commutative,
    .accepts = cohort__is_commutative,
    .build = build,
    .cost = cost,
};
