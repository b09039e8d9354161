/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ring.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/random.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { BYTES = 16384, LINES = BYTES / COHORT__RING_LINE - 1 };

struct ends {
    void *memory;
    struct cohort__ring_writer writer;
    struct cohort__ring_reader reader;
};

/* Dirty memory, since nothing may depend on its old contents. */
static void open_ring(struct ends *ends)
{
    ends->memory = aligned_alloc(COHORT__RING_LINE, BYTES);
    CHECK(ends->memory);
    memset(ends->memory, 0xa5, BYTES);
    cohort__ring_clear(ends->memory);
    cohort__ring_writer_init(&ends->writer, ends->memory, BYTES);
    cohort__ring_reader_init(&ends->reader, ends->memory, BYTES);
}

static void close_ring(struct ends *ends)
{
    free(ends->memory);
}

static unsigned char pattern(uint32_t number, size_t at)
{
    return (unsigned char)(number * 31 + at * 7 + (at >> 8));
}

/* False: there is no room. */
static bool put(struct cohort__ring_writer *writer, uint32_t number, size_t bytes)
{
    struct cohort__ring_record *record = cohort__ring_reserve(writer, bytes);
    if (!record)
        return false;
    record->bytes = (uint32_t)bytes;
    record->kind = number % COHORT__RING_SKIP;
    record->word = number;
    for (size_t i = 0; i < bytes; i++)
        record->data[i] = pattern(number, i);
    cohort__ring_publish(writer, record);
    return true;
}

/* False: there is none. */
static bool get(struct cohort__ring_reader *reader, uint32_t number, size_t bytes)
{
    bool is_broken = false;
    const struct cohort__ring_item *record = cohort__ring_next(reader, &is_broken);
    CHECK(!is_broken);
    if (!record)
        return false;
    CHECK_INT(record->word, number);
    CHECK_INT(record->kind, number % COHORT__RING_SKIP);
    CHECK_INT(record->bytes, (long long)bytes);
    for (size_t i = 0; i < bytes; i++)
        if (record->data[i] != pattern(number, i))
            FAIL("byte %zu of record %u", i, (unsigned)number);
    cohort__ring_consume(reader);
    return true;
}

static struct ends ends;

#define TEST_RING(name) TEST_BETWEEN(name, open_ring(&ends), close_ring(&ends))

/* Every size, wrapping around several times, so from all positions. */
TEST_RING(sizes)
{
    uint32_t number = 0;
    size_t max = cohort__ring_max_data(BYTES);
    CHECK(max > BYTES / 2 - 200 && max < BYTES / 2);
    CHECK(cohort__ring_is_empty(&ends.reader));
    for (size_t bytes = 0; bytes <= max; bytes++) {
        CHECK(put(&ends.writer, ++number, bytes));
        CHECK(!cohort__ring_is_empty(&ends.reader));
        CHECK(get(&ends.reader, number, bytes));
        CHECK(!get(&ends.reader, number, bytes));
    }
}

/* The largest record fits into an empty ring, wherever that ring begins. */
TEST_RING(largest)
{
    uint32_t number = 0;
    for (uint32_t at = 0; at < LINES; at++) {
        cohort__ring_clear(ends.memory);
        cohort__ring_writer_init(&ends.writer, ends.memory, BYTES);
        cohort__ring_reader_init(&ends.reader, ends.memory, BYTES);
        for (uint32_t i = 0; i < at; i++) {
            CHECK(put(&ends.writer, ++number, 1));
            CHECK(get(&ends.reader, number, 1));
        }
        CHECK_INT(ends.writer.at, at);
        CHECK(put(&ends.writer, ++number, cohort__ring_max_data(BYTES)));
        CHECK(get(&ends.reader, number, cohort__ring_max_data(BYTES)));
    }
}

TEST_RING(full)
{
    for (uint32_t round = 0; round < 500; round++) {
        size_t bytes = 1 + round % 900;
        uint32_t num = 0;
        while (put(&ends.writer, num, bytes))
            num++;
        CHECK(num >= LINES / (2 + bytes / COHORT__RING_LINE) - 2);
        CHECK(!cohort__ring_has_room(&ends.writer, bytes));
        CHECK(!cohort__ring_writer_waits(&ends.reader));
        CHECK(cohort__ring_await_room(&ends.writer, bytes));
        /* Reported only once. */
        CHECK(cohort__ring_writer_waits(&ends.reader));
        CHECK(!cohort__ring_writer_waits(&ends.reader));
        for (uint32_t i = 0; i < num; i++)
            CHECK(get(&ends.reader, i, bytes));
        /* There is room after all, so no wake-up is requested. */
        CHECK(!cohort__ring_await_room(&ends.writer, bytes));
        CHECK(!cohort__ring_writer_waits(&ends.reader));
        CHECK(cohort__ring_is_empty(&ends.reader));
    }
}

