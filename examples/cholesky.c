/* SPDX-License-Identifier: Apache-2.0 */
/* Factorises symmetric matrices, A = L L^T, tile by tile:
 *
 *     cholesky --matrices 4 --tiles 10
 *     cohortrun -n 2 cholesky
 *
 * Each step that changes a tile is a cohort_dataflow: a task that starts when the tiles that it
 * needs are ready. Nobody waits in between, so the steps of all matrices run on whichever workers
 * are free. The matrices differ in size, and cohort_when_each tells which one is done next. Each
 * locality of a job has matrices of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "examples/command.h"
#include "examples/tile.h"

enum { MOST_MATRICES = 64, MOST_TILES = 64 };

struct options {
    uint32_t matrices;
    uint32_t tiles; /* a side of the largest one */
};

struct matrix {
    uint32_t num; /* tiles a side */
    uint32_t seed;
    struct tile *tiles; /* on and below the diagonal, row by row */
};

static size_t num_tiles(uint32_t num)
{
    return (size_t)num * (num + 1) / 2;
}

static struct tile *tile_of(const struct matrix *matrix, uint32_t row, uint32_t column)
{
    return &matrix->tiles[num_tiles(row) + column];
}

static cohort_status matrix_create(struct matrix *matrix, uint32_t num, uint32_t seed)
{
    *matrix = (struct matrix){.num = num, .seed = seed};
    matrix->tiles = calloc(num_tiles(num), sizeof(*matrix->tiles));
    if (!matrix->tiles)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %zu tiles", num_tiles(num));
    for (uint32_t i = 0; i < num; i++)
        for (uint32_t j = 0; j <= i; j++)
            tile_make(tile_of(matrix, i, j), i, j, num, seed);
    return COHORT_OK;
}

/* The steps. The first input is the tile that changes, which is the value of the next future, too.
 * The others are tiles that are final. */

static cohort_status factor(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    (void)count;
    *ret_value = inputs[0];
    if (tile_factor(inputs[0]))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "a matrix of %" PRIu32 " tiles is not positive",
                       ((const struct matrix *)arg)->num);
}

static cohort_status solve(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    (void)count, (void)arg;
    tile_solve(inputs[0], inputs[1]);
    *ret_value = inputs[0];
    return COHORT_OK;
}

static cohort_status subtract(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    (void)count, (void)arg;
    tile_subtract(inputs[0], inputs[1], inputs[2]);
    *ret_value = inputs[0];
    return COHORT_OK;
}

static cohort_status whole(void *const *inputs, size_t count, void **ret_value, void *arg)
{
    (void)inputs, (void)count;
    *ret_value = arg;
    return COHORT_OK;
}

/* Starts all steps. The returned future's value is MATRIX, once it is L. The futures of the tiles
 * are in FUTURES, which has room for all. Each step takes the future of the tile that it changes
 * and puts its own there; the tiles that it reads stay there for others. */
static cohort_future *start(struct matrix *matrix, cohort_future **futures)
{
    uint32_t num = matrix->num;
    for (size_t i = 0; i < num_tiles(num); i++)
        futures[i] = cohort_future_of_value(&matrix->tiles[i]);
    for (uint32_t k = 0; k < num; k++) {
        cohort_future **diagonal = &futures[num_tiles(k) + k];
        *diagonal = cohort_dataflow(diagonal, 1, factor, matrix);
        for (uint32_t i = k + 1; i < num; i++) {
            cohort_future **tile = &futures[num_tiles(i) + k];
            cohort_future *inputs[] = {*tile, cohort_future_ref(*diagonal)};
            *tile = cohort_dataflow(inputs, 2, solve, NULL);
        }
        for (uint32_t i = k + 1; i < num; i++)
            for (uint32_t j = k + 1; j <= i; j++) {
                cohort_future **tile = &futures[num_tiles(i) + j];
                cohort_future *inputs[] = {*tile, cohort_future_ref(futures[num_tiles(i) + k]),
                                           cohort_future_ref(futures[num_tiles(j) + k])};
                *tile = cohort_dataflow(inputs, 3, subtract, NULL);
            }
    }
    return cohort_dataflow(futures, num_tiles(num), whole, matrix);
}

