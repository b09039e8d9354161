/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/packet.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { CAPACITY = 4096 };

static unsigned char byte_of(uint32_t message, size_t at)
{
    return (unsigned char)(message * 31 + at * 7 + 1);
}

/* Adds a message of BYTES bytes, in two parts. */
static bool add(struct cohort__packet *packet, uint32_t message, size_t bytes)
{
    static unsigned char data[2 * CAPACITY];
    for (size_t i = 0; i < bytes; i++)
        data[i] = byte_of(message, i);
    struct iovec parts[2] = {{data, bytes / 3}, {data + bytes / 3, bytes - bytes / 3}};
    return cohort__packet_add(packet, parts, 2);
}

/* Reads from a copy with nothing behind it, so that the address sanitizer sees a byte too many. */
static void check(const struct cohort__packet *packet, size_t bytes, const size_t *lengths)
{
    unsigned char *copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
    CHECK(copy);
    memcpy(copy, packet->data, bytes);
    struct cohort__packet_reader reader;
    CHECK(cohort__packet_reader_init(&reader, copy, bytes));
    CHECK_INT(reader.num, packet->num);
    const unsigned char *message, *end = copy;
    size_t length;
    for (uint32_t i = 0; i < packet->num; i++) {
        CHECK(cohort__packet_reader_next(&reader, &message, &length));
        CHECK_INT(length, lengths[i]);
        CHECK_INT((message - copy) % COHORT__PACKET_ALIGNMENT, 0);
        for (; end < message; end++)
            CHECK_INT(*end, 0); /* nothing that was in this memory before */
        end = message + length;
        for (size_t k = 0; k < length; k++)
            CHECK(message[k] == byte_of(i, k));
    }
    CHECK(!cohort__packet_reader_next(&reader, &message, &length));
    free(copy);
}

TEST(random)
{
    struct cohort__random random = cohort__random_seeded(7);
    unsigned char *data = test_malloc(CAPACITY);
    for (int round = 0; round < 2000; round++) {
        size_t capacity = 2 + cohort__random_below(&random, CAPACITY - 1);
        size_t limit = 1 + cohort__random_below(&random, round % 2 ? 60 : capacity);
        size_t lengths[COHORT__PACKET_NUM_MESSAGES], length;
        struct cohort__packet packet;
        memset(data, 0xff, CAPACITY);
        cohort__packet_init(&packet, data, capacity);
        uint32_t num = 0;
        while (length = cohort__random_below(&random, limit), add(&packet, num, length)) {
            lengths[num++] = length;
            size_t bytes = cohort__packet_finish(&packet); /* and goes on after that */
            CHECK(bytes <= capacity);
            if (round % 16 == 0)
                check(&packet, bytes, lengths);
        }
        CHECK_INT(packet.num, num);
        if (num > 0)
            check(&packet, cohort__packet_finish(&packet), lengths);
    }
    free(data);
}

/* What just fits, and one byte more. */
TEST(room)
{
    static unsigned char data[CAPACITY];
    struct cohort__packet packet;
    cohort__packet_init(&packet, data, CAPACITY);
    CHECK(!add(&packet, 0, CAPACITY - COHORT__PACKET_OVERHEAD + 1));
    CHECK(add(&packet, 0, CAPACITY - COHORT__PACKET_OVERHEAD));
    CHECK_INT(cohort__packet_finish(&packet), CAPACITY);
    CHECK(!add(&packet, 1, 0));
    cohort__packet_init(&packet, data, CAPACITY);
    CHECK(add(&packet, 0, 1000));
    CHECK(!add(&packet, 1, CAPACITY - 1024 - 6 + 1));
    CHECK(add(&packet, 1, CAPACITY - 1024 - 6));
    CHECK_INT(cohort__packet_finish(&packet), CAPACITY);
    cohort__packet_init(&packet, data, 1);
    CHECK(!add(&packet, 0, 0));
    uint32_t num = 0;
    static unsigned char many[COHORT__PACKET_NUM_MESSAGES * 64];
    cohort__packet_init(&packet, many, sizeof(many));
    while (add(&packet, num, 1))
        num++;
    CHECK_INT(num, COHORT__PACKET_NUM_MESSAGES);
}

/* What an outsider sends: it is refused, or read without leaving it. */
TEST(rubbish)
{
    struct cohort__random random = cohort__random_seeded(11);
    unsigned long num_read = 0;
    for (int round = 0; round < 200000; round++) {
        size_t bytes = cohort__random_below(&random, 200);
        unsigned char *data = test_malloc(bytes + 1);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (unsigned char)(cohort__random_below(&random, 3) == 0
                                          ? cohort__random_below(&random, 256)
                                          : 0);
        if (bytes >= 2 && round % 2)
            data[bytes - 2] = (unsigned char)cohort__random_below(&random, 8);
        unsigned char *exact = test_malloc(bytes ? bytes : 1);
        memcpy(exact, data, bytes);
        struct cohort__packet_reader reader;
        if (cohort__packet_reader_init(&reader, exact, bytes)) {
            const unsigned char *message;
            size_t length;
            while (cohort__packet_reader_next(&reader, &message, &length)) {
                CHECK(message >= exact && length <= bytes &&
                      (size_t)(message - exact) <= bytes - length);
                num_read++;
            }
        }
        free(exact);
        free(data);
    }
    CHECK(num_read > 0);
}

static void refuse(const char *data, size_t bytes)
{
    struct cohort__packet_reader reader;
    CHECK(!cohort__packet_reader_init(&reader, (const unsigned char *)data, bytes));
}

TEST(refused)
{
    refuse("", 0);
    refuse("\1", 1);
    refuse("\0\0", 2);             /* no message */
    refuse("abc\0\0", 5);          /* the same, with bytes in front */
    refuse("\2\0", 2);             /* two messages, and no lengths */
    refuse("\1\0\0\0\2\0", 6);     /* a length, and not the byte */
    refuse("x\0\0\0\0\2\0", 7);    /* a byte that no message has */
    refuse("\377\377\377\377", 4); /* too many */
}
