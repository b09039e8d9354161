/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_shape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/group.h"
#include "collectives/comm/team.h"
#include "collectives/exec/op.h"
#include "collectives/plan/layout.h"
#include "runtime/base/hash.h"

/* Blocks of different sizes: turns the caller's arrays into parts, in bytes. */

static uint32_t site_of(const struct cohort__blocks *blocks, size_t index)
{
    if (blocks->layouts)
        return blocks->layouts[index].site;
    return blocks->neighbours ? blocks->neighbours[index].site : (uint32_t)index;
}

static cohort_datatype type_of(const struct cohort__call *call, const struct cohort__blocks *blocks,
                               size_t index)
{
    return blocks->types ? blocks->types[index] : call->datatype;
}

/* Where the caller says that the block at INDEX begins, in elements, or in bytes if there are
 * types. False: it begins at the end of the one before. */
static bool has_place(const struct cohort__blocks *blocks, size_t index, size_t *ret_offset)
{
    if (!blocks->layouts && !blocks->neighbours && !blocks->displacements)
        return false;
    *ret_offset = blocks->layouts      ? blocks->layouts[index].offset
                  : blocks->neighbours ? blocks->neighbours[index].offset
                                       : blocks->displacements[index];
    return true;
}

/* The block at INDEX. It begins at NEXT if the caller gives no place. A block of no data has no
 * place, so that none is added to a buffer that may be NULL. */
static cohort_status make_part(const struct cohort__call *call, const struct cohort__blocks *blocks,
                               size_t index, size_t next, struct cohort__part *part)
{
    size_t element = cohort_datatype_size(type_of(call, blocks, index));
    size_t offset, bytes, span, end, place;
    uint32_t site = site_of(blocks, index);
    bool fits = true;
    if (site >= cohort_comm_num_sites(call->comm))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s[%zu]: site %u is out of range: num_sites is %u", blocks->name,
                                  index, site, cohort_comm_num_sites(call->comm));
    if (element == 0)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s, block %zu: %" PRIu64 " is no datatype", blocks->name, index,
                                  type_of(call, blocks, index));
    if (blocks->layouts && !blocks->layouts[index].layout)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s[%zu] (site %u): no layout",
                                  blocks->name, index, site);
    size_t count = cohort__blocks_count(blocks, index);
    offset = count > 0 ? next : 0;
    if (count > 0 && has_place(blocks, index, &place))
        fits = !__builtin_mul_overflow(place, blocks->types ? 1 : element, &offset);
    span = blocks->layouts ? cohort_layout_span(blocks->layouts[index].layout) : count;
    fits = fits && !__builtin_mul_overflow(count, element, &bytes) && bytes <= PTRDIFF_MAX &&
           !__builtin_mul_overflow(span, element, &span) &&
           !__builtin_add_overflow(offset, span, &end) && end <= PTRDIFF_MAX;
    if (!fits)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s, block %zu (site %u): %zu elements of %zu bytes end beyond "
                                  "memory",
                                  blocks->name, index, site, count, element);
    part->site = site;
    part->offset = offset;
    part->bytes = bytes;
    return COHORT_OK;
}

static cohort_status make_parts(const struct cohort__call *call,
                                const struct cohort__blocks *blocks, const void *buffer, size_t num,
                                struct cohort__part *parts)
{
    size_t next = 0;
    bool any = false;
    for (size_t i = 0; i < num; i++) {
        cohort_status status = make_part(call, blocks, i, next, &parts[i]);
        if (status)
            return status;
        next += parts[i].bytes; /* where it is used, it is at most PTRDIFF_MAX */
        any |= parts[i].bytes > 0;
    }
    if (any && !buffer)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "no buffer for %s", blocks->name);
    return COHORT_OK;
}

