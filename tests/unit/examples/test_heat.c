/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/heat.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct heat make(size_t column, size_t row, size_t width, size_t height)
{
    struct heat heat = {.width = width, .height = height};
    heat.cells = test_calloc(heat_cells(width, height), sizeof(double));
    heat_start(&heat, column, row, 9, 7);
    return heat;
}

/* One hot cell gives a fifth to each neighbour and keeps a fifth. */
TEST(step)
{
    struct heat now = make(0, 0, 9, 7);
    struct heat next = make(0, 0, 9, 7);
    memset(now.cells, 0, heat_cells(9, 7) * sizeof(double));
    heat_row(&now, 3)[4] = 1;
    heat_step(&now, &next, 1, 7, 1, 9);
    for (size_t row = 1; row <= 7; row++)
        for (size_t x = 1; x <= 9; x++) {
            int distance = abs((int)row - 3) + abs((int)x - 4);
            double want = distance <= 1 ? 0.2 : 0;
            double error = heat_row(&next, row)[x] - want;
            CHECK(error < 1e-15 && error > -1e-15);
        }
    free(now.cells);
    free(next.cells);
}

/* A part of the plate begins with the values that the plate has there, including its border. */
TEST(part)
{
    struct heat plate = make(0, 0, 9, 7);
    struct heat part = make(3, 2, 4, 3);
    for (size_t row = 0; row < 5; row++)
        CHECK(memcmp(heat_row(&part, row), heat_row(&plate, 2 + row) + 3, 6 * sizeof(double)) == 0);
    free(plate.cells);
    free(part.cells);
}
