/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/exercise.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define RUBBISH UINT64_C(0xeeeeeeeeeeeeeeee)

static cohort_status apply_compose(void *result, const void *left, const void *right, size_t count,
                                   cohort_datatype datatype, void *arg)
{
    CHECK(datatype == cohort_datatype_of_bytes(8));
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)result)[i] =
            exercise_compose(((const uint64_t *)left)[i], ((const uint64_t *)right)[i]);
    return COHORT_OK;
}

/* The arrays that describe blocks, as the collectives take them. */
struct arrays {
    size_t *counts;
    size_t *displacements; /* NULL: none */
    cohort_datatype *types;
    cohort_neighbour *neighbours;
    size_t num;
};

/* Describes the same bytes with elements of other sizes. The contents of a block do not depend on
 * the type. */
static void vary_types(struct arrays *arrays, const struct exercise_blocks *blocks)
{
    static const cohort_datatype types[] = {COHORT_UINT64, COHORT_BYTE, COHORT_FLOAT};
    static const size_t factors[] = {1, 8, 2};
    for (size_t i = 0; i < blocks->num; i++) {
        arrays->types[i] = types[i % 3];
        arrays->counts[i] *= factors[i % 3];
        if (arrays->displacements)
            arrays->displacements[i] *= 8;
    }
}

static void arrays_init(struct arrays *arrays, const struct exercise *exercise,
                        const struct exercise_blocks *blocks)
{
    size_t num = blocks->num;
    *arrays = (struct arrays){
        .counts = calloc(num + 1, sizeof(size_t)),
        .displacements = blocks->has_displacements ? calloc(num + 1, sizeof(size_t)) : NULL,
        .types = calloc(num + 1, sizeof(cohort_datatype)),
        .neighbours = calloc(num + 1, sizeof(cohort_neighbour)),
        .num = num,
    };
    CHECK(arrays->counts && arrays->types && arrays->neighbours);
    for (size_t i = 0; i < num; i++) {
        const struct exercise_block *block = &blocks->all[i];
        arrays->counts[i] = block->count;
        if (arrays->displacements)
            arrays->displacements[i] = block->offset;
        arrays->neighbours[i] = (cohort_neighbour){block->peer, block->offset, block->count};
    }
    if (exercise->kind == EXERCISE_ALL_TO_ALLW)
        vary_types(arrays, blocks);
}

static void arrays_fini(struct arrays *arrays)
{
    free(arrays->counts);
    free(arrays->displacements);
    free(arrays->types);
    free(arrays->neighbours);
}

static bool is_root(const struct exercise *exercise)
{
    return cohort_comm_this_site(exercise->comm) == exercise->root;
}

/* The kinds whose blocks all have one size. */
static cohort_future *call_equal(const struct exercise *exercise, const void *in, void *out,
                                 cohort_datatype type, const cohort_op *op)
{
    cohort_comm *comm = exercise->comm;
    size_t count = exercise->count;
    uint64_t generation = exercise->generation;
    switch (exercise->kind) {
    case EXERCISE_GATHER:
        return is_root(exercise) ? cohort_gather_here(comm, in, out, count, type, generation)
                                 : cohort_gather_there(comm, in, count, type, generation);
    case EXERCISE_SCATTER:
        return is_root(exercise) ? cohort_scatter_to(comm, in, out, count, type, generation)
                                 : cohort_scatter_from(comm, out, count, type, generation);
    case EXERCISE_BROADCAST:
        return is_root(exercise) ? cohort_broadcast_to(comm, in, count, type, generation)
                                 : cohort_broadcast_from(comm, out, count, type, generation);
    case EXERCISE_REDUCE:
    case EXERCISE_REDUCE_ORDERED:
        return is_root(exercise) ? cohort_reduce_here(comm, in, out, count, type, op, generation)
                                 : cohort_reduce_there(comm, in, count, type, op, generation);
    case EXERCISE_ALL_GATHER:
        return cohort_all_gather(comm, in, out, count, type, generation);
    case EXERCISE_ALL_REDUCE:
    case EXERCISE_ALL_REDUCE_ORDERED:
        return cohort_all_reduce(comm, in, out, count, type, op, generation);
    case EXERCISE_ALL_TO_ALL:
        return cohort_all_to_all(comm, in, out, count, type, generation);
    case EXERCISE_REDUCE_SCATTER:
        return cohort_reduce_scatter(comm, in, out, count, type, op, generation);
    case EXERCISE_SCAN:
        return cohort_scan(comm, in, out, count, type, op, generation);
    case EXERCISE_EXCLUSIVE_SCAN:
        return cohort_exclusive_scan(comm, in, out, count, type, op, generation);
    case EXERCISE_SHIFT:
        return cohort_shift(comm, in, out, count, type, exercise_shift(exercise), generation);
    default:
        return cohort_barrier(comm, generation);
    }
}