static cohort_status check_arrays(const struct cohort__call *call,
                                  const struct cohort__blocks *blocks)
{
    if (!blocks->name)
        return COHORT_OK;
    bool is_graph = call->ragged->is_graph;
    bool has_neighbours = blocks->neighbours || blocks->layouts || blocks->num_neighbours == 0;
    if (is_graph ? !has_neighbours : !blocks->counts)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: no array", blocks->name);
    if (is_graph && blocks->num_neighbours > UINT32_MAX / 4)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: %zu blocks are too many",
                                  blocks->name, blocks->num_neighbours);
    if (call->ragged->variant == COHORT__VARIANT_TYPES && !blocks->types)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: no datatypes", blocks->name);
    return COHORT_OK;
}

/* The caller describes this site's own block twice, so the two must be equal. */
static cohort_status check_own(const struct cohort__call *call, const struct cohort__blocks *blocks)
{
    size_t counted = blocks->counts ? blocks->counts[call->comm->this_site] : 0;
    if (!blocks->counts || !call->ragged->checks_own || call->is_in_place || counted == call->count)
        return COHORT_OK;
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "this site's own block has %zu elements, but %s says %zu",
                              call->count, blocks->name, counted);
}

static uint64_t hash_counts(const struct cohort__part *parts, size_t num)
{
    uint64_t hash = num;
    for (size_t i = 0; i < num; i++)
        hash = cohort__hash_mix(hash, parts[i].bytes);
    return hash;
}

static size_t num_blocks(const struct cohort__call *call, const struct cohort__blocks *blocks)
{
    if (!blocks->name)
        return 0;
    return call->ragged->is_graph ? blocks->num_neighbours : cohort_comm_num_sites(call->comm);
}

static cohort_status fill(const struct cohort__call *call, struct cohort__request *request,
                          const struct cohort__blocks *in, struct cohort__part *in_parts,
                          struct cohort__part *out_parts)
{
    const struct cohort__ragged *ragged = call->ragged;
    const void *in_buffer = call->in == COHORT_IN_PLACE ? call->out : call->in;
    cohort_status status = check_own(call, in);
    if (!status)
        status = check_own(call, &ragged->out);
    if (!status)
        status = make_parts(call, in, in_buffer, request->num_in_parts, in_parts);
    if (!status)
        status = make_parts(call, &ragged->out, call->out, request->num_out_parts, out_parts);
    return status;
}

/* What a call needs of scratch memory: the parts, then for each of them the number of its layout,
 * and the layout itself. The tail ends in front of the layouts: a number says it all. */
struct scratch {
    struct cohort__part *parts;
    uint64_t *numbers;
    const cohort_layout **layouts; /* NULL: there are none */
};

static cohort_status get_scratch(const struct cohort__call *call, size_t num, bool has_layouts,
                                 struct cohort__shape *shape, struct scratch *ret_scratch)
{
    size_t tail_bytes = num * (sizeof(struct cohort__part) + (has_layouts ? sizeof(uint64_t) : 0));
    size_t bytes = tail_bytes + (has_layouts ? num * sizeof(cohort_layout *) : 0);
    struct cohort__plan_cache *cache;
    cohort_status status = cohort__call_cache(call->comm, &cache);
    struct cohort__part *parts =
        status ? NULL : cohort__plan_cache_scratch(cache, bytes + sizeof(*parts));
    if (!parts)
        return COHORT_ERR_NO_MEMORY;
    memset(parts, 0, bytes + sizeof(*parts)); /* padding is compared, too */
    struct scratch scratch = {.parts = parts, .numbers = (uint64_t *)(parts + num)};
    scratch.layouts = has_layouts ? (const cohort_layout **)(void *)(scratch.numbers + num) : NULL;
    shape->tail = parts;
    shape->tail_bytes = tail_bytes;
    *ret_scratch = scratch;
    return COHORT_OK;
}

