/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/tile.h"

#include <math.h>

/* From -1 to 1, the same for (I, J) and (J, I). */
static double noise(uint64_t i, uint64_t j, uint64_t seed)
{
    uint64_t z = (seed << 48) + ((i < j ? i : j) << 24) + (i < j ? j : i) + 1;
    z *= 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    return (double)(z >> 11) / (double)(1ULL << 52) - 1;
}

/* The diagonal is greater than the sum of all other elements of its row. */
void tile_make(struct tile *tile, uint32_t row, uint32_t column, uint32_t num, uint32_t seed)
{
    for (uint64_t i = 0; i < TILE_WIDTH; i++)
        for (uint64_t j = 0; j < TILE_WIDTH; j++) {
            uint64_t y = (uint64_t)row * TILE_WIDTH + i, x = (uint64_t)column * TILE_WIDTH + j;
            tile->at[i][j] = noise(y, x, seed) + (y == x ? (double)num * TILE_WIDTH + 1 : 0);
        }
}

bool tile_factor(struct tile *a)
{
    for (int j = 0; j < TILE_WIDTH; j++) {
        double square = a->at[j][j];
        for (int k = 0; k < j; k++)
            square -= a->at[j][k] * a->at[j][k];
        if (!(square > 0))
            return false;
        a->at[j][j] = sqrt(square);
        for (int i = j + 1; i < TILE_WIDTH; i++) {
            double sum = a->at[i][j];
            for (int k = 0; k < j; k++)
                sum -= a->at[i][k] * a->at[j][k];
            a->at[i][j] = sum / a->at[j][j];
        }
        for (int i = 0; i < j; i++)
            a->at[i][j] = 0;
    }
    return true;
}

void tile_solve(struct tile *b, const struct tile *l)
{
    for (int i = 0; i < TILE_WIDTH; i++)
        for (int j = 0; j < TILE_WIDTH; j++) {
            double sum = b->at[i][j];
            for (int k = 0; k < j; k++)
                sum -= b->at[i][k] * l->at[j][k];
            b->at[i][j] = sum / l->at[j][j];
        }
}

void tile_subtract(struct tile *c, const struct tile *a, const struct tile *b)
{
    for (int i = 0; i < TILE_WIDTH; i++)
        for (int j = 0; j < TILE_WIDTH; j++) {
            double sum = c->at[i][j];
            for (int k = 0; k < TILE_WIDTH; k++)
                sum -= a->at[i][k] * b->at[j][k];
            c->at[i][j] = sum;
        }
}

double tile_greatest(const struct tile *tile)
{
    double greatest = 0;
    for (int i = 0; i < TILE_WIDTH; i++)
        for (int j = 0; j < TILE_WIDTH; j++)
            greatest = fmax(greatest, fabs(tile->at[i][j]));
    return greatest;
}
