/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/number.h"

#include "tests/support/test.h"

TEST(numbers)
{
    uint64_t number;
    CHECK(number_parse("0", 0, 9, &number));
    CHECK_INT(number, 0);
    CHECK(number_parse("007", 1, 7, &number));
    CHECK_INT(number, 7);
    CHECK(number_parse("18446744073709551615", 0, UINT64_MAX, &number));
    CHECK(number == UINT64_MAX);
}

TEST(no_numbers)
{
    static const char *const texts[] = {"",    " 5",
                                        "5 ",  "+5",
                                        "-5",  "5x",
                                        "0x5", "5.",
                                        "1e1", "18446744073709551616",
                                        "\n5", "3",
                                        "9",   "99999999999999999999999"};
    uint64_t number = 77;
    for (size_t i = 0; i < NUM_OF(texts); i++)
        CHECK(!number_parse(texts[i], 4, 8, &number));
    CHECK_INT(number, 77);
}