/* If a writer dies before it publishes, it leaves no record. This is also true if it has already
 * marked the end of the ring as skipped. */
TEST_RING(unpublished)
{
    bool is_broken = false;
    for (uint32_t at = 0; at < LINES; at++) {
        cohort__ring_clear(ends.memory);
        cohort__ring_writer_init(&ends.writer, ends.memory, BYTES);
        cohort__ring_reader_init(&ends.reader, ends.memory, BYTES);
        for (uint32_t i = 0; i < at; i++) {
            CHECK(put(&ends.writer, i, 0));
            CHECK(get(&ends.reader, i, 0));
        }
        struct cohort__ring_record *record =
            cohort__ring_reserve(&ends.writer, cohort__ring_max_data(BYTES));
        CHECK(record);
        memset(record->data, 0xff, cohort__ring_max_data(BYTES));
        record->bytes = 1;
        record->kind = 2;
        CHECK(!cohort__ring_next(&ends.reader, &is_broken));
        CHECK(!is_broken);
    }
}

static void expect_broken(struct ends *ends, uint32_t lines, uint32_t bytes)
{
    bool is_broken = false;
    cohort__ring_clear(ends->memory);
    cohort__ring_writer_init(&ends->writer, ends->memory, BYTES);
    cohort__ring_reader_init(&ends->reader, ends->memory, BYTES);
    CHECK(put(&ends->writer, 1, 10));
    CHECK(get(&ends->reader, 1, 10));
    CHECK(put(&ends->writer, 2, 10));
    struct cohort__ring_record *record = cohort__ring_record_at(ends->reader.ring, 1);
    record->bytes = bytes;
    atomic_store(&record->size, lines);
    CHECK(!cohort__ring_next(&ends->reader, &is_broken));
    CHECK(is_broken);
}

TEST_RING(broken)
{
    expect_broken(&ends, LINES, 10);      /* one line beyond the end */
    expect_broken(&ends, UINT32_MAX, 10); /* many lines beyond the end */
    expect_broken(&ends, 1, COHORT__RING_LINE - sizeof(struct cohort__ring_record) + 1);
    expect_broken(&ends, 3, UINT32_MAX);
}

/* Two threads. The sizes are computed from a seed, so that both know them. */
enum { NUM_RECORDS = 10000 };

static size_t next_size(struct cohort__random *random)
{
    uint64_t kind = cohort__random_below(random, 64);
    return (size_t)cohort__random_below(random, kind == 0  ? cohort__ring_max_data(BYTES) + 1
                                                : kind < 8 ? 2000
                                                           : 100);
}

static void *write_all(void *arg)
{
    struct ends *ends = arg;
    struct cohort__random random = cohort__random_seeded(42);
    for (uint32_t number = 0; number < NUM_RECORDS; number++) {
        size_t bytes = next_size(&random);
        while (!put(&ends->writer, number, bytes)) {
            /* Now and then asks for a wake-up, and waits for it. */
            if (number % 2 == 0 && cohort__ring_await_room(&ends->writer, bytes))
                while (atomic_load(&ends->writer.ring->writer_waits))
                    sched_yield();
            sched_yield();
        }
    }
    return NULL;
}

TEST_RING(threads)
{
    struct cohort__random random = cohort__random_seeded(42);
    pthread_t thread = new_thread(write_all, &ends);
    for (uint32_t number = 0; number < NUM_RECORDS; number++) {
        size_t bytes = next_size(&random);
        while (!get(&ends.reader, number, bytes)) {
            (void)cohort__ring_writer_waits(&ends.reader);
            sched_yield();
        }
        if (number % 8 == 0)
            (void)cohort__ring_writer_waits(&ends.reader);
    }
    end_thread(thread);
    CHECK(cohort__ring_is_empty(&ends.reader));
}
