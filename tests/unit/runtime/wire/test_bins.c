/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/bins.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"

static unsigned char content(size_t place)
{
    return (unsigned char)(place * 13 + (place >> 9));
}

static unsigned char *filled(size_t bytes)
{
    unsigned char *data = test_malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++)
        data[i] = content(i);
    return data;
}

/* A message of strings with these lengths. */
static unsigned char *write_all(const size_t *lengths, uint32_t count, size_t *ret_bytes)
{
    size_t bytes = cohort__bins_head_bytes(count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(cohort__bins_string_bytes(lengths[i]) > lengths[i]);
        bytes += cohort__bins_string_bytes(lengths[i]);
    }
    unsigned char *message = malloc(bytes), *to = cohort__bins_put_head(message, count);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *data = filled(lengths[i]);
        to = cohort__bins_put_string(to, data, lengths[i]);
        free(data);
    }
    CHECK(to == message + bytes);
    *ret_bytes = bytes;
    return message;
}

static void check_all(const unsigned char *message, size_t bytes, const size_t *lengths,
                      uint32_t want)
{
    struct cohort__bins bins = {message, bytes};
    uint32_t count;
    CHECK_OK(cohort__bins_get_head(&bins, &count));
    CHECK_INT(count, want);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        CHECK_OK(cohort__bins_get_length(&bins, &length));
        CHECK_INT((long long)length, (long long)lengths[i]);
        unsigned char *data = test_malloc(length + 1);
        cohort__bins_get_string(&bins, data);
        for (size_t k = 0; k < length; k++)
            CHECK(data[k] == content(k));
        free(data);
    }
    CHECK_OK(cohort__bins_get_end(&bins));
}

TEST(lengths)
{
    static const size_t lengths[] = {0,
                                     1,
                                     255,
                                     256,
                                     65535,
                                     65536,
                                     COHORT__BINS_PIECE_BYTES,
                                     COHORT__BINS_PIECE_BYTES + 1,
                                     2 * COHORT__BINS_PIECE_BYTES,
                                     20 * (size_t)COHORT__BINS_PIECE_BYTES + 7,
                                     0};
    size_t bytes;
    unsigned char *message = write_all(lengths, NUM_OF(lengths), &bytes);
    check_all(message, bytes, lengths, NUM_OF(lengths));
    free(message);
}

TEST(counts)
{
    static const uint32_t counts[] = {0, 1, 15, 16, 65535, 65536};
    size_t *none = calloc(65536, sizeof(*none)), bytes;
    for (size_t i = 0; i < NUM_OF(counts); i++) {
        unsigned char *message = write_all(none, counts[i], &bytes);
        check_all(message, bytes, none, counts[i]);
        free(message);
    }
    free(none);
}

/* Another implementation also reads it as msgpack. */
TEST(is_msgpack)
{
    static const size_t lengths[] = {3, 300, 70000, COHORT__BINS_PIECE_BYTES + 5};
    size_t bytes;
    unsigned char *message = write_all(lengths, 3, &bytes);
    struct cohort__unpacked *unpacked;
    CHECK_OK(cohort__unpack(&unpacked, message, bytes, "objects"));
    for (uint32_t i = 0; i < 3; i++) {
        const void *data;
        size_t length;
        CHECK_OK(
            cohort__element_bytes(unpacked, cohort__unpacked_root(unpacked), i, &data, &length));
        CHECK_INT((long long)length, (long long)lengths[i]);
    }
    cohort__unpacked_destroy(unpacked);
    free(message);
    message = write_all(lengths, 4, &bytes);
    CHECK_OK(cohort__unpack(&unpacked, message, bytes, "objects"));
    cohort__unpacked_destroy(unpacked);
    free(message);
}

TEST(too_long)
{
    CHECK(cohort__bins_string_bytes(SIZE_MAX) == 0);
    CHECK(cohort__bins_string_bytes((size_t)PTRDIFF_MAX) == 0);
    CHECK(cohort__bins_string_bytes((size_t)1 << 53) == 0); /* more than 2^32 pieces */
    CHECK(cohort__bins_string_bytes((size_t)5 << 30) > (size_t)5 << 30);
}

/* Reads any bytes, in memory of exactly that length. True: they are a message. */
static bool read_exactly(const unsigned char *bytes, size_t num)
{
    unsigned char *copy = test_malloc(num > 0 ? num : 1);
    memcpy(copy, bytes, num);
    struct cohort__bins bins = {copy, num};
    uint32_t count = 0;
    cohort_status status = cohort__bins_get_head(&bins, &count);
    CHECK(status || count <= num);
    for (uint32_t i = 0; !status && i < count; i++) {
        size_t length;
        status = cohort__bins_get_length(&bins, &length);
        if (status)
            break;
        CHECK(length <= num);
        unsigned char *data = test_malloc(length > 0 ? length : 1);
        cohort__bins_get_string(&bins, data);
        free(data);
    }
    status = status ? status : cohort__bins_get_end(&bins);
    CHECK(status == COHORT_OK || status == COHORT_ERR_PROTOCOL);
    free(copy);
    return !status;
}

/* No prefix of a message is a message, nor is a message with an extra byte. */
TEST(cut_off)
{
    static const size_t lengths[] = {3, 0, 300, 20};
    size_t bytes;
    unsigned char *message = write_all(lengths, 4, &bytes);
    unsigned char *longer = calloc(1, bytes + 1);
    memcpy(longer, message, bytes);
    for (size_t i = 0; i < bytes; i++)
        CHECK(!read_exactly(message, i));
    CHECK(read_exactly(message, bytes));
    CHECK(!read_exactly(longer, bytes + 1));
    free(message);
    free(longer);
}

TEST(mutations)
{
    struct cohort__random random = cohort__random_seeded(1);
    uint32_t num_good = 0;
    for (int round = 0; round < 30000; round++) {
        size_t lengths[20], bytes;
        uint32_t count = (uint32_t)cohort__random_below(&random, 20);
        for (uint32_t i = 0; i < count; i++)
            lengths[i] = cohort__random_below(&random, 8) ? cohort__random_below(&random, 12) : 300;
        unsigned char *message = write_all(lengths, count, &bytes);
        for (uint64_t i = 1 + cohort__random_below(&random, 3); i > 0; i--)
            message[cohort__random_below(&random, bytes)] =
                (unsigned char)cohort__random_next(&random);
        num_good += read_exactly(message, bytes - cohort__random_below(&random, 2));
        free(message);
    }
    CHECK(num_good > 0 && num_good < 20000);
}
