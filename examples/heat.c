/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/heat.h"

/* In each step, a cell takes this part of the difference to its neighbours. Stable up to 1/4. */
static const double conductance = 0.2;

size_t heat_cells(size_t width, size_t height)
{
    return (width + 2) * (height + 2);
}

double *heat_row(const struct heat *heat, size_t row)
{
    return heat->cells + row * (heat->width + 2);
}

/* COLUMN and ROW count the border of the plate. They are whole numbers, so it is the same
 * everywhere. */
static double temperature(size_t column, size_t row, size_t width, size_t height)
{
    if (column == 0)
        return row * 4 > height && row * 4 < height * 3 ? 1 : 0;
    if (row == 0 || row == height + 1 || column == width + 1)
        return 0;
    size_t side = width < height ? width : height;
    long long dx = 2 * (long long)column - (long long)(width + 1);
    long long dy = 2 * (long long)row - (long long)(height + 1);
    unsigned long long distance = (unsigned long long)(dx * dx + dy * dy) * 16;
    return distance <= 9ULL * side * side && distance >= 4ULL * side * side ? 1 : 0;
}

void heat_start(struct heat *heat, size_t column, size_t row, size_t width, size_t height)
{
    for (size_t y = 0; y < heat->height + 2; y++)
        for (size_t x = 0; x < heat->width + 2; x++)
            heat_row(heat, y)[x] = temperature(column + x, row + y, width, height);
}

void heat_step(const struct heat *now, struct heat *next, size_t first_row, size_t last_row,
               size_t first_column, size_t last_column)
{
    for (size_t row = first_row; row <= last_row; row++) {
        const double *above = heat_row(now, row - 1);
        const double *here = heat_row(now, row);
        const double *below = heat_row(now, row + 1);
        double *to = heat_row(next, row);
        for (size_t x = first_column; x <= last_column; x++) {
            double around = (above[x] + below[x]) + (here[x - 1] + here[x + 1]);
            to[x] = here[x] + conductance * (around - 4 * here[x]);
        }
    }
}
