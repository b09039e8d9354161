/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/signal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "examples/share.h"

enum { CHART_COLUMNS = 72, CHART_ROWS = 12, NUM_WAVES = 3 };

/* A number from 0 to 1, the same for the same I. */
static double noise(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15;
    i = (i ^ (i >> 31)) * 0xbf58476d1ce4e5b9;
    return (double)(i >> 11) / (double)(1ULL << 53);
}

double signal_value(size_t i, size_t n)
{
    double level = 2 * NUM_WAVES * i / n % 2 ? 0.75 : 0.25;
    return level + 0.4 * (noise(i) - 0.5);
}

double signal_weight(size_t row, size_t column, size_t n)
{
    double width = 1 + (double)n / 60;
    double distance = ((double)row - (double)column) / width;
    return exp(-distance * distance / 2) / (width * sqrt(2 * M_PI));
}

/* The row, from the top, of a value from 0 to 1. */
static size_t chart_row(double value)
{
    double row = (1 - value) * (CHART_ROWS - 1) + 0.5;
    return row <= 0 ? 0 : row >= CHART_ROWS - 1 ? CHART_ROWS - 1 : (size_t)row;
}

static double mean(const double *values, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += values[i];
    return sum / (double)(end - begin);
}

void signal_print(const double *before, const double *after, size_t n)
{
    char chart[CHART_ROWS][CHART_COLUMNS + 1] = {{0}};
    size_t columns = n < CHART_COLUMNS ? n : CHART_COLUMNS;
    for (size_t row = 0; row < CHART_ROWS; row++)
        memset(chart[row], ' ', columns);
    for (size_t column = 0; column < columns; column++) {
        size_t begin = share_begin(n, columns, column);
        size_t end = share_begin(n, columns, column + 1);
        /* Before: one value of the column, so that the noise is seen. */
        chart[chart_row(before[begin])][column] = '.';
        chart[chart_row(mean(after, begin, end))][column] = '*';
    }
    for (size_t row = 0; row < CHART_ROWS; row++)
        printf("  |%s\n", chart[row]);
}