/* Layouts of one run are left out: the block then is like one without. */
static void take_layouts(const struct cohort__blocks *blocks, struct cohort__part *parts,
                         uint64_t *numbers, const cohort_layout **layouts)
{
    for (size_t i = 0; blocks->layouts && i < blocks->num_neighbours; i++) {
        const cohort_layout *layout = blocks->layouts[i].layout;
        if (!cohort__layout_is_run(layout)) {
            layouts[i] = layout;
            numbers[i] = layout->number;
        } else if (layout->num_elements > 0) {
            parts[i].offset += parts[i].bytes / layout->num_elements * layout->strips[0].offset;
        }
    }
}

/* Describes the blocks of a ragged call in SHAPE: in its request, its tail and its counts_hash.
 * Fails if blocks end beyond memory or sites are out of range. */
static cohort_status call_parts(const struct cohort__call *call, struct cohort__shape *shape)
{
    const struct cohort__ragged *ragged = call->ragged;
    struct cohort__request *request = &shape->request;
    bool same = call->is_in_place && ragged->is_in_place_of_out;
    const struct cohort__blocks *in = same ? &ragged->out : &ragged->in;
    cohort_status status = check_arrays(call, in);
    if (!status)
        status = check_arrays(call, &ragged->out);
    if (status)
        return status;
    const uint32_t num_in = (uint32_t)num_blocks(call, in);
    request->num_in_parts = num_in;
    request->num_out_parts = (uint32_t)num_blocks(call, &ragged->out);
    size_t num = (size_t)num_in + request->num_out_parts;
    bool has_layouts = in->layouts || ragged->out.layouts;
    struct scratch scratch;
    status = get_scratch(call, num, has_layouts, shape, &scratch);
    if (status)
        return status;
    struct cohort__part *parts = scratch.parts, *out_parts = parts + num_in;
    status = fill(call, request, in, parts, out_parts);
    if (!status && has_layouts) {
        take_layouts(in, parts, scratch.numbers, scratch.layouts);
        take_layouts(&ragged->out, out_parts, scratch.numbers + num_in, scratch.layouts + num_in);
        request->in_layouts = scratch.layouts;
        request->out_layouts = scratch.layouts + num_in;
    }
    request->in_parts = in->name ? parts : NULL;
    request->out_parts = ragged->out.name ? out_parts : NULL;
    const struct cohort__part *agreed = request->in_parts ? parts : out_parts;
    bool has_own = ragged->counts_agree || (ragged->checks_own && num > 0);
    if (!status && has_own)
        request->bytes = agreed[request->this_site].bytes;
    if (!status && ragged->counts_agree)
        shape->counts_hash = hash_counts(agreed, request->num_sites);
    return status;
}

static uint32_t flags_of(const struct cohort__call *call)
{
    bool is_out = call->in_place == COHORT__IN_PLACE_OUT;
    uint32_t in_place = is_out ? COHORT__PLAN_IN_PLACE_OUT : COHORT__PLAN_IN_PLACE;
    return (call->is_in_place && !call->is_alone ? in_place : 0) |
           (cohort__call_ret_rows(call) ? COHORT__PLAN_ROWS : 0) |
           (call->is_reproducible ? COHORT__PLAN_REPRODUCIBLE : 0) |
           (call->is_checked ? COHORT__PLAN_CHECKED : 0) |
           (call->is_alone ? COHORT__PLAN_ALONE : 0) |
           (call->of_objects ? COHORT__PLAN_OBJECTS : 0) |
           (call->is_sparse ? COHORT__PLAN_SPARSE : 0) | (call->ragged ? COHORT__PLAN_RAGGED : 0) |
           (call->ragged && call->ragged->counts_agree ? COHORT__PLAN_SIZES_KNOWN : 0);
}

enum {
    AT_A_TIME = 2, /* segments that fit into an arena: one is read, one is written */
    /* Of a block: with less, a segment takes longer to begin than to move. */
    LEAST_BYTES = 8 * 1024,
};

/* Whether all that a locality brings is one post. */
static bool fits(const struct cohort__group *group, size_t num_blocks, size_t bytes)
{
    const size_t most = COHORT__BOARD_POST;
    return bytes <= most && bytes * num_blocks <= most &&
           bytes * num_blocks * group->max_local_sites <= most;
}

