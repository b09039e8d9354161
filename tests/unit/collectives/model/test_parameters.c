/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/parameters.h"

#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

TEST(ratios)
{
    CHECK(cohort__factor_ratio(0) == 1);
    CHECK(cohort__factor_ratio(16) == 2);
    CHECK(cohort__factor_ratio(-32) == 0.25);
    for (int factor = INT8_MIN; factor <= INT8_MAX; factor++)
        CHECK_INT(cohort__factor_of_ratio(cohort__factor_ratio((int8_t)factor)), factor);
    CHECK_INT(cohort__factor_of_ratio(1.02), 0);
    CHECK_INT(cohort__factor_of_ratio(1.03), 1);
    CHECK_INT(cohort__factor_of_ratio(1e9), INT8_MAX);
    CHECK_INT(cohort__factor_of_ratio(1e-9), INT8_MIN);
}

/* All values are read back, doubles bit for bit. */
TEST(encode)
{
    static struct cohort__parameters sent, got;
    static unsigned char bytes[COHORT__PARAMETERS_MAX_BYTES];
    struct cohort__random random = cohort__random_seeded(1);
    cohort__parameters_default(&sent);
    size_t small = cohort__parameters_encode(&sent, bytes);
    CHECK(small < 300);
    sent.cores = 1.0 / 3;
    for (unsigned distance = 0; distance < COHORT__NUM_DISTANCES; distance++) {
        sent.terms[distance][COHORT__TERM_STARTUP] = 1e-300 / (distance + 3);
        for (unsigned row = 0; row < COHORT__MAX_ROWS; row += 1 + distance)
            for (unsigned i = 0; i < COHORT__KNOTS; i++)
                sent.factors[distance][row][i] = (int8_t)cohort__random_below(&random, 256);
    }
    size_t used = cohort__parameters_encode(&sent, bytes);
    CHECK(used > small && used <= sizeof(bytes));
    CHECK_OK(cohort__parameters_decode(&got, bytes, used));
    CHECK(memcmp(&sent, &got, sizeof(got)) == 0);
}

TEST(nonsense)
{
    static struct cohort__parameters sent, got;
    static unsigned char bytes[COHORT__PARAMETERS_MAX_BYTES];
    cohort__parameters_default(&sent);
    sent.factors[0][3][0] = 1;
    size_t used = cohort__parameters_encode(&sent, bytes);
    CHECK_INT(cohort__parameters_decode(&got, bytes, used - 1), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__parameters_decode(&got, bytes, 0), COHORT_ERR_PROTOCOL);
    bytes[used - COHORT__KNOTS - 1] = 255;
    CHECK_FAILS(cohort__parameters_decode(&got, bytes, used), COHORT_ERR_PROTOCOL, "unknown row");
    bytes[0] = 99;
    bytes[used - COHORT__KNOTS - 1] = 3;
    CHECK_FAILS(cohort__parameters_decode(&got, bytes, used), COHORT_ERR_PROTOCOL, "version");
}
