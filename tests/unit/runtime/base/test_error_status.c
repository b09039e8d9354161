/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/status.h"

#include <limits.h>

#include "tests/support/test.h"

TEST(every_status_has_name_and_text)
{
    for (int status = 0; status >= COHORT_ERR_REVOKED; status--) {
        CHECK_CONTAINS(cohort_status_name((cohort_status)status),
                       status ? "COHORT_ERR_" : "COHORT_OK");
        CHECK(cohort_status_text((cohort_status)status)[0] != '\0');
    }
    CHECK_TEXT(cohort_status_name(COHORT_ERR_MISMATCH), "COHORT_ERR_MISMATCH");
    CHECK_TEXT(cohort_status_text(COHORT_ERR_MISMATCH), "sites disagree");
    CHECK_TEXT(cohort_status_name(COHORT_ERR_FAILED), "COHORT_ERR_FAILED");
}

TEST(other_numbers)
{
    static const int numbers[] = {1, COHORT_ERR_REVOKED - 1, INT_MIN, INT_MAX};
    for (int i = 0; i < 4; i++) {
        CHECK_TEXT(cohort_status_name((cohort_status)numbers[i]), "unknown status");
        CHECK_TEXT(cohort_status_text((cohort_status)numbers[i]), "unknown status");
    }
}
