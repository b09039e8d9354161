/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_HEAT_H
#define COHORT_EXAMPLES_HEAT_H

#include <stddef.h>

/* Temperatures, from 0 to 1, on a plate of cells, and how they change. */

/* A rectangle of WIDTH x HEIGHT cells, with a border of one cell around it: row 0 and column 0 are
 * border. */
struct heat {
    size_t width;
    size_t height;
    double *cells; /* (height + 2) x (width + 2) */
};

/* How many cells it takes with the border. */
size_t heat_cells(size_t width, size_t height);

double *heat_row(const struct heat *heat, size_t row);

/* Sets a rectangle and its border to the temperatures at the start. Its first cell is in COLUMN and
 * ROW of a plate of WIDTH x HEIGHT, which has a hot edge, which stays hot, and a hot ring. */
void heat_start(struct heat *heat, size_t column, size_t row, size_t width, size_t height);

/* Computes a step of time, from NOW to NEXT, for the cells in rows FIRST_ROW .. LAST_ROW and
 * columns FIRST_COLUMN .. LAST_COLUMN. In NOW their neighbours have to be valid. Each cell depends
 * only on these five, so it has the same bits whatever rectangles the plate is cut into. */
void heat_step(const struct heat *now, struct heat *next, size_t first_row, size_t last_row,
               size_t first_column, size_t last_column);

#endif
