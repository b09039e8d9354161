/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/message.h"

#include <string.h>

#include "runtime/wire/pack.h"
#include "tests/support/test.h"

enum { SIZE = 4 };

static cohort_status check(enum cohort__kind kind, uint32_t tag, uint32_t span, uint32_t bytes)
{
    return cohort__remote_message_check(
        &(struct cohort__envelope){
            .kind = kind, .tag = tag, .dest_site = span, .payload_bytes = bytes},
        SIZE);
}

TEST(right)
{
    CHECK_OK(check(COHORT__KIND_DATA, COHORT__REMOTE_CALL, 1, 0));
    CHECK_OK(check(COHORT__KIND_ANNOUNCE, COHORT__REMOTE_CALL, SIZE - 1, 40));
    CHECK_OK(check(COHORT__KIND_DATA, COHORT__REMOTE_RESULT, 0, 9));
    CHECK_OK(check(COHORT__KIND_ANNOUNCE, COHORT__REMOTE_RESULT, 0, 40));
    CHECK_OK(check(COHORT__KIND_ERROR, COHORT__REMOTE_RESULT, 0, 9));
    CHECK_OK(check(COHORT__KIND_ANSWER, COHORT__REMOTE_ADMITTED, 0, 0));
    CHECK_OK(check(COHORT__KIND_DATA, COHORT__REMOTE_SCOPED_CALL, 1, 0));
    CHECK_OK(check(COHORT__KIND_ANSWER, COHORT__REMOTE_CANCEL, 0, 0));
    CHECK_OK(check(COHORT__KIND_ANSWER, COHORT__REMOTE_UNKNOWN, 0, 0));
}

TEST(wrong_kind)
{
    CHECK_FAILS(check(COHORT__KIND_ERROR, COHORT__REMOTE_CALL, 1, 1), COHORT_ERR_PROTOCOL,
                "of kind ERROR");
    CHECK_INT(check(COHORT__KIND_ASK, COHORT__REMOTE_RESULT, 0, 0), COHORT_ERR_PROTOCOL);
    CHECK_INT(check(COHORT__KIND_DATA, COHORT__REMOTE_ADMITTED, 0, 0), COHORT_ERR_PROTOCOL);
    CHECK_INT(check(COHORT__KIND_ANSWER, COHORT__REMOTE_ADMITTED, 0, 1), COHORT_ERR_PROTOCOL);
    CHECK_INT(check(COHORT__KIND_DATA, 0, 1, 0), COHORT_ERR_PROTOCOL);
    CHECK_INT(check(COHORT__KIND_DATA, COHORT__REMOTE_NUM_TAGS, 1, 0), COHORT_ERR_PROTOCOL);
}

TEST(wrong_span)
{
    CHECK_INT(check(COHORT__KIND_DATA, COHORT__REMOTE_CALL, 0, 0), COHORT_ERR_PROTOCOL);
    CHECK_FAILS(check(COHORT__KIND_DATA, COHORT__REMOTE_CALL, SIZE, 0), COHORT_ERR_PROTOCOL,
                "for 4 other localities of 4");
    CHECK_INT(check(COHORT__KIND_DATA, COHORT__REMOTE_CALL, UINT32_MAX, 0), COHORT_ERR_PROTOCOL);
    CHECK_INT(check(COHORT__KIND_DATA, COHORT__REMOTE_SCOPED_CALL, 0, 0), COHORT_ERR_PROTOCOL);
}

TEST(error)
{
    struct cohort__error error = {0}, got = {0};
    struct cohort__packer packer = {0};
    cohort__error_set(&error, COHORT_ERR_MISMATCH, "row %d is not there", 7);
    cohort__remote_error_pack(&packer, &error);
    CHECK_OK(packer.status);
    cohort__remote_error_unpack(packer.data, packer.bytes, &got);
    CHECK_INT(got.status, COHORT_ERR_MISMATCH);
    CHECK_TEXT(cohort__error_message(&got), "row 7 is not there");
    for (size_t bytes = 0; bytes < packer.bytes; bytes++) { /* cut off */
        cohort__remote_error_unpack(packer.data, bytes, &got);
        CHECK_INT(got.status, COHORT_ERR_PROTOCOL);
    }
    cohort__packer_fini(&packer);
    cohort__error_fini(&error);
    cohort__error_fini(&got);
}

/* An error that says that all is well, and one that no status can be. */
TEST(wrong_status)
{
    static const int64_t numbers[] = {0, INT64_MIN, INT64_C(1) << 40};
    for (size_t i = 0; i < NUM_OF(numbers); i++) {
        struct cohort__error got = {0};
        struct cohort__packer packer = {0};
        cohort__pack_map(&packer, 2);
        cohort__pack_field_signed(&packer, "status", numbers[i]);
        cohort__pack_field_text(&packer, "text", "because");
        cohort__remote_error_unpack(packer.data, packer.bytes, &got);
        CHECK_INT(got.status, COHORT_ERR_PROTOCOL);
        CHECK_CONTAINS(cohort__error_message(&got), "an error with status");
        cohort__packer_fini(&packer);
        cohort__error_fini(&got);
    }
}
