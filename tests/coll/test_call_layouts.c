/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Calls with the options in_layout and out_layout: what users do with them, and what is refused.
 * The random calls (test_random_calls.c) have layouts, too, of all kinds and in all collectives. */

enum { ROWS = 3, SITES = 4 };

static void run(uint32_t num_localities, const cohort_comm_options *options,
                cohort_status (*site)(cohort_comm *comm, void *arg))
{
    cluster_run(1, num_localities, 0,
                (struct sites){.name = "laid", .options = *options, .run = site});
}

static void run_all(uint32_t num_sites, cohort_status (*site)(cohort_comm *comm, void *arg))
{
    const cohort_comm_options options = {.num_sites = num_sites};
    run(1, &options, site);
    run(2, &options, site);
    run(num_sites, &options, site);
}

static void lay(cohort_comm *comm, const cohort_layout *in, const cohort_layout *out)
{
    CHECK_OK(
        cohort_comm_next_call(comm, &(cohort_call_options){.in_layout = in, .out_layout = out}));
}

static cohort_layout *vector(size_t count, size_t block, size_t stride)
{
    cohort_layout *layout;
    CHECK_OK(cohort_layout_create_vector(&layout, count, block, stride));
    return layout;
}

static cohort_layout *repeat(size_t count, size_t stride, const cohort_layout *inner)
{
    cohort_layout *layout;
    CHECK_OK(cohort_layout_create_repeat(&layout, count, stride, inner));
    return layout;
}

/* Each site has a column of the root's matrix, as a row, or as a column of its own. */
TEST_SITE(columns, run_all(SITES, site))
{
    const uint32_t me = cohort_comm_this_site(comm);
    int32_t matrix[ROWS][SITES], mine[ROWS][2];
    cohort_layout *column = vector(ROWS, 1, SITES), *my_column = vector(ROWS, 1, 2);
    cohort_layout *all = repeat(SITES, 1, column);
    memset(matrix, 0, sizeof(matrix));
    for (int32_t row = 0; row < ROWS; row++)
        mine[row][1] = 7, mine[row][0] = (int32_t)me * 10 + row;
    lay(comm, my_column, me == 0 ? all : NULL);
    CHECK_OK(cohort_await(me == 0 ? cohort_gather_here(comm, mine, matrix, ROWS, COHORT_INT32, 1)
                                  : cohort_gather_there(comm, mine, ROWS, COHORT_INT32, 1)));
    for (int32_t row = 0; me == 0 && row < ROWS; row++)
        for (int32_t site = 0; site < SITES; site++)
            CHECK_INT(matrix[row][site], site * 10 + row);
    /* The root's own stays where it is. */
    int32_t back[ROWS] = {-1, -1, -1};
    if (me == 0)
        lay(comm, all, NULL);
    CHECK_OK(cohort_await(
        me == 0 ? cohort_scatter_to(comm, matrix, (void *)COHORT_IN_PLACE, ROWS, COHORT_INT32, 2)
                : cohort_scatter_from(comm, back, ROWS, COHORT_INT32, 2)));
    for (int32_t row = 0; row < ROWS; row++)
        CHECK_INT(me == 0 ? matrix[row][0] : back[row], (int32_t)me * 10 + row);
    /* In one array: what is beside the other's elements. */
    int32_t both[2 * SITES];
    for (int32_t i = 0; i < SITES; i++)
        both[2 * i] = (int32_t)me * 100 + i, both[2 * i + 1] = -1;
    cohort_layout *even = vector(SITES, 1, 2);
    const cohort_layout_part odd_part = {1, even};
    cohort_layout *odd;
    CHECK_OK(cohort_layout_create_parts(&odd, &odd_part, 1));
    for (uint64_t generation = 3; generation < 6; generation++) {
        lay(comm, even, odd);
        CHECK_OK(cohort_await(cohort_all_to_all(comm, both, both, 1, COHORT_INT32, generation)));
        for (int32_t i = 0; i < SITES; i++) {
            CHECK_INT(both[2 * i], (int32_t)me * 100 + i);
            CHECK_INT(both[2 * i + 1], i * 100 + (int32_t)me);
        }
    }
    cohort_layout_unref(column);
    cohort_layout_unref(my_column);
    cohort_layout_unref(all);
    cohort_layout_unref(even);
    cohort_layout_unref(odd);
}

