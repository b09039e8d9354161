/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/likeness.h"

#include "tests/support/test.h"

TEST(distance)
{
    CHECK_INT(likeness_distance("", "", 9), 0);
    CHECK_INT(likeness_distance("halo", "", 9), 4);
    CHECK_INT(likeness_distance("", "halo", 9), 4);
    CHECK_INT(likeness_distance("halo", "halo", 9), 0);
    CHECK_INT(likeness_distance("halo", "hallo", 9), 1);
    CHECK_INT(likeness_distance("hallo", "halo", 9), 1);
    CHECK_INT(likeness_distance("halo", "hello", 9), 2);
    CHECK_INT(likeness_distance("halo", "hlao", 9), 1); /* two that are swapped */
    CHECK_INT(likeness_distance("halo", "ahol", 9), 2);
    CHECK_INT(likeness_distance("tranpose", "transpose", 9), 1);
    CHECK_INT(likeness_distance("kitten", "sitting", 9), 3);
    CHECK_INT(likeness_distance("kitten", "sitting", 2), 2); /* no more than MORE */
}

/* Names may have any length; only 255 bytes count. */
TEST(long)
{
    char left[600], right[600];
    for (int i = 0; i < 599; i++)
        left[i] = right[i] = 'a';
    left[599] = right[599] = '\0';
    right[300] = 'b';
    CHECK_INT(likeness_distance(left, right, 9), 0);
    right[254] = 'b';
    CHECK_INT(likeness_distance(left, right, 9), 1);
}

TEST(close)
{
    CHECK(likeness_is_close("tranpose", "transpose"));
    CHECK(likeness_is_close("transpose", "tranpsoe"));
    CHECK(likeness_is_close("Halo", "ha lo")); /* case and blanks, even in a short one */
    CHECK(likeness_is_close("a b", "AB"));
    CHECK(!likeness_is_close("halo", "halo"));
    CHECK(!likeness_is_close("halo", "gala"));   /* two letters of four */
    CHECK(!likeness_is_close("row", "col"));     /* all of it */
    CHECK(!likeness_is_close("abc", "abd"));     /* one of three is a third */
    CHECK(likeness_is_close("abcd", "abce"));    /* one of four is less */
    CHECK(!likeness_is_close("row 1", "row 2")); /* numbers are meant to differ */
    CHECK(!likeness_is_close("row 9", "row 10"));
    CHECK(likeness_is_close("rows 1", "rowz 1"));
    CHECK(!likeness_is_close("transpose", "tra"));
}
