/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/tile.h"

#include <math.h>

#include "tests/support/test.h"

TEST(symmetric)
{
    struct tile tile, other;
    tile_make(&tile, 2, 1, 3, 5);
    tile_make(&other, 1, 2, 3, 5);
    for (int i = 0; i < TILE_WIDTH; i++)
        for (int j = 0; j < TILE_WIDTH; j++)
            CHECK(tile.at[i][j] == other.at[j][i]);
    tile_make(&other, 1, 2, 3, 6);
    CHECK(tile.at[1][2] != other.at[2][1]);
}

TEST(factor)
{
    struct tile tile, l;
    tile_make(&tile, 0, 0, 1, 1);
    l = tile;
    CHECK(tile_factor(&l));
    CHECK(l.at[0][1] == 0 && l.at[3][3] > 0);
    tile_subtract(&tile, &l, &l);
    CHECK(tile_greatest(&tile) < 1e-13 * TILE_WIDTH);
    tile_make(&tile, 0, 0, 1, 1);
    tile.at[7][7] = -1;
    CHECK(!tile_factor(&tile));
}

TEST(solve)
{
    struct tile l, b, x;
    tile_make(&l, 0, 0, 2, 1);
    tile_make(&b, 1, 0, 2, 1);
    CHECK(tile_factor(&l));
    x = b;
    tile_solve(&x, &l);
    CHECK(tile_greatest(&x) > 0);
    tile_subtract(&b, &x, &l);
    CHECK(tile_greatest(&b) < 1e-14);
}
