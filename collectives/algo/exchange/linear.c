/* SPDX-License-Identifier: Apache-2.0 */
/* Exchange, linear: a message to its site for each part that is sent, and one from its site for
 * each part that is received. The k-th message to a site is the k-th one received there. Parts for
 * this site itself are copied. No step waits for another one, except where such a part has layouts
 * whose blocks differ: it goes through TMP. A part with a layout is as many blocks as that has
 * strips, of up to 2^32 - 1 runs. Cost, seen from this site: max(s, r) messages with s parts that
 * it sends and r that it receives, and the larger one of the sums of their bytes; the totals are
 * these times N. TMP: none, but see above. Source: neighbourhood collectives of MPI-3,
 * MPI_Neighbor_alltoallw. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/plan/layout.h"

enum { PHASE = 1 };

/* The blocks of a part. They are valid until the next part. */
struct blocks {
    uint32_t *list;
    uint32_t num;
    uint32_t capacity;
};

static void reserve(struct cohort__plan_builder *builder, struct blocks *blocks, size_t num)
{
    if (num <= blocks->capacity)
        return;
    free(blocks->list);
    blocks->list = num < UINT32_MAX / 4 ? malloc(num * sizeof(*blocks->list)) : NULL;
    blocks->capacity = blocks->list ? (uint32_t)num : 0;
    if (!blocks->list)
        cohort__plan_builder_fail(builder);
}

/* A block has so many runs of a strip at most. */
static const size_t most_runs = UINT32_MAX;

/* No receiver has memory for as many runs as so many blocks have. */
enum { STRIP_BLOCKS_MAX = 1 << 16 };

/* SIZE_MAX: too many. */
static size_t count_blocks(const cohort_layout *layout)
{
    size_t num = 0;
    for (size_t i = 0; i < layout->num_strips; i++) {
        size_t num_of_strip = (layout->strips[i].count - 1) / most_runs + 1;
        if (num_of_strip > STRIP_BLOCKS_MAX)
            return SIZE_MAX;
        num += num_of_strip;
    }
    return num;
}

/* The blocks of STRIP, whose layout begins at OFFSET. */
static void add_strip(struct cohort__plan_builder *builder, enum cohort__space space, size_t offset,
                      const struct cohort__strip *strip, size_t element, struct blocks *blocks)
{
    struct cohort__block block = {.space = space,
                                  .offset = offset + strip->offset * element,
                                  .bytes = strip->length * element,
                                  .stride = strip->stride * element};
    for (size_t left = strip->count; left > 0; left -= block.count) {
        block.count = (uint32_t)(left < most_runs ? left : most_runs);
        blocks->list[blocks->num++] = cohort__plan_block(builder, block);
        block.offset += block.count * block.stride;
    }
}

/* Finds the blocks of PART, which has LAYOUT or is one run. */
static void find_blocks(struct cohort__plan_builder *builder, enum cohort__space space,
                        const struct cohort__part *part, const cohort_layout *layout,
                        struct blocks *blocks)
{
    size_t num = layout ? count_blocks(layout) : 1;
    reserve(builder, blocks, num);
    blocks->num = 0;
    if (blocks->capacity < num)
        return;
    if (!layout)
        blocks->list[blocks->num++] = cohort__plan_range(builder, space, part->offset, part->bytes);
    for (size_t i = 0; layout && i < layout->num_strips; i++)
        add_strip(builder, space, part->offset, &layout->strips[i],
                  part->bytes / layout->num_elements, blocks);
}

static const cohort_layout *layout_of(const cohort_layout *const *layouts, uint32_t index)
{
    return layouts ? layouts[index] : NULL;
}

/* A message for each part of IN, or if RECEIVES of OUT. */
static void messages_append(struct cohort__plan_builder *builder,
                            const struct cohort__request *request, bool receives,
                            struct blocks *blocks, uint32_t *next_tags)
{
    const struct cohort__part *parts = receives ? request->out_parts : request->in_parts;
    const uint32_t num = receives ? request->num_out_parts : request->num_in_parts;
    for (uint32_t i = 0; i < num; i++) {
        const uint32_t site = parts[i].site;
        if (site == request->this_site)
            continue;
        find_blocks(builder, receives ? COHORT__SPACE_OUT : COHORT__SPACE_IN, &parts[i],
                    layout_of(receives ? request->out_layouts : request->in_layouts, i), blocks);
        if (receives)
            cohort__plan_recv(builder, PHASE, site, next_tags[site]++, blocks->list, blocks->num);
        else
            cohort__plan_send(builder, PHASE, site, next_tags[site]++, blocks->list, blocks->num);
    }
}