/* The same steps in a loop. */
static bool factorise_serially(struct matrix *matrix)
{
    uint32_t num = matrix->num;
    for (uint32_t k = 0; k < num; k++) {
        if (!tile_factor(tile_of(matrix, k, k)))
            return false;
        for (uint32_t i = k + 1; i < num; i++)
            tile_solve(tile_of(matrix, i, k), tile_of(matrix, k, k));
        for (uint32_t i = k + 1; i < num; i++)
            for (uint32_t j = k + 1; j <= i; j++)
                tile_subtract(tile_of(matrix, i, j), tile_of(matrix, i, k), tile_of(matrix, j, k));
    }
    return true;
}

/* The greatest element of A - L L^T, by that of A. */
static double residual(const struct matrix *matrix)
{
    double wrong = 0, greatest = 0;
    struct tile tile;
    for (uint32_t i = 0; i < matrix->num; i++)
        for (uint32_t j = 0; j <= i; j++) {
            tile_make(&tile, i, j, matrix->num, matrix->seed);
            double one = tile_greatest(&tile);
            greatest = one > greatest ? one : greatest;
            for (uint32_t k = 0; k <= j; k++)
                tile_subtract(&tile, tile_of(matrix, i, k), tile_of(matrix, j, k));
            one = tile_greatest(&tile);
            wrong = one > wrong ? one : wrong;
        }
    return wrong / greatest;
}

/* Every tile is changed by the same steps in the same order, so the bits are the same, too. */
static cohort_status check(const struct matrix *matrix, size_t index)
{
    struct matrix serial;
    cohort_status status = matrix_create(&serial, matrix->num, matrix->seed);
    if (status)
        return status;
    bool is_equal =
        factorise_serially(&serial) &&
        memcmp(serial.tiles, matrix->tiles, num_tiles(matrix->num) * sizeof(*serial.tiles)) == 0;
    free(serial.tiles);
    double wrong = residual(matrix);
    if (!is_equal || !(wrong < 1e-12))
        return cohort_fail(COHORT_ERR_FAILED, "matrix %zu: residual %.1e, %s a serial one", index,
                           wrong, is_equal ? "equal to" : "not equal to");
    printf("locality %" PRIu32 ": matrix %zu of %d x %d: residual %.1e, equal to a serial one, bit "
           "for bit\n",
           cohort_locality(), index, (int)matrix->num * TILE_WIDTH, (int)matrix->num * TILE_WIDTH,
           wrong);
    return COHORT_OK;
}

/* Each matrix is checked when it is done, while the others go on. */
static cohort_status check_all(cohort_future **done, size_t count)
{
    size_t indices[MOST_MATRICES];
    cohort_status status = cohort_when_each(done, count, done, indices), one;
    if (status)
        return status;
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        one = cohort_await_value(done[i], &value);
        if (!one)
            one = check(value, indices[i]);
        status = status ? status : one;
    }
    return status;
}

static cohort_status program(void *arg)
{
    static cohort_future *futures[MOST_TILES * (MOST_TILES + 1) / 2];
    const struct options *options = arg;
    struct matrix matrices[MOST_MATRICES] = {{0}};
    cohort_future *done[MOST_MATRICES] = {NULL};
    cohort_status status = COHORT_OK;
    uint32_t count = options->matrices;
    for (uint32_t i = 0; !status && i < count; i++)
        status = matrix_create(&matrices[i], i < options->tiles ? options->tiles - i : 1,
                               cohort_locality() * count + i);
    if (!status) {
        for (uint32_t i = 0; i < count; i++)
            done[i] = start(&matrices[i], futures);
        status = check_all(done, count);
    }
    for (uint32_t i = 0; i < count; i++)
        free(matrices[i].tiles);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.matrices = 4, .tiles = 8};
    const struct command_option rows[] = {
        {"matrices", "N", "in each locality; 4", .number = &options.matrices, .min = 1,
         .max = MOST_MATRICES},
        {"tiles", "N", "a side of the largest one, of 32 x 32 elements; 8",
         .number = &options.tiles, .min = 1, .max = MOST_TILES},
    };
    const struct command command = {
        .name = "cholesky",
        .about = "Factorises symmetric matrices, each smaller than the one before, tile by tile.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    return cohort_main(argc, argv, program, &options);
}
