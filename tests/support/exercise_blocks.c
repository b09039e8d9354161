/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "tests/support/exercise.h"
#include "tests/support/test.h"

/* Which blocks each site passes and gets, and their contents. */

enum { EDGES = 3 }; /* at most, of a site in the graph of an exchange */

enum amount {
    NONE,
    ONE,
    EACH,  /* one for each site */
    GRAPH, /* one for each edge */
};

static const struct kind {
    const char *name;
    enum amount in, out;               /* at the root, or at all sites if there is no root */
    enum amount others_in, others_out; /* at the other sites of rooted collectives */
    bool is_rooted;
    bool is_ragged;
    bool has_rows;
} kinds[EXERCISE_NUM_KINDS] = {
    [EXERCISE_GATHER] = {.name = "gather",
                         .in = ONE,
                         .out = EACH,
                         .others_in = ONE,
                         .others_out = NONE,
                         .is_rooted = true,
                         .has_rows = true},
    [EXERCISE_SCATTER] = {.name = "scatter",
                          .in = EACH,
                          .out = ONE,
                          .others_in = NONE,
                          .others_out = ONE,
                          .is_rooted = true},
    [EXERCISE_BROADCAST] = {.name = "broadcast",
                            .in = ONE,
                            .out = NONE,
                            .others_in = NONE,
                            .others_out = ONE,
                            .is_rooted = true},
    [EXERCISE_REDUCE] = {.name = "reduce",
                         .in = ONE,
                         .out = ONE,
                         .others_in = ONE,
                         .others_out = NONE,
                         .is_rooted = true},
    [EXERCISE_REDUCE_ORDERED] = {.name = "ordered reduce",
                                 .in = ONE,
                                 .out = ONE,
                                 .others_in = ONE,
                                 .others_out = NONE,
                                 .is_rooted = true},
    [EXERCISE_ALL_GATHER] = {.name = "all_gather", .in = ONE, .out = EACH, .has_rows = true},
    [EXERCISE_ALL_REDUCE] = {.name = "all_reduce", .in = ONE, .out = ONE},
    [EXERCISE_ALL_REDUCE_ORDERED] = {.name = "ordered all_reduce", .in = ONE, .out = ONE},
    [EXERCISE_ALL_TO_ALL] = {.name = "all_to_all", .in = EACH, .out = EACH, .has_rows = true},
    [EXERCISE_BARRIER] = {.name = "barrier", .in = NONE, .out = NONE},
    [EXERCISE_REDUCE_SCATTER] = {.name = "reduce_scatter", .in = EACH, .out = ONE},
    [EXERCISE_SCAN] = {.name = "scan", .in = ONE, .out = ONE},
    [EXERCISE_EXCLUSIVE_SCAN] = {.name = "exclusive_scan", .in = ONE, .out = ONE},
    [EXERCISE_SHIFT] = {.name = "shift", .in = ONE, .out = ONE},
    [EXERCISE_GATHERV] = {.name = "gatherv",
                          .in = ONE,
                          .out = EACH,
                          .others_in = ONE,
                          .others_out = NONE,
                          .is_rooted = true,
                          .is_ragged = true,
                          .has_rows = true},
    [EXERCISE_SCATTERV] = {.name = "scatterv",
                           .in = EACH,
                           .out = ONE,
                           .others_in = NONE,
                           .others_out = ONE,
                           .is_rooted = true,
                           .is_ragged = true},
    [EXERCISE_ALL_GATHERV] =
        {.name = "all_gatherv", .in = ONE, .out = EACH, .is_ragged = true, .has_rows = true},
    [EXERCISE_REDUCE_SCATTERV] = {.name = "reduce_scatterv",
                                  .in = EACH,
                                  .out = ONE,
                                  .is_ragged = true},
    [EXERCISE_ALL_TO_ALLV] =
        {.name = "all_to_allv", .in = EACH, .out = EACH, .is_ragged = true, .has_rows = true},
    [EXERCISE_ALL_TO_ALLW] =
        {.name = "all_to_allw", .in = EACH, .out = EACH, .is_ragged = true, .has_rows = true},
    [EXERCISE_EXCHANGE] = {.name = "exchange", .in = GRAPH, .out = GRAPH, .is_ragged = true},
};

const char *exercise_name(enum exercise_kind kind)
{
    return kinds[kind].name;
}

bool exercise_is_rooted(enum exercise_kind kind)
{
    return kinds[kind].is_rooted;
}

static uint32_t this_site(const struct exercise *exercise)
{
    return cohort_comm_this_site(exercise->comm);
}

static uint32_t num_sites(const struct exercise *exercise)
{
    return cohort_comm_num_sites(exercise->comm);
}

static bool is_root(const struct exercise *exercise)
{
    return !kinds[exercise->kind].is_rooted || this_site(exercise) == exercise->root;
}

