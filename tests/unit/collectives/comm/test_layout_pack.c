/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "cohort/layout.h"
#include "tests/support/test.h"

/* Packing and unpacking by the caller: what is refused, and says so. */

static void check(cohort_status status, const char *text)
{
    CHECK_INT(status, COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), text);
}

TEST(refused)
{
    cohort_layout *pairs, *huge;
    int32_t array[8] = {0}, packed[4] = {0};
    CHECK_OK(cohort_layout_create_vector(&pairs, 2, 2, 4));
    CHECK_OK(cohort_layout_create_vector(&huge, 2, 1, SIZE_MAX / 16));
    check(cohort_layout_pack(NULL, COHORT_INT32, packed, array), "cohort_layout_pack: no layout");
    check(cohort_layout_pack(pairs, 12345, packed, array), "cohort_layout_pack: no datatype");
    check(cohort_layout_pack(pairs, COHORT_INT32, NULL, array), "cohort_layout_pack: no buffer TO");
    check(cohort_layout_pack(pairs, COHORT_INT32, packed, NULL),
          "cohort_layout_pack: no buffer FROM");
    check(cohort_layout_unpack(pairs, COHORT_INT32, array, NULL),
          "cohort_layout_unpack: no buffer FROM");
    check(cohort_layout_unpack(huge, COHORT_INT64, array, packed),
          "cohort_layout_unpack: its elements are more than memory");
    CHECK_INT(cohort_layout_unpack(NULL, COHORT_INT64, array, packed), COHORT_ERR_BAD_PARAMETER);
    cohort_layout_unref(huge);
    cohort_layout_unref(pairs);
}

TEST(nothing)
{
    cohort_layout *nothing;
    CHECK_OK(cohort_layout_create_vector(&nothing, 0, 2, 4));
    CHECK_OK(cohort_layout_pack(nothing, COHORT_INT32, NULL, NULL));
    CHECK_OK(cohort_layout_unpack(nothing, COHORT_INT32, NULL, NULL));
    cohort_layout_unref(nothing);
}
