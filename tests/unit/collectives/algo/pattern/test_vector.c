/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/vector.h"
#include "tests/support/test.h"

static void check_pieces(size_t bytes, size_t element, uint32_t num_pieces)
{
    size_t before = SIZE_MAX;
    CHECK_INT(cohort__cut(bytes, element, num_pieces, 0), 0);
    CHECK_INT(cohort__cut(bytes, element, num_pieces, num_pieces), bytes);
    for (uint32_t i = 0; i < num_pieces; i++) {
        size_t piece = cohort__cut_bytes(bytes, element, num_pieces, i, 1);
        size_t unit = element > 0 ? element : 1;
        CHECK_INT(piece % unit, 0);
        CHECK(piece <= before);
        CHECK(i == 0 || cohort__cut_bytes(bytes, element, num_pieces, 0, 1) - piece <= unit);
        before = piece;
    }
}

TEST(pieces)
{
    for (uint32_t num_pieces = 1; num_pieces <= 17; num_pieces++)
        for (size_t element = 0; element <= 24; element += 8)
            for (size_t count = 0; count <= 40; count++)
                check_pieces(count * (element > 0 ? element : 1), element, num_pieces);
}

/* No intermediate result overflows. */
TEST(large)
{
    size_t bytes = SIZE_MAX / 8 * 8;
    CHECK(cohort__cut(bytes, 8, UINT32_MAX, UINT32_MAX) == bytes);
    CHECK(cohort__cut(bytes, 8, 4, 2) == (size_t)1 << 63);
}