static cohort_future *call_ragged(const struct exercise *exercise, const void *in, void *out,
                                  cohort_datatype type, const cohort_op *op)
{
    cohort_comm *comm = exercise->comm;
    uint64_t generation = exercise->generation;
    struct arrays from, to;
    arrays_init(&from, exercise, &exercise->in_blocks);
    arrays_init(&to, exercise, &exercise->out_blocks);
    cohort_future *future;
    switch (exercise->kind) {
    case EXERCISE_GATHERV:
        future = is_root(exercise)
                     ? cohort_gatherv_here(comm, in, from.counts[0], out, to.counts,
                                           to.displacements, type, generation)
                     : cohort_gatherv_there(comm, in, from.counts[0], type, generation);
        break;
    case EXERCISE_SCATTERV:
        future = is_root(exercise)
                     ? cohort_scatterv_to(comm, in, from.counts, from.displacements, out,
                                          to.counts[0], type, generation)
                     : cohort_scatterv_from(comm, out, to.counts[0], type, generation);
        break;
    case EXERCISE_ALL_GATHERV:
        future = cohort_all_gatherv(comm, in, out, to.counts, to.displacements, type, generation);
        break;
    case EXERCISE_REDUCE_SCATTERV:
        future = cohort_reduce_scatterv(comm, in, out, from.counts, type, op, generation);
        break;
    case EXERCISE_ALL_TO_ALLV:
        future = cohort_all_to_allv(comm, in, from.counts, from.displacements, out, to.counts,
                                    to.displacements, type, generation);
        break;
    case EXERCISE_ALL_TO_ALLW:
        future = cohort_all_to_allw(comm, in, from.counts, from.displacements, from.types, out,
                                    to.counts, to.displacements, to.types, generation);
        break;
    default:
        future = cohort_exchange(comm, in, from.neighbours, from.num, out, to.neighbours, to.num,
                                 type, generation);
        break;
    }
    arrays_fini(&from);
    arrays_fini(&to);
    return future;
}

static void set_options(struct exercise *exercise)
{
    const struct exercise_options *options = &exercise->options;
    if (options->rows && exercise_has_rows(exercise)) {
        exercise->num_rows = cohort_comm_num_sites(exercise->comm);
        exercise->rows = test_calloc(exercise->num_rows, sizeof(cohort_future *));
    }
    bool has_root = options->has_root && exercise_is_rooted(exercise->kind);
    bool checked = options->checked && !exercise_is_ordered(exercise) &&
                   exercise->kind != EXERCISE_ALL_TO_ALLW;
    if (exercise->rows || has_root || options->algorithm || checked || options->reproducible ||
        exercise->layout || options->deadline)
        CHECK_OK(
            cohort_comm_next_call(exercise->comm, &(cohort_call_options){
                                                      .algorithm = options->algorithm,
                                                      .root_site = has_root ? &options->root : NULL,
                                                      .check_asymmetric = checked,
                                                      .reproducible = options->reproducible,
                                                      .ret_rows = exercise->rows,
                                                      .out_layout = exercise->layout,
                                                      .deadline = options->deadline,
                                                  }));
}

static bool scatters(const struct exercise *exercise)
{
    return exercise->kind == EXERCISE_SCATTER || exercise->kind == EXERCISE_SCATTERV;
}