/* Blocks of different sizes, each of which the root puts down in a way of its own. The layouts are
 * given back before the call has ended, and the data is more than one goes with a message. */
TEST_SITE(parts, run_all(3, site))
{
    enum { FIRST = 1500, ALL = FIRST * (1 + 2 + 3) };
    const uint32_t me = cohort_comm_this_site(comm);
    const size_t counts[] = {FIRST, FIRST * 2, FIRST * 3};
    static double arrays[3][2 * ALL + 1], mine[3][FIRST * 9];
    double *array = arrays[me];
    for (uint64_t generation = 1; generation < 4; generation++) {
        cohort_layout *in = vector(counts[me], 1, 1 + me), *out = NULL, *inner[3];
        cohort_future *rows[3];
        for (size_t i = 0; i < counts[me]; i++)
            mine[me][i * (1 + me)] = (double)(me * 10000 + i + generation);
        for (size_t i = 0; i <= 2 * ALL; i++)
            array[i] = -1;
        cohort_call_options options = {.in_layout = in, .ret_rows = me == 0 ? rows : NULL};
        if (me == 0) {
            for (uint32_t site = 0; site < 3; site++)
                inner[site] = vector(counts[site], 1, 2);
            CHECK_OK(cohort_layout_create_parts(
                &out,
                (cohort_layout_part[]){{1, inner[0]}, {0, inner[1]}, {2 * FIRST * 3, inner[2]}},
                3));
            /* The second one is behind the first one, in the gaps between which are odd places. */
            for (uint32_t site = 0; site < 3; site++)
                cohort_layout_unref(inner[site]);
            options.out_layout = out;
        }
        CHECK_OK(cohort_comm_next_call(comm, &options));
        cohort_future *future =
            me == 0 ? cohort_gatherv_here(comm, mine[0], FIRST, array, counts, NULL, COHORT_DOUBLE,
                                          generation)
                    : cohort_gatherv_there(comm, mine[me], counts[me], COHORT_DOUBLE, generation);
        cohort_layout_unref(in);
        cohort_layout_unref(out);
        for (uint32_t site = 0; me == 0 && site < 3; site++)
            CHECK_OK(cohort_await(rows[site]));
        CHECK_OK(cohort_await(future));
        const size_t begins[] = {1, 0, 2 * FIRST * 3};
        size_t num_written = 0;
        for (uint32_t site = 0; me == 0 && site < 3; site++)
            for (size_t i = 0; i < counts[site]; i++, num_written++)
                CHECK_INT((long long)array[begins[site] + 2 * i],
                          (long long)(site * 10000 + i + generation));
        for (size_t i = 0; me == 0 && i <= 2 * ALL; i++)
            num_written += array[i] == -1;
        CHECK_INT(num_written, me == 0 ? 2 * ALL + 1 : 0);
    }
}

/* Of site 1 the call is wrong. All are told, if they have something to do with it. */
static void expect(cohort_comm *comm, cohort_future *future, cohort_status status, const char *why)
{
    bool is_wrong = cohort_comm_this_site(comm) == 1;
    cohort_status got = cohort_await(future);
    if (!is_wrong && got == COHORT_OK)
        return;
    CHECK_FAILS(got, status, "site 1, cohort_");
    CHECK_CONTAINS(cohort_error_message(), why);
}

enum { COUNT = 4 };

struct scene {
    cohort_comm *comm;
    uint64_t generation;
    bool is_wrong; /* this site is to be */
    int32_t in[64], out[64];
    cohort_layout *steps;      /* COUNT elements */
    cohort_layout *many_steps; /* twice as many */
    cohort_layout *twice;      /* COUNT, the first one of which is there twice */
    cohort_layout *far;
};

