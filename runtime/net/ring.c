/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ring.h"

/* Measured: docs/measurements.md, "Many messages at once". */
enum { LINES_AHEAD = 2 };

static uint32_t ring_lines(size_t bytes)
{
    return (uint32_t)((bytes - sizeof(struct cohort__ring)) / COHORT__RING_LINE);
}

static uint32_t record_lines(size_t bytes)
{
    return (uint32_t)((sizeof(struct cohort__ring_record) + bytes + COHORT__RING_LINE - 1) /
                      COHORT__RING_LINE);
}

/* In an empty ring a record may have to skip the lines up to the ring's end, which are then fewer
 * than the record needs. And the first line of its successor has to be free. */
size_t cohort__ring_max_data(size_t bytes)
{
    return (size_t)((ring_lines(bytes) - 1) / 2) * COHORT__RING_LINE -
           sizeof(struct cohort__ring_record);
}

void cohort__ring_clear(void *memory)
{
    struct cohort__ring *ring = memory;
    atomic_store_explicit(&ring->read, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->writer_waits, 0, memory_order_relaxed);
    atomic_store_explicit(&cohort__ring_record_at(ring, 0)->size, 0, memory_order_release);
}

void cohort__ring_writer_init(struct cohort__ring_writer *writer, void *memory, size_t bytes)
{
    *writer = (struct cohort__ring_writer){.ring = memory, .size = ring_lines(bytes)};
}

void cohort__ring_reader_init(struct cohort__ring_reader *reader, void *memory, size_t bytes)
{
    *reader = (struct cohort__ring_reader){.ring = memory, .size = ring_lines(bytes)};
}

/* How many lines a record of LINES takes from the writer's place on, including those that it has to
 * skip. */
static uint32_t needed(const struct cohort__ring_writer *writer, uint32_t lines)
{
    uint32_t rest = writer->size - writer->at;
    return lines <= rest ? lines : rest + lines;
}

static bool is_free(const struct cohort__ring_writer *writer, uint32_t lines)
{
    return writer->size - (writer->used - writer->read) > lines; /* and one line to set to 0 */
}

static bool has_room(struct cohort__ring_writer *writer, uint32_t lines, memory_order order)
{
    if (is_free(writer, lines))
        return true;
    writer->read = atomic_load_explicit(&writer->ring->read, order);
    return is_free(writer, lines);
}

/* A hint that the line at ADDRESS will be written soon: the core gets it for itself, and nobody
 * waits for that, as a fence waits for a store. ADDRESS need not be mapped. Compilers make no such
 * instruction for x86-64 unless they are told that the processor has it. Those that don't have it
 * do nothing. */
static void prefetch_to_write(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" ::"m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

/* The records to come will be written to lines that are in the cache of the reader's core. Asking
 * for one of them now, some records ahead, is better than to wait for it then. It must not be a
 * store: the fence that follows a record would wait for it. The reader looks at the next line, and
 * would take one that is no further away back at once. */
static void fetch_ahead(const struct cohort__ring_writer *writer)
{
    uint32_t line = writer->at + LINES_AHEAD;
    if (line < writer->size)
        prefetch_to_write(cohort__ring_record_at(writer->ring, line));
}

static void publish(struct cohort__ring_writer *writer, struct cohort__ring_record *record,
                    uint32_t lines)
{
    writer->used += lines;
    writer->at += lines;
    if (writer->at == writer->size)
        writer->at = 0;
    struct cohort__ring_record *next = cohort__ring_record_at(writer->ring, writer->at);
    atomic_store_explicit(&next->size, 0, memory_order_relaxed);
    atomic_store_explicit(&record->size, lines, memory_order_release);
    fetch_ahead(writer);
}

struct cohort__ring_record *cohort__ring_reserve(struct cohort__ring_writer *writer, size_t bytes)
{
    uint32_t lines = record_lines(bytes);
    if (!has_room(writer, needed(writer, lines), memory_order_acquire))
        return NULL;
    struct cohort__ring_record *record = cohort__ring_record_at(writer->ring, writer->at);
    if (lines > writer->size - writer->at) {
        record->kind = COHORT__RING_SKIP;
        record->bytes = 0;
        publish(writer, record, writer->size - writer->at);
        record = cohort__ring_record_at(writer->ring, writer->at);
    }
    writer->reserved = lines;
    return record;
}

void cohort__ring_publish(struct cohort__ring_writer *writer, struct cohort__ring_record *record)
{
    publish(writer, record, writer->reserved);
}

bool cohort__ring_has_room(struct cohort__ring_writer *writer, size_t bytes)
{
    return has_room(writer, needed(writer, record_lines(bytes)), memory_order_acquire);
}

/* The reader first stores how far it has read, and then looks whether the writer waits. The writer
 * does it the other way round, and all of these accesses are sequentially consistent. So at least
 * one of the two sees what the other has stored. */
bool cohort__ring_await_room(struct cohort__ring_writer *writer, size_t bytes)
{
    atomic_store(&writer->ring->writer_waits, 1);
    if (!has_room(writer, needed(writer, record_lines(bytes)), memory_order_seq_cst))
        return true;
    atomic_store(&writer->ring->writer_waits, 0);
    return false;
}

static void skip(struct cohort__ring_reader *reader, uint32_t lines)
{
    reader->used += lines;
    reader->at += lines;
    if (reader->at == reader->size)
        reader->at = 0;
}

const struct cohort__ring_item *cohort__ring_next(struct cohort__ring_reader *reader,
                                                  bool *ret_broken)
{
    struct cohort__ring_item *item = &reader->item;
    for (;;) {
        const struct cohort__ring_record *record = cohort__ring_record_at(reader->ring, reader->at);
        uint32_t lines = atomic_load_explicit(&record->size, memory_order_acquire);
        if (lines == 0)
            return NULL;
        /* Volatile: each field is read once, so the value that is checked is the value that is
         * used. */
        item->bytes = *(const volatile uint32_t *)&record->bytes;
        item->kind = *(const volatile uint32_t *)&record->kind;
        item->word = *(const volatile uint32_t *)&record->word;
        item->data = record->data;
        if (lines > reader->size - reader->at ||
            item->bytes > (size_t)lines * COHORT__RING_LINE - sizeof(*record)) {
            *ret_broken = true;
            return NULL;
        }
        reader->lines = lines;
        if (item->kind != COHORT__RING_SKIP)
            return item;
        skip(reader, lines);
    }
}

void cohort__ring_consume(struct cohort__ring_reader *reader)
{
    skip(reader, reader->lines);
    atomic_store_explicit(&reader->ring->read, reader->used, memory_order_release);
}