static void call(struct exercise *exercise)
{
    const void *in = exercise->in;
    void *out = exercise->layout ? exercise->lying : exercise->out;
    cohort_datatype type = COHORT_UINT64;
    const cohort_op *op = COHORT_SUM;
    cohort_op *users = NULL;
    if (exercise_is_ordered(exercise)) {
        CHECK_OK(cohort_op_create(
            &users, &(struct cohort_op_options){.name = "compose", .function = apply_compose}));
        type = cohort_datatype_of_bytes(8);
        op = users;
    }
    if (exercise->options.in_place && scatters(exercise))
        out = (void *)COHORT_IN_PLACE;
    else if (exercise->options.in_place)
        in = COHORT_IN_PLACE;
    set_options(exercise);
    exercise->done = exercise->kind >= EXERCISE_GATHERV ? call_ragged(exercise, in, out, type, op)
                                                        : call_equal(exercise, in, out, type, op);
    cohort_op_unref(users); /* the call keeps its own reference */
}

static void fill(const struct exercise *exercise, uint64_t *to, const struct exercise_block *block,
                 size_t offset)
{
    for (size_t place = 0; place < block->count; place++)
        to[offset + place] = exercise_input(exercise, block, place);
}

/* Fills OUT as it has to be before a call in place. */
static void fill_in_place(const struct exercise *exercise)
{
    const struct exercise_blocks *in = &exercise->in_blocks, *out = &exercise->out_blocks;
    uint32_t me = cohort_comm_this_site(exercise->comm);
    for (size_t i = 0; i < in->num; i++) {
        size_t offset = in->all[i].offset;
        if (in->num == 1 && out->num > 1)
            offset = out->all[me].offset;
        else if (in->num == out->num)
            offset = out->all[i].offset;
        fill(exercise, exercise->out, &in->all[i], offset);
    }
}

static void allocate(struct exercise *exercise)
{
    size_t in = exercise->in_blocks.end, out = exercise->out_blocks.end;
    if (exercise->options.in_place && in > out)
        out = in;
    exercise->num_out = out;
    exercise->in = test_malloc((in + 1) * sizeof(uint64_t));
    exercise->out = test_malloc((out + 1) * sizeof(uint64_t));
    memset(exercise->in, 0xee, (in + 1) * sizeof(uint64_t));
    memset(exercise->out, 0xee, (out + 1) * sizeof(uint64_t));
    for (size_t i = 0; i < exercise->in_blocks.num; i++)
        fill(exercise, exercise->in, &exercise->in_blocks.all[i],
             exercise->in_blocks.all[i].offset);
}

/* In every other place, with what is in OUT already. */
static void lay_apart(struct exercise *exercise)
{
    size_t num = exercise->num_out;
    if (num == 0 || exercise->kind == EXERCISE_ALL_TO_ALLW || exercise->kind == EXERCISE_EXCHANGE ||
        (exercise->options.in_place && scatters(exercise)))
        return;
    CHECK_OK(cohort_layout_create_vector(&exercise->layout, num, 1, 2));
    exercise->lying = test_malloc(num * 2 * sizeof(uint64_t));
    memset(exercise->lying, 0xee, num * 2 * sizeof(uint64_t));
    for (size_t i = 0; i < num; i++)
        exercise->lying[2 * i] = exercise->out[i];
}

/* NUM elements from OFFSET on, if they lie elsewhere. */
static void take_up(const struct exercise *exercise, size_t offset, size_t num)
{
    for (size_t i = offset; exercise->layout && i < offset + num; i++) {
        exercise->out[i] = exercise->lying[2 * i];
        CHECK(exercise->lying[2 * i + 1] == RUBBISH);
    }
}

void exercise_begin_with(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                         size_t count, uint64_t generation, struct exercise_options options)
{
    *exercise = (struct exercise){
        .comm = comm, .kind = kind, .count = count, .generation = generation, .options = options};
    exercise->root = options.has_root ? options.root : cohort_comm_root_site(comm);
    exercise->options.in_place = options.in_place && exercise_can_be_in_place(exercise);
    exercise_lay_out(exercise);
    allocate(exercise);
    if (exercise->options.in_place && kind != EXERCISE_SCATTER && kind != EXERCISE_SCATTERV)
        fill_in_place(exercise);
    if (options.apart)
        lay_apart(exercise);
    call(exercise);
}