static void scene_init(struct scene *scene, cohort_comm *comm)
{
    const cohort_layout_block blocks[] = {{3, 2}, {0, 1}, {4, 1}};
    *scene = (struct scene){.comm = comm, .is_wrong = cohort_comm_this_site(comm) == 1};
    scene->steps = vector(COUNT, 1, 3);
    scene->many_steps = vector(2 * COUNT, 1, 3);
    scene->far = vector(2, COUNT / 2, SIZE_MAX / 8);
    CHECK_OK(cohort_layout_create_blocks(&scene->twice, blocks, 3));
}

static void scene_fini(struct scene *scene)
{
    cohort_layout_unref(scene->steps);
    cohort_layout_unref(scene->many_steps);
    cohort_layout_unref(scene->twice);
    cohort_layout_unref(scene->far);
}

/* A shift whose layouts at site 1 are these. */
static cohort_future *shift_with(struct scene *scene, const cohort_layout *in,
                                 const cohort_layout *out, const void *from, void *to)
{
    if (scene->is_wrong)
        lay(scene->comm, in, out);
    return cohort_shift(scene->comm, scene->is_wrong ? from : scene->in,
                        scene->is_wrong ? to : scene->out, COUNT, COHORT_INT32, 1,
                        ++scene->generation);
}

static cohort_status wrong(cohort_comm *comm, void *arg)
{
    const cohort_status bad = COHORT_ERR_BAD_PARAMETER;
    struct scene scene;
    scene_init(&scene, comm);
    int32_t *in = scene.in, *out = scene.out;
    const cohort_layout *steps = scene.steps, *none = NULL;
    expect(comm, shift_with(&scene, scene.many_steps, none, in, out), bad,
           "IN has 4 elements, but its layout has 8");
    expect(comm, shift_with(&scene, none, scene.many_steps, in, out), bad,
           "OUT has 4 elements, but its layout has 8");
    expect(comm, shift_with(&scene, none, scene.twice, in, out), bad,
           "the layout of OUT has elements twice: those of bytes 12 to 20 and 16 to 20 overlap");
    expect(comm, shift_with(&scene, none, scene.far, in, out), bad, "OUT ends beyond memory");
    expect(comm, shift_with(&scene, scene.far, none, in, out), bad, "IN ends beyond memory");
    expect(comm, shift_with(&scene, steps, steps, in, in), bad,
           "elements of OUT (bytes 0 to 4) and of IN (0 to 4) overlap");
    expect(comm, shift_with(&scene, steps, none, in, in + 9), bad,
           "elements of OUT (bytes 0 to 16) and of IN (36 to 40) overlap");
    expect(comm, shift_with(&scene, none, steps, in + 9, in + 3), bad,
           "elements of OUT (bytes 24 to 28) and of IN (0 to 16) overlap");
    expect(comm, shift_with(&scene, steps, none, NULL, out), bad, "no input buffer");
    expect(comm, shift_with(&scene, none, steps, in, NULL), bad, "no output buffer");
    /* Beside each other, and what is sent twice. */
    CHECK_OK(cohort_await(shift_with(&scene, steps, steps, in + 1, in)));
    CHECK_OK(cohort_await(shift_with(&scene, steps, none, in, in + 10)));
    CHECK_OK(cohort_await(shift_with(&scene, none, steps, in + 10, in)));
    CHECK_OK(cohort_await(shift_with(&scene, scene.twice, none, in, out)));
    /* The same shape again, where it overlaps. */
    expect(comm, shift_with(&scene, steps, steps, in + 3, in), bad, "overlap");

    /* Calls, and buffers, that have no layout. */
    bool is_root = cohort_comm_this_site(comm) == 0;
    if (scene.is_wrong)
        lay(comm, none, steps);
    expect(comm,
           is_root ? cohort_gather_here(comm, in, out, COUNT, COHORT_INT32, 100)
                   : cohort_gather_there(comm, in, COUNT, COHORT_INT32, 100),
           bad, "the option out_layout, but this has no OUT");
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm,
           is_root ? cohort_broadcast_to(comm, in, COUNT, COHORT_INT32, 101)
                   : cohort_broadcast_from(comm, in, COUNT, COHORT_INT32, 101),
           bad, "the option in_layout, but this has no IN");
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm,
           cohort_all_reduce(comm, COHORT_IN_PLACE, out, COUNT, COHORT_INT32, COHORT_SUM, 102), bad,
           "the option in_layout, but IN is in place");
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm, cohort_barrier(comm, 103), bad,
           "the option in_layout, but this moves no elements");
    if (scene.is_wrong)
        lay(comm, none, steps);
    expect(comm, cohort_exchange(comm, NULL, NULL, 0, NULL, NULL, 0, COHORT_INT32, 104), bad,
           "the option out_layout, but cohort_exchange_layouts has a layout for each block");
    const size_t counts[] = {1, 1};
    const cohort_datatype types[] = {COHORT_INT32, COHORT_INT32};
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm, cohort_all_to_allw(comm, in, counts, NULL, types, out, counts, NULL, types, 105),
           bad, "each block has a datatype of its own");
    cohort_object object = {0}, objects[2];
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm, cohort_all_gather_objects(comm, &object, objects, 106), bad, "moves no elements");
    cohort_objects_fini(objects, 2);
    cohort_comm *part = NULL;
    if (scene.is_wrong)
        lay(comm, steps, none);
    expect(comm, cohort_comm_split(&part, comm, 0, 0, 107), bad, "moves no elements");
    cohort_comm_unref(part);
    /* It is told in an agreement, too, with futures of rows. */
    cohort_future *rows[2] = {NULL};
    CHECK_OK(cohort_comm_next_call(
        comm, &(cohort_call_options){.check_asymmetric = true,
                                     .ret_rows = rows,
                                     .out_layout = scene.is_wrong ? scene.steps : NULL}));
    cohort_future *future = cohort_all_gather(comm, in, out, COUNT, COHORT_INT32, 108);
    for (int i = 0; i < 2; i++) {
        CHECK(rows[i]);
        CHECK_INT(cohort_await(rows[i]), bad);
    }
    CHECK_INT(cohort_await(future), bad);
    /* The options are for one call. */
    CHECK_OK(cohort_await(cohort_barrier(comm, 109)));
    scene_fini(&scene);
    return COHORT_OK;
}