/* For sites of GROUP that meet, where each brings NUM_BLOCKS blocks of BYTES. False: they can't,
 * since not all are in one locality, and they have no board, or too little room on it. */
static bool find_segments(const struct cohort__group *group, size_t num_blocks, size_t bytes,
                          size_t element, struct cohort__segments *ret_segments)
{
    struct cohort__segments segments = {.num = 1, .bytes = bytes};
    if (!group->is_whole && !group->has_board)
        return false;
    if (!group->is_whole && !fits(group, num_blocks, bytes)) {
        size_t unit = COHORT__BOARD_LINE % element == 0 ? COHORT__BOARD_LINE : element;
        size_t most = cohort__team_share(group) / num_blocks;
        segments.bytes = most / AT_A_TIME / unit * unit;
        if (segments.bytes < LEAST_BYTES)
            return false;
        uint64_t num = (bytes - 1) / segments.bytes + 1;
        if (num > COHORT__BOARD_SEGMENTS)
            return false;
        segments.num = (uint32_t)num;
    }
    *ret_segments = segments;
    return true;
}

/* Whether the sites may meet, with blocks of BYTES. They must be in one locality, or share a board
 * with room for what they bring; behind an agreement, which a meeting on a board can't wait for,
 * and for objects, which only those of one locality share, in one locality. All sites come to the
 * same answer. */
static bool may_meet(const struct cohort__call *call, size_t bytes, size_t element,
                     struct cohort__segments *ret_segments)
{
    const struct cohort_comm *comm = call->comm;
    if (call->is_checked || call->of_objects)
        return comm->group->is_whole;
    size_t num_blocks = cohort__movement_in_blocks(&cohort__movement_kinds[call->collective],
                                                   cohort_comm_num_sites(comm));
    return find_segments(comm->group, num_blocks, bytes, element, ret_segments);
}

_Static_assert((int)COHORT__PLAN_REQUEST_WORDS == (int)COHORT__REQUEST_WORDS, "the whole request");

cohort_status cohort__call_shape(const struct cohort__call *call, struct cohort__shape *ret_shape)
{
    const struct cohort_comm *comm = call->comm;
    bool reduces = cohort__collective_reduces(call->collective);
    size_t element = call->of_objects ? 1 : cohort_datatype_size(call->datatype);
    size_t bytes = call->is_alone ? 0 : call->count * element;
    struct cohort__shape shape = {
        .request = {
            .collective = call->collective,
            .num_sites = cohort_comm_num_sites(comm),
            .this_site = comm->this_site,
            .root = cohort__call_root(call),
            .arity = comm->arity,
            .shift = call->collective == COHORT__SHIFT ? cohort__call_shift(call) : 0,
            .bytes = bytes,
            .element = call->is_alone || !reduces ? 1 : element,
            .commutative = !reduces || !call->op || call->op->commutative,
            .meets = !comm->group->is_whole,
            .has_notes = !call->of_objects && comm->group->has_notes,
            .machine = comm->group->machine,
            .turn = cohort__group_turn(comm->group),
        }};
    shape.request.can_meet = may_meet(call, bytes, element, &shape.segments);
    cohort_status status = call->ragged && !call->is_alone ? call_parts(call, &shape) : COHORT_OK;
    const char *wrong = status ? NULL : cohort__request_refuses(&shape.request);
    if (wrong)
        status = cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s", wrong);
    if (status)
        return status;
    cohort__request_words(&shape.request, shape.key.request);
    shape.key.flags = flags_of(call);
    shape.key.row = call->is_alone ? 0 : call->forced.row;
    shape.key.inner = call->is_alone ? 0 : call->forced.inner;
    shape.key.tail_bytes = shape.tail_bytes;
    *ret_shape = shape;
    return COHORT_OK;
}