struct exercise_options exercise_draw_options(cohort_comm *comm, uint64_t generation)
{
    struct exercise drawn = {.comm = comm, .generation = generation};
    uint32_t me = cohort_comm_this_site(comm);
    uint64_t root = exercise_draw(&drawn, 'r', 0, 0);
    return (struct exercise_options){
        .in_place = exercise_draw(&drawn, 'p', me, 0) % 4 == 0,
        .rows = exercise_draw(&drawn, 'f', me, 0) % 4 == 0,
        .has_root = root % 4 == 0,
        .root = (uint32_t)(root / 4 % cohort_comm_num_sites(comm)),
        .ordered = exercise_draw(&drawn, 'o', 0, 0) % 2 == 0,
        .checked = exercise_draw(&drawn, 'a', 0, 0) % 4 == 0,
        .reproducible = exercise_draw(&drawn, 'b', 0, 0) % 4 == 0,
        .apart = exercise_draw(&drawn, 'l', me, 0) % 4 == 0,
    };
}

void exercise_begin(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                    size_t count, uint64_t generation)
{
    exercise_begin_with(exercise, comm, kind, count, generation,
                        exercise_draw_options(comm, generation));
}

static void check_block(const struct exercise *exercise, size_t index)
{
    const struct exercise_block *block = &exercise->out_blocks.all[index];
    take_up(exercise, block->offset, block->count);
    for (size_t place = 0; place < block->count; place++)
        if (exercise->out[block->offset + place] != exercise_output(exercise, block, place))
            FAIL("%s%s of %zu, %s, generation %llu, site %u of %u, root %u: element %zu of "
                 "block %zu is wrong",
                 exercise_name(exercise->kind), exercise->options.in_place ? " in place" : "",
                 exercise->count,
                 exercise->options.algorithm ? exercise->options.algorithm : "any algorithm",
                 (unsigned long long)exercise->generation, cohort_comm_this_site(exercise->comm),
                 cohort_comm_num_sites(exercise->comm), exercise->root, place, index);
}

/* Nothing is written outside the blocks, and IN is unchanged. */
static void check_rest(const struct exercise *exercise)
{
    const struct exercise_blocks *in = &exercise->in_blocks, *out = &exercise->out_blocks;
    for (size_t i = 0; i < in->num; i++)
        for (size_t place = 0; place < in->all[i].count; place++)
            CHECK(exercise->in[in->all[i].offset + place] ==
                  exercise_input(exercise, &in->all[i], place));
    take_up(exercise, 0, exercise->num_out);
    if (exercise->options.in_place)
        return;
    CHECK(exercise->out[out->end] == RUBBISH);
    for (size_t i = 0; out->has_displacements && i < out->num; i++) /* from the last block on */
        for (size_t gap = i + 1 < out->num ? out->all[i + 1].offset + out->all[i + 1].count : 0;
             gap < out->all[i].offset; gap++)
            CHECK(exercise->out[gap] == RUBBISH);
}

/* Each row is complete when its future is ready. As long as one row is missing, the call may still
 * fail. */
static bool check_rows(struct exercise *exercise)
{
    bool all = true;
    for (uint32_t row = 0; row < exercise->num_rows; row++) {
        bool there = cohort_await(exercise->rows[row]) == COHORT_OK;
        if (there)
            check_block(exercise, row);
        all &= there;
    }
    return all;
}

static void fini(struct exercise *exercise)
{
    free(exercise->in_blocks.all);
    free(exercise->out_blocks.all);
    free(exercise->rows);
    free(exercise->in);
    free(exercise->out);
    free(exercise->lying);
    cohort_layout_unref(exercise->layout);
}

cohort_status exercise_end_unchecked(struct exercise *exercise)
{
    for (uint32_t row = 0; row < exercise->num_rows; row++)
        cohort_future_unref(exercise->rows[row]);
    cohort_status status = cohort_await(exercise->done);
    fini(exercise);
    return status;
}

cohort_status exercise_end(struct exercise *exercise)
{
    bool all_rows = check_rows(exercise);
    cohort_status status = cohort_await(exercise->done);
    CHECK(status || all_rows);
    for (size_t i = 0; !status && i < exercise->out_blocks.num; i++)
        if (!scatters(exercise) || !exercise->options.in_place)
            check_block(exercise, i);
    if (!status)
        check_rest(exercise);
    fini(exercise);
    return status;
}
