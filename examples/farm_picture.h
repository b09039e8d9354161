/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FARM_PICTURE_H
#define COHORT_EXAMPLES_FARM_PICTURE_H

#include <stdint.h>

#include <cohort/cohort.h>

/* A picture of the Mandelbrot set, of farm_picture_width columns and two rows for three of them. It
 * is cut into strips of some rows. Those in the middle take much longer than the others. */

enum { FARM_PICTURE_STRIP_ROWS = 4 };

extern uint32_t farm_picture_width, farm_picture_iterations;

uint32_t farm_picture_height(void);
uint32_t farm_picture_num_strips(void);

/* The last one may have fewer than the others. */
uint32_t farm_picture_num_rows(uint32_t strip);

/* Writes a byte for each sample of STRIP to RET_SAMPLES, row by row. Lets others run now and then.
 * COHORT_ERR_CANCELLED if the scope of the task is cancelled. */
cohort_status farm_picture_draw(uint32_t strip, uint8_t *ret_samples);

#endif
