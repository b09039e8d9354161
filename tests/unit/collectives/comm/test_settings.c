/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/settings.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "runtime/proc/registry.h"
#include "tests/support/test.h"

static cohort_status read_with(const char *value, struct cohort__comm_settings *ret_settings)
{
    if (value)
        setenv("COHORT_CHECK_ASYMMETRIC", value, 1);
    else
        unsetenv("COHORT_CHECK_ASYMMETRIC");
    return cohort__comm_settings_read(ret_settings);
}

TEST(environment)
{
    static const char *const wrong[] = {"yes", "2", "01", "1 ", "true", "-1"};
    struct cohort__comm_settings settings;
    CHECK_OK(read_with(NULL, &settings));
    CHECK(!settings.check_asymmetric);
    CHECK_OK(read_with("1", &settings));
    CHECK(settings.check_asymmetric);
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        CHECK_FAILS(read_with(wrong[i], &settings), COHORT_ERR_BAD_PARAMETER,
                    "COHORT_CHECK_ASYMMETRIC is \"");
        CHECK_CONTAINS(cohort_error_message(), wrong[i]);
        CHECK(settings.check_asymmetric); /* untouched */
    }
    CHECK_OK(read_with("0", &settings));
    CHECK(!settings.check_asymmetric);
    CHECK_OK(read_with("", &settings));
    CHECK(!settings.check_asymmetric);
}

TEST(round_trip)
{
    for (int on = 0; on < 2; on++) {
        struct cohort__comm_settings settings = {.check_asymmetric = on}, back;
        struct cohort__packer packer = {0};
        memset(&back, 0xff, sizeof(back));
        cohort__comm_settings_pack(&settings, &packer);
        CHECK_OK(packer.status);
        CHECK(packer.bytes <= COHORT__SETTINGS_BYTES_MAX);
        CHECK_OK(cohort__comm_settings_unpack(&back, packer.data, packer.bytes, "x"));
        CHECK_INT(back.check_asymmetric, on);
        for (size_t bytes = 0; bytes < packer.bytes; bytes++)
            CHECK_INT(cohort__comm_settings_unpack(&back, packer.data, bytes, "x"),
                      COHORT_ERR_PROTOCOL);
        cohort__packer_fini(&packer);
    }
}

TEST(malformed)
{
    struct cohort__comm_settings settings;
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 1);
    cohort__pack_field_unsigned(&packer, "check_asymmetric", 1);
    CHECK_INT(cohort__comm_settings_unpack(&settings, packer.data, packer.bytes, "mine"),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "settings of communicator \"mine\": field "
                                       "'check_asymmetric' is an unsigned number, not a truth "
                                       "value");
    CHECK_INT(cohort__comm_settings_unpack(&settings, "\x03", 1, "mine"), COHORT_ERR_PROTOCOL);
    CHECK_FAILS(cohort__comm_settings_unpack(&settings, NULL, 0, "mine"), COHORT_ERR_PROTOCOL,
                "settings of communicator \"mine\"");
    cohort__packer_fini(&packer);
}

/* Any bytes are either accepted or refused with a message. They are in memory of exactly their
 * size, for the sanitizers. */
TEST(random_bytes)
{
    struct cohort__random random = cohort__random_seeded(1);
    for (int i = 0; i < 20000; i++) {
        struct cohort__comm_settings settings = {.check_asymmetric = i % 2};
        struct cohort__packer packer = {0};
        cohort__comm_settings_pack(&settings, &packer);
        CHECK_OK(packer.status);
        for (uint64_t k = cohort__random_below(&random, 4); k > 0; k--)
            packer.data[cohort__random_below(&random, packer.bytes)] ^=
                (unsigned char)(1u << cohort__random_below(&random, 8));
        unsigned char *exact = test_malloc(packer.bytes);
        memcpy(exact, packer.data, packer.bytes);
        cohort_status status =
            cohort__comm_settings_unpack(&settings, exact, packer.bytes, "random");
        CHECK(!status || (status == COHORT_ERR_PROTOCOL && cohort_error_message()[0]));
        free(exact);
        cohort__packer_fini(&packer);
    }
}
