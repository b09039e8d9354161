/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

static struct cohort__packer pack_sample(void)
{
    struct cohort__packer packer = {0};
    cohort__pack_map(&packer, 6);
    cohort__pack_field_unsigned(&packer, "number", UINT64_MAX);
    cohort__pack_field_signed(&packer, "negative", INT64_MIN);
    cohort__pack_field_bool(&packer, "truth", true);
    cohort__pack_field_text(&packer, "text", "hello");
    cohort__pack_field_bytes(&packer, "bytes", "\0\1\2", 3);
    cohort__pack_text(&packer, "list");
    cohort__pack_array(&packer, 2);
    cohort__pack_unsigned(&packer, 7);
    cohort__pack_map(&packer, 0);
    CHECK_OK(packer.status);
    return packer;
}

/* Unpacks from memory of the exact size, so that the address sanitizer detects reads beyond it. */
static cohort_status unpack_exact(struct cohort__unpacked **ret, const void *data, size_t bytes,
                                  unsigned char **ret_copy)
{
    unsigned char *copy = test_malloc(bytes ? bytes : 1);
    if (bytes > 0)
        memcpy(copy, data, bytes);
    *ret_copy = copy;
    return cohort__unpack(ret, copy, bytes, "test message");
}

TEST(round_trip)
{
    struct cohort__packer packer = pack_sample();
    struct cohort__unpacked *unpacked;
    CHECK_OK(cohort__unpack(&unpacked, packer.data, packer.bytes, "sample"));
    const struct cohort__value *root = cohort__unpacked_root(unpacked);
    const struct cohort__value *list;
    uint64_t number;
    int64_t negative;
    bool truth;
    const char *text;
    const void *bytes;
    size_t size;
    uint32_t count;
    CHECK(!cohort__get_unsigned(unpacked, root, "number", UINT64_MAX, &number));
    CHECK(number == UINT64_MAX);
    CHECK(!cohort__get_signed(unpacked, root, "negative", &negative));
    CHECK(negative == INT64_MIN);
    CHECK(!cohort__get_bool(unpacked, root, "truth", &truth) && truth);
    CHECK(!cohort__get_text(unpacked, root, "text", &text, &size));
    CHECK(size == 5 && memcmp(text, "hello", 5) == 0);
    CHECK(!cohort__get_bytes(unpacked, root, "bytes", &bytes, &size));
    CHECK(size == 3 && memcmp(bytes, "\0\1\2", 3) == 0);
    CHECK(!cohort__get_array(unpacked, root, "list", &list, &count));
    CHECK_INT(count, 2);
    CHECK(!cohort__element_unsigned(unpacked, list, 0, 7, &number) && number == 7);
    const struct cohort__value *map;
    CHECK(!cohort__element_map(unpacked, list, 1, &map));
    CHECK_INT(cohort__get_unsigned(unpacked, map, "inner", 1, &number), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: field 'inner' is missing");
    cohort__unpacked_destroy(unpacked);
    cohort__packer_fini(&packer);
}

TEST(wrong_fields)
{
    struct cohort__packer packer = pack_sample();
    struct cohort__unpacked *unpacked;
    CHECK_OK(cohort__unpack(&unpacked, packer.data, packer.bytes, "sample"));
    const struct cohort__value *root = cohort__unpacked_root(unpacked);
    const struct cohort__value *list;
    uint64_t number = 42;
    int64_t negative;
    uint32_t count;
    const void *bytes;
    size_t size;
    CHECK_INT(cohort__get_unsigned(unpacked, root, "text", 9, &number), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: field 'text' is text, not an unsigned number");
    CHECK_INT(cohort__get_unsigned(unpacked, root, "number", 9, &number), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: field 'number' is out of range");
    CHECK_INT(cohort__get_unsigned(unpacked, root, "numbe", 9, &number), COHORT_ERR_PROTOCOL);
    CHECK_INT((long long)number, 42);
    bool has = false;
    CHECK(!cohort__has_field(unpacked, root, "number", &has) && has);
    CHECK(!cohort__has_field(unpacked, root, "numbe", &has) && !has);
    CHECK_INT(cohort__get_signed(unpacked, root, "number", &negative), COHORT_ERR_PROTOCOL);
    CHECK(!cohort__get_array(unpacked, root, "list", &list, &count));
    CHECK_INT(cohort__element_unsigned(unpacked, list, 2, 9, &number), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: element 2 is missing");
    CHECK_INT(cohort__element_bytes(unpacked, list, 0, &bytes, &size), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: element 0 is an unsigned number, not bytes");
    CHECK_INT(cohort__get_unsigned(unpacked, list, "number", 9, &number), COHORT_ERR_PROTOCOL);
    CHECK_INT(cohort__has_field(unpacked, list, "number", &has), COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "sample: field 'number' is missing: there is no map");
    CHECK_INT(cohort__element_unsigned(unpacked, root, 0, 9, &number), COHORT_ERR_PROTOCOL);
    cohort__unpacked_destroy(unpacked);
    cohort__packer_fini(&packer);
}

TEST(duplicate)
{
    static const unsigned char twice[] = {0x82, 0xa1, 'a', 1, 0xa1, 'a', 2};
    struct cohort__unpacked *unpacked;
    uint64_t number;
    CHECK_OK(cohort__unpack(&unpacked, twice, sizeof(twice), "twice"));
    CHECK_INT(cohort__get_unsigned(unpacked, cohort__unpacked_root(unpacked), "a", 9, &number),
              COHORT_ERR_PROTOCOL);
    CHECK_TEXT(cohort_error_message(), "twice: field 'a' is there twice");
    bool has;
    CHECK_INT(cohort__has_field(unpacked, cohort__unpacked_root(unpacked), "a", &has),
              COHORT_ERR_PROTOCOL);
    cohort__unpacked_destroy(unpacked);
}

TEST(truncated)
{
    struct cohort__packer packer = pack_sample();
    for (size_t bytes = 0; bytes < packer.bytes; bytes++) {
        struct cohort__unpacked *unpacked = NULL;
        unsigned char *copy;
        CHECK_FAILS(unpack_exact(&unpacked, packer.data, bytes, &copy), COHORT_ERR_PROTOCOL,
                    "is cut off");
        CHECK(!unpacked);
        free(copy);
    }
    cohort__pack_bool(&packer, false);
    struct cohort__unpacked *unpacked;
    CHECK_FAILS(cohort__unpack(&unpacked, packer.data, packer.bytes, "long"), COHORT_ERR_PROTOCOL,
                "has bytes behind its end");
    cohort__packer_fini(&packer);
}

static void check_refused(const void *data, size_t bytes, const char *why)
{
    struct cohort__unpacked *unpacked;
    unsigned char *copy;
    CHECK_FAILS(unpack_exact(&unpacked, data, bytes, &copy), COHORT_ERR_PROTOCOL, why);
    free(copy);
}

TEST(absurd)
{
    check_refused("\xdd\xff\xff\xff\xff\x01", 6, "is cut off"); /* 4 G elements */
    check_refused("\xdf\xff\xff\xff\xff\x01", 6, "is cut off"); /* 4 G entries */
    check_refused("\xc6\xff\xff\xff\xff\x01", 6, "is cut off"); /* 4 GiB of bytes */
    check_refused("\xdb\x7f\xff\xff\xff\x01", 6, "is cut off");
    check_refused("\xd4\x01\x01", 3, "type that is not used"); /* an extension */
    check_refused("\xc1", 1, "type that is not used");
    unsigned char deep[COHORT__UNPACK_MAX_DEPTH + 2];
    memset(deep, 0x91, sizeof(deep));
    deep[sizeof(deep) - 1] = 0x01;
    check_refused(deep, sizeof(deep), "is nested too deeply");
    struct cohort__unpacked *unpacked;
    CHECK_OK(cohort__unpack(&unpacked, deep + 1, sizeof(deep) - 1, "deep"));
    cohort__unpacked_destroy(unpacked);
}

TEST(too_many_values)
{
    size_t bytes = COHORT__UNPACK_MAX_VALUES + 5;
    unsigned char *many = test_calloc(1, bytes);
    memcpy(many, "\xdd\x00\x10\x00\x00", 5);
    struct cohort__unpacked *unpacked;
    CHECK_FAILS(cohort__unpack(&unpacked, many, bytes, "many"), COHORT_ERR_PROTOCOL,
                "has too many values");
    free(many);
}

/* Any bytes give an answer and no crash, and no success that msgpack-c does not agree with. */
TEST(random_bytes)
{
    uint64_t seed = 20260801;
    unsigned accepted = 0;
    fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    struct cohort__random random = cohort__random_seeded(seed);
    struct cohort__packer sample = pack_sample();
    for (int round = 0; round < 100000; round++) {
        unsigned char *copy;
        unsigned char data[128];
        size_t bytes;
        struct cohort__unpacked *unpacked = NULL;
        if (round % 2) { /* a valid message with some bytes changed */
            bytes = sample.bytes;
            memcpy(data, sample.data, bytes);
            for (uint64_t i = cohort__random_below(&random, 3); i-- > 0;)
                data[cohort__random_below(&random, bytes)] =
                    (unsigned char)cohort__random_next(&random);
        } else {
            bytes = cohort__random_below(&random, 24);
            for (size_t i = 0; i < bytes; i++)
                data[i] = (unsigned char)cohort__random_next(&random);
        }
        cohort_status status = unpack_exact(&unpacked, data, bytes, &copy);
        CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
        accepted += status == COHORT_OK;
        CHECK(!status || !strstr(cohort_error_message(), "not msgpack"));
        cohort__unpacked_destroy(unpacked);
        free(copy);
    }
    CHECK(accepted > 1000 && accepted < 99000);
    cohort__packer_fini(&sample);
}

TEST(growth)
{
    struct cohort__packer packer = {0};
    size_t bytes = 3 << 20;
    char *block = test_malloc(bytes);
    memset(block, 'x', bytes);
    cohort__pack_array(&packer, 3);
    for (int i = 0; i < 3; i++)
        cohort__pack_bytes(&packer, block, bytes);
    CHECK_OK(packer.status);
    struct cohort__unpacked *unpacked;
    CHECK_OK(cohort__unpack(&unpacked, packer.data, packer.bytes, "blocks"));
    const void *data;
    size_t size;
    CHECK(!cohort__element_bytes(unpacked, cohort__unpacked_root(unpacked), 2, &data, &size));
    CHECK(size == bytes && memcmp(data, block, bytes) == 0);
    cohort__unpacked_destroy(unpacked);
    cohort__packer_reset(&packer);
    CHECK_INT((long long)packer.bytes, 0);
    cohort__packer_fini(&packer);
    free(block);
}

/* What is too large is refused before anything of it is read. */
TEST(too_large)
{
    struct cohort__packer packer = {0};
    struct cohort__unpacked *unpacked;
    cohort__pack_bytes(&packer, "", (size_t)UINT32_MAX + 1);
    CHECK_FAILS(packer.status, COHORT_ERR_BAD_PARAMETER,
                "4294967296 bytes are too many for one field");
    cohort__pack_bytes(&packer, "", (size_t)UINT32_MAX + 2); /* the first error stays */
    CHECK_CONTAINS(cohort_error_message(), "4294967296 bytes");
    CHECK_INT((long long)packer.bytes, 0);
    cohort__packer_fini(&packer);
    cohort__packer_fini(NULL);
    CHECK_FAILS(cohort__unpack(&unpacked, "", COHORT__UNPACK_MAX_BYTES + 1, "long"),
                COHORT_ERR_PROTOCOL, "is too long");
}