static bool is_all_to_all(enum exercise_kind kind)
{
    return kind == EXERCISE_ALL_TO_ALL || kind == EXERCISE_ALL_TO_ALLV ||
           kind == EXERCISE_ALL_TO_ALLW;
}

static bool is_reduce_scatter(enum exercise_kind kind)
{
    return kind == EXERCISE_REDUCE_SCATTER || kind == EXERCISE_REDUCE_SCATTERV;
}

bool exercise_is_ordered(const struct exercise *exercise)
{
    enum exercise_kind kind = exercise->kind;
    bool is_either =
        is_reduce_scatter(kind) || kind == EXERCISE_SCAN || kind == EXERCISE_EXCLUSIVE_SCAN;
    return kind == EXERCISE_REDUCE_ORDERED || kind == EXERCISE_ALL_REDUCE_ORDERED ||
           (is_either && exercise->options.ordered);
}

bool exercise_has_rows(const struct exercise *exercise)
{
    return kinds[exercise->kind].has_rows && is_root(exercise);
}

/* Whether the block from one site to another is as large as the block in the other direction. */
static bool is_symmetric(const struct exercise *exercise)
{
    return exercise_draw(exercise, 'y', 0, 0) % 2 == 0;
}

bool exercise_can_be_in_place(const struct exercise *exercise)
{
    enum exercise_kind kind = exercise->kind;
    if (kind == EXERCISE_ALL_TO_ALLV || kind == EXERCISE_ALL_TO_ALLW)
        return is_symmetric(exercise);
    return is_root(exercise) && kind != EXERCISE_BROADCAST && kind != EXERCISE_BARRIER &&
           kind != EXERCISE_SHIFT && kind != EXERCISE_EXCHANGE;
}

int64_t exercise_shift(const struct exercise *exercise)
{
    uint64_t range = 5 * (uint64_t)num_sites(exercise);
    return (int64_t)(exercise_draw(exercise, 's', 0, 0) % range) - (int64_t)(range / 2);
}

uint64_t exercise_draw(const struct exercise *exercise, uint64_t what, uint64_t a, uint64_t b)
{
    uint64_t value = exercise->generation * UINT64_C(0x9e3779b97f4a7c15) + what;
    value = (value ^ value >> 29) * UINT64_C(0xbf58476d1ce4e5b9) + a;
    value = (value ^ value >> 32) * UINT64_C(0x94d049bb133111eb) + b;
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return value ^ value >> 31;
}

/* Sizes and places ---------------------------------------------------------------------------- */

/* How many elements go from FROM to TO. */
static size_t amount_between(const struct exercise *exercise, uint32_t from, uint32_t to)
{
    if (!kinds[exercise->kind].is_ragged || exercise->count == 0)
        return exercise->count;
    if (!is_all_to_all(exercise->kind) && exercise->kind != EXERCISE_EXCHANGE)
        from = to;
    uint32_t low = from < to ? from : to, high = from < to ? to : from;
    bool sorts = is_all_to_all(exercise->kind) && is_symmetric(exercise);
    uint64_t drawn = exercise_draw(exercise, 'n', sorts ? low : from, sorts ? high : to);
    return (size_t)(drawn % (2 * exercise->count + 1));
}

static void add(struct exercise_blocks *blocks, uint32_t peer, uint64_t key, size_t count)
{
    blocks->all = realloc(blocks->all, (blocks->num + 1) * sizeof(*blocks->all));
    CHECK(blocks->all);
    blocks->all[blocks->num++] = (struct exercise_block){.peer = peer, .key = key, .count = count};
}

/* The edges from FROM to TO, in order. Some sites have none, some have two, and some have one to
 * themselves. */
static void add_edges(const struct exercise *exercise, struct exercise_blocks *blocks,
                      uint32_t from, uint32_t to)
{
    static const uint32_t steps[EDGES] = {1, 3, 1};
    for (uint32_t k = 0; k < EDGES; k++)
        if ((from + steps[k]) % num_sites(exercise) == to &&
            exercise_draw(exercise, 'e', from, k) % 4 != 0)
            add(blocks, from == this_site(exercise) ? to : from, (uint64_t)to * EDGES + k,
                amount_between(exercise, from, to));
}

static void add_blocks(const struct exercise *exercise, struct exercise_blocks *blocks,
                       enum amount amount, bool is_in)
{
    uint32_t me = this_site(exercise);
    if (amount == ONE)
        add(blocks, me, 0, amount_between(exercise, me, me));
    for (uint32_t peer = 0; peer < num_sites(exercise); peer++) {
        uint32_t from = is_in ? me : peer, to = is_in ? peer : me;
        if (amount == EACH && is_all_to_all(exercise->kind))
            add(blocks, peer, peer, amount_between(exercise, from, to));
        else if (amount == EACH)
            add(blocks, peer, peer, amount_between(exercise, peer, peer));
        else if (amount == GRAPH)
            add_edges(exercise, blocks, from, to);
    }
}

