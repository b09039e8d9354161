/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/farm_picture.h"

enum { WHITE = 255, ROUND = 16 };

uint32_t farm_picture_width = 192, farm_picture_iterations = 1000;

uint32_t farm_picture_height(void)
{
    return (farm_picture_width * 2 + 2) / 3;
}

uint32_t farm_picture_num_strips(void)
{
    return (farm_picture_height() + FARM_PICTURE_STRIP_ROWS - 1) / FARM_PICTURE_STRIP_ROWS;
}

uint32_t farm_picture_num_rows(uint32_t strip)
{
    uint32_t left = farm_picture_height() - strip * FARM_PICTURE_STRIP_ROWS;
    return left < FARM_PICTURE_STRIP_ROWS ? left : FARM_PICTURE_STRIP_ROWS;
}

/* How long the point stays near: white is for ever. */
static uint8_t sample(uint32_t row, uint32_t column)
{
    double real = -2.25 + 3.0 * (column + 0.5) / farm_picture_width;
    double imaginary = -1.0 + 2.0 * (row + 0.5) / farm_picture_height();
    double x = 0, y = 0;
    for (uint32_t i = 0; i < farm_picture_iterations; i++) {
        double next = x * x - y * y + real;
        y = 2 * x * y + imaginary;
        x = next;
        if (x * x + y * y > 4)
            return (uint8_t)(i % WHITE);
    }
    return WHITE;
}

cohort_status farm_picture_draw(uint32_t strip, uint8_t *ret_samples)
{
    for (uint32_t i = 0; i < farm_picture_num_rows(strip); i++)
        for (uint32_t column = 0; column < farm_picture_width; column++) {
            *ret_samples++ = sample(strip * FARM_PICTURE_STRIP_ROWS + i, column);
            if (column % ROUND == 0)
                cohort_yield();
            if (cohort_cancelled())
                return cohort_fail(COHORT_ERR_CANCELLED, "strip %u is not drawn", (unsigned)strip);
        }
    return COHORT_OK;
}