/* Whether block for block as many bytes go FROM as TO, so that each may be copied by itself. */
static bool do_blocks_match(const struct cohort__plan_builder *builder, const struct blocks *to,
                            const struct blocks *from)
{
    bool match = to->num == from->num;
    for (uint32_t i = 0; match && i < to->num; i++) {
        struct cohort__block a = cohort__plan_get_block(builder, to->list[i]);
        struct cohort__block b = cohort__plan_get_block(builder, from->list[i]);
        match = a.count * a.bytes == b.count * b.bytes;
    }
    return match;
}

/* Blocks that don't match are put one behind the other in between. */
static void copy_append(struct cohort__plan_builder *builder, const struct blocks *to,
                        const struct blocks *from, size_t bytes)
{
    if (do_blocks_match(builder, to, from)) {
        for (uint32_t i = 0; i < to->num; i++)
            cohort__plan_copy(builder, PHASE, to->list[i], from->list[i]);
        return;
    }
    size_t base = cohort__plan_get_block(builder, cohort__plan_tmp(builder, bytes)).offset;
    uint32_t join = COHORT__NO_STEP;
    const struct blocks *sides[] = {from, to};
    for (unsigned side = 0; side < 2; side++) {
        uint32_t first = cohort__plan_num_steps(builder);
        size_t at = base;
        for (uint32_t i = 0; i < sides[side]->num; i++) {
            uint32_t block = sides[side]->list[i];
            struct cohort__block what = cohort__plan_get_block(builder, block);
            uint32_t packed =
                cohort__plan_range(builder, COHORT__SPACE_TMP, at, what.count * what.bytes);
            uint32_t step = side == 0 ? cohort__plan_copy(builder, PHASE, packed, block)
                                      : cohort__plan_copy(builder, PHASE, block, packed);
            cohort__plan_after(builder, step, join);
            at += what.count * what.bytes;
        }
        if (side == 0) {
            join = cohort__plan_join(builder, PHASE);
            for (uint32_t step = first; step < join; step++)
                cohort__plan_after(builder, join, step);
        }
    }
}

/* There are as many such parts in IN as in OUT: cohort__algorithm_refuses has checked that. */
static void copies_append(struct cohort__plan_builder *builder,
                          const struct cohort__request *request, struct blocks *to_blocks,
                          struct blocks *from_blocks)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < request->num_in_parts; i++) {
        const struct cohort__part *from = &request->in_parts[i];
        if (from->site != request->this_site)
            continue;
        while (request->out_parts[k].site != request->this_site)
            k++;
        find_blocks(builder, COHORT__SPACE_OUT, &request->out_parts[k],
                    layout_of(request->out_layouts, k), to_blocks);
        find_blocks(builder, COHORT__SPACE_IN, from, layout_of(request->in_layouts, i),
                    from_blocks);
        copy_append(builder, to_blocks, from_blocks, from->bytes);
        k++;
    }
}

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    uint32_t num_sites = request->num_sites;
    uint32_t *next_tags = calloc(2 * (size_t)num_sites, sizeof(*next_tags));
    if (next_tags) {
        struct blocks blocks = {0}, more_blocks = {0};
        messages_append(builder, request, true, &blocks, next_tags);
        messages_append(builder, request, false, &blocks, next_tags + num_sites);
        copies_append(builder, request, &blocks, &more_blocks);
        free(blocks.list);
        free(more_blocks.list);
    } else {
        cohort__plan_builder_fail(builder);
    }
    free(next_tags);
    cohort__plan_set_gaps(builder);
}

/* How many of PARTS are for other sites, and their bytes. */
static uint32_t count_others(const struct cohort__request *request,
                             const struct cohort__part *parts, uint32_t num_parts,
                             double *ret_bytes)
{
    uint32_t num_others = 0;
    *ret_bytes = 0;
    for (uint32_t i = 0; i < num_parts; i++) {
        if (parts[i].site == request->this_site)
            continue;
        num_others++;
        *ret_bytes += (double)parts[i].bytes;
    }
    return num_others;
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    double in_bytes, out_bytes;
    uint32_t num_in = count_others(request, request->in_parts, request->num_in_parts, &in_bytes);
    uint32_t num_out =
        count_others(request, request->out_parts, request->num_out_parts, &out_bytes);
    struct cohort__cost cost = {.startups = num_in > num_out ? num_in : num_out,
                                .bytes = in_bytes > out_bytes ? in_bytes : out_bytes};
    cost.messages = cost.startups * request->num_sites;
    cost.moved = cost.bytes * request->num_sites;
    return cost;
}

const struct cohort__algorithm cohort__exchange_linear = {
    .collective = COHORT__EXCHANGE,
    .name = "linear",
    .ragged = true,
    .build = build,
    .cost = cost,
};
