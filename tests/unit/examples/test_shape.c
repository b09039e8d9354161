/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/shape.h"

#include <stdbool.h>

#include "tests/support/test.h"

static bool has(const struct shape_columns *columns, unsigned column)
{
    for (unsigned i = 0; i < columns->num; i++)
        if (columns->columns[i] == column)
            return true;
    return false;
}

/* A column is an output of each of its inputs, and of no other one. */
TEST(outputs)
{
    for (unsigned i = 0; shape_names[i]; i++) {
        struct shape shape;
        shape_init(&shape, shape_names[i]);
        CHECK(shape.num_sets >= 1 && shape.num_sets <= SHAPE_MAX_SETS);
        for (unsigned step = 1; step <= shape.num_sets; step++)
            for (unsigned a = 0; a < SHAPE_WIDTH; a++)
                for (unsigned b = 0; b < SHAPE_WIDTH; b++) {
                    const struct shape_set *set = shape_set(&shape, step);
                    CHECK(set->inputs[a].num > 0);
                    CHECK_INT(has(&set->inputs[a], b), has(&set->outputs[b], a));
                }
    }
}

static void check_inputs(const char *name, unsigned step, unsigned column, unsigned num,
                         const unsigned *want)
{
    struct shape shape;
    shape_init(&shape, name);
    const struct shape_columns *inputs = &shape_set(&shape, step)->inputs[column];
    CHECK_INT(inputs->num, num);
    for (unsigned i = 0; i < num; i++)
        CHECK_INT(inputs->columns[i], want[i]);
}

TEST(inputs)
{
    check_inputs("stencil", 1, 0, 2, (const unsigned[]){0, 1});
    check_inputs("stencil", 9, 30, 3, (const unsigned[]){29, 30, 31});
    check_inputs("nearest", 1, 1, 4, (const unsigned[]){0, 1, 2, 3});
    check_inputs("fft", 1, 5, 3, (const unsigned[]){3, 5, 7});
    check_inputs("fft", 5, 0, 2, (const unsigned[]){0, 1});
    check_inputs("tree", 3, 31, 1, (const unsigned[]){15});
    check_inputs("all_to_all", 1, 4, 32,
                 (const unsigned[]){0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31});
}

/* Some of the neighbours, other ones in other steps, and always the column itself. */
TEST(random)
{
    struct shape shape;
    unsigned num = 0;
    shape_init(&shape, "random");
    for (unsigned step = 0; step < shape.num_sets; step++)
        for (unsigned column = 0; column < SHAPE_WIDTH; column++) {
            const struct shape_columns *inputs = &shape_set(&shape, step)->inputs[column];
            CHECK(has(inputs, column));
            CHECK(inputs->num <= 5);
            num += inputs->num - 1;
        }
    CHECK(num > shape.num_sets * SHAPE_WIDTH / 2 && num < shape.num_sets * SHAPE_WIDTH * 2);
}