/* Places the blocks one after the other, or from the last to the first with gaps. */
static void place(const struct exercise *exercise, struct exercise_blocks *blocks, bool is_in)
{
    uint32_t me = this_site(exercise);
    blocks->has_displacements =
        kinds[exercise->kind].is_ragged && !is_reduce_scatter(exercise->kind) && blocks->num > 1 &&
        (exercise->kind == EXERCISE_EXCHANGE || exercise_draw(exercise, 'd', me, is_in) % 2);
    for (size_t i = 0; i < blocks->num; i++) {
        bool turned = blocks->has_displacements;
        struct exercise_block *block = &blocks->all[turned ? blocks->num - 1 - i : i];
        block->offset = blocks->end + (turned ? exercise_draw(exercise, 'g', me, i) % 3 : 0);
        blocks->end = block->offset + block->count;
    }
}

void exercise_lay_out(struct exercise *exercise)
{
    const struct kind *kind = &kinds[exercise->kind];
    bool root = is_root(exercise);
    bool nothing = exercise->kind == EXERCISE_EXCLUSIVE_SCAN && this_site(exercise) == 0;
    add_blocks(exercise, &exercise->in_blocks, root ? kind->in : kind->others_in, true);
    add_blocks(exercise, &exercise->out_blocks,
               nothing ? NONE
               : root  ? kind->out
                       : kind->others_out,
               false);
    place(exercise, &exercise->in_blocks, true);
    place(exercise, &exercise->out_blocks, false);
}

/* Contents ------------------------------------------------------------------------------------ */

static uint64_t content(const struct exercise *exercise, uint32_t site, uint64_t key, size_t place)
{
    return exercise_draw(exercise, 'c' + 1000 * key, site, place);
}

uint64_t exercise_input(const struct exercise *exercise, const struct exercise_block *block,
                        size_t place)
{
    return content(exercise, this_site(exercise), block->key, place);
}

/* An element is a map x -> ax + b over 32 bits. The left map is applied first, then the right one.
 * This operation is associative and not commutative. */
uint64_t exercise_compose(uint64_t left, uint64_t right)
{
    uint32_t a = (uint32_t)left, b = (uint32_t)(left >> 32);
    uint32_t c = (uint32_t)right, d = (uint32_t)(right >> 32);
    return (uint64_t)(uint32_t)(c * b + d) << 32 | (uint32_t)(a * c);
}

/* The reduction of the inputs of sites 0 to LAST. */
static uint64_t reduced(const struct exercise *exercise, uint32_t last, uint64_t key, size_t place)
{
    bool ordered = exercise_is_ordered(exercise);
    uint64_t result = content(exercise, 0, key, place);
    for (uint32_t site = 1; site <= last; site++) {
        uint64_t next = content(exercise, site, key, place);
        result = ordered ? exercise_compose(result, next) : result + next;
    }
    return result;
}

uint64_t exercise_output(const struct exercise *exercise, const struct exercise_block *block,
                         size_t place)
{
    uint32_t me = this_site(exercise), num = num_sites(exercise);
    int64_t source = (int64_t)me - exercise_shift(exercise) % (int64_t)num + (int64_t)num;
    switch (exercise->kind) {
    case EXERCISE_GATHER:
    case EXERCISE_GATHERV:
    case EXERCISE_ALL_GATHER:
    case EXERCISE_ALL_GATHERV:
        return content(exercise, block->peer, 0, place);
    case EXERCISE_SCATTER:
    case EXERCISE_SCATTERV:
        return content(exercise, exercise->root, me, place);
    case EXERCISE_BROADCAST:
        return content(exercise, exercise->root, 0, place);
    case EXERCISE_ALL_TO_ALL:
    case EXERCISE_ALL_TO_ALLV:
    case EXERCISE_ALL_TO_ALLW:
        return content(exercise, block->peer, me, place);
    case EXERCISE_EXCHANGE:
        return content(exercise, block->peer, block->key, place);
    case EXERCISE_REDUCE_SCATTER:
    case EXERCISE_REDUCE_SCATTERV:
        return reduced(exercise, num - 1, me, place);
    case EXERCISE_SCAN:
        return reduced(exercise, me, 0, place);
    case EXERCISE_EXCLUSIVE_SCAN:
        return reduced(exercise, me - 1, 0, place);
    case EXERCISE_SHIFT:
        return content(exercise, (uint32_t)(source % num), 0, place);
    default:
        return reduced(exercise, num - 1, 0, place);
    }
}