/* The same bytes as before, of other elements, which makes other places of them. */
TEST_SITE(other_elements, run_all(2, site))
{
    const size_t of_4[2] = {10, 10}, of_8[2] = {5, 5};
    cohort_layout *steps = vector(100, 1, 2);
    unsigned char *memory = calloc(1, 4096);
    lay(comm, steps, steps);
    CHECK_OK(
        cohort_await(cohort_all_gatherv(comm, memory + 4, memory, of_4, NULL, COHORT_INT32, 1)));
    lay(comm, steps, steps);
    CHECK_FAILS(
        cohort_await(cohort_all_gatherv(comm, memory + 4, memory, of_8, NULL, COHORT_INT64, 2)),
        COHORT_ERR_BAD_PARAMETER, "OUT (bytes 0 to 8) and of IN (0 to 8) overlap");
    cohort_layout_unref(steps);
    free(memory);
}

TEST_CALL(wrong, run_all(2, wrong))

/* Only the datatype and the number are compared. */
TEST_SITE(differs, run_all(2, site))
{
    bool is_root = cohort_comm_this_site(comm) == 0;
    struct scene scene;
    scene_init(&scene, comm);
    cohort_layout *few = vector(COUNT / 2, 1, 2), *pairs = vector(2, COUNT, COUNT + 1);
    const size_t counts[] = {COUNT, COUNT};
    lay(comm, is_root ? NULL : few, is_root ? pairs : NULL);
    cohort_status status =
        cohort_await(is_root ? cohort_gatherv_here(comm, scene.in, COUNT, scene.out, counts, NULL,
                                                   COHORT_INT32, 1)
                             : cohort_gatherv_there(comm, scene.in, COUNT / 2, COHORT_INT32, 1));
    CHECK(status == COHORT_ERR_MISMATCH || !is_root);
    if (is_root)
        CHECK_CONTAINS(cohort_error_message(), "site 1 sent 8 bytes where 16 were expected");
    lay(comm, is_root ? scene.steps : few, is_root ? scene.steps : few);
    CHECK_FAILS(
        cohort_await(cohort_all_reduce(comm, scene.in, scene.out, is_root ? COUNT : COUNT / 2,
                                       COHORT_INT32, COHORT_SUM, 2)),
        COHORT_ERR_MISMATCH, "site 1 called all_reduce");
    CHECK_CONTAINS(cohort_error_message(), "2 int32");
    lay(comm, scene.steps, NULL);
    CHECK_FAILS(
        cohort_await(cohort_all_reduce(comm, scene.in, scene.out, COUNT,
                                       is_root ? COHORT_INT32 : COHORT_FLOAT, COHORT_SUM, 3)),
        COHORT_ERR_MISMATCH, "4 float");
    cohort_layout_unref(few);
    cohort_layout_unref(pairs);
    scene_fini(&scene);
}

/* What is packed counts. */
static cohort_status budget(cohort_comm *comm, void *arg)
{
    struct scene scene;
    scene_init(&scene, comm);
    CHECK_OK(cohort_await(shift_with(&scene, scene.steps, NULL, scene.in, scene.out)));
    expect(comm, shift_with(&scene, scene.steps, scene.steps, scene.in, scene.out),
           COHORT_ERR_NO_MEMORY, "of which 32 are for its layouts; the budget is 31");
    scene_fini(&scene);
    return COHORT_OK;
}

TEST(budget)
{
    const cohort_comm_options options = {
        .num_sites = 2, .memory_budget = 31, .algorithms = "shift=direct"};
    run(1, &options, budget);
    run(2, &options, budget);
}

/* Numbers that no memory has room for, and no datatype. */
TEST_SITE(huge, run_all(2, site))
{
    const cohort_status bad = COHORT_ERR_BAD_PARAMETER;
    const bool is_root = cohort_comm_this_site(comm) == 0;
    const size_t counts[] = {1, 1};
    int64_t array[8] = {0};
    /* The first element again and again: 2^64 bytes. */
    cohort_layout *same = vector((size_t)1 << 61, 1, 0), *steps = vector(COUNT, 1, 2);
    if (!is_root)
        lay(comm, same, NULL);
    expect(comm,
           cohort_all_to_allv(comm, array, counts, NULL, is_root ? array + 4 : array, counts, NULL,
                              COHORT_INT64, 1),
           bad, "the layout of IN ends beyond memory");
    if (!is_root)
        lay(comm, steps, NULL);
    expect(comm,
           is_root ? cohort_gatherv_here(comm, array, 1, array + 4, counts, NULL, COHORT_INT64, 2)
                   : cohort_gatherv_there(comm, array, COUNT, 0, 2),
           bad, "0 is no datatype");
    /* Each buffer by itself could be in memory, but not both: this takes no memory at all. */
    const cohort_layout_block blocks[] = {{0, 1}, {2, PTRDIFF_MAX - 3}};
    const size_t most[] = {PTRDIFF_MAX - 3, 1};
    cohort_layout *far, *first = vector(PTRDIFF_MAX - 2, 1, 0);
    CHECK_OK(cohort_layout_create_blocks(&far, blocks, 2));
    if (!is_root)
        lay(comm, first, far);
    const size_t *num = is_root ? counts : most;
    expect(comm, cohort_all_to_allv(comm, array, num, NULL, array + 4, num, NULL, COHORT_INT8, 3),
           COHORT_ERR_NO_MEMORY, "no memory for packing 18446744073709551610 bytes");
    /* More than anyone could receive. */
    cohort_layout *more = vector((size_t)1 << 50, 1, 0);
    const cohort_layout_neighbour to = {0, 0, more}, from = {1, 0, steps};
    expect(
        comm,
        cohort_exchange_layouts(comm, array, &to, !is_root, array, &from, is_root, COHORT_INT8, 4),
        COHORT_ERR_NO_MEMORY, "cohort_exchange_layouts: plan exchange_linear at site 1");
    cohort_layout_unref(more);
    cohort_layout_unref(same);
    cohort_layout_unref(steps);
    cohort_layout_unref(first);
    cohort_layout_unref(far);
}
