/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_RING_H
#define COHORT_RUNTIME_NET_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring of records in memory that two processes share, with one writer and one reader. A record is
 * there when its first word is not 0, so the reader touches nothing but the record itself; how far
 * it has read, the writer looks up only when it seems to be out of room.
 *
 * Before a record is published, the first word of its successor is set to 0; so a record needs room
 * for itself and for that. Where a record doesn't fit in front of the ring's end, one that says so
 * fills the rest. A writer that is killed at any point has either published a record or not.
 *
 * tests/model/ring.pml is this as a model, checked by spin. */
enum { COHORT__RING_LINE = 64 };

struct cohort__ring_record {
    _Atomic uint32_t size; /* of the record with this head, in lines; 0: not there yet */
    uint32_t bytes;        /* of `data` */
    uint32_t kind;         /* the user's; not COHORT__RING_SKIP */
    uint32_t word;         /* the user's */
    unsigned char data[];
};

enum { COHORT__RING_SKIP = UINT16_MAX };

struct cohort__ring {
    _Alignas(COHORT__RING_LINE) _Atomic uint64_t read; /* lines, ever */
    _Atomic uint32_t writer_waits;                     /* for room; cleared by who tells it */
    _Alignas(COHORT__RING_LINE) unsigned char lines[];
};

struct cohort__ring_writer {
    struct cohort__ring *ring;
    uint32_t size; /* of the ring, in lines */
    uint32_t at;   /* where the next record begins */
    uint64_t used; /* lines written, ever */
    uint64_t read; /* of which the reader has read at least so many */
    uint32_t reserved;
};

/* A record as its reader has found it: read once and checked, so that whatever the writer does to
 * it after that, nothing outside of it is touched. Its data may change. */
struct cohort__ring_item {
    const unsigned char *data;
    uint32_t bytes;
    uint32_t kind;
    uint32_t word;
};

struct cohort__ring_reader {
    struct cohort__ring *ring;
    uint32_t size;
    uint32_t at;
    uint64_t used;
    uint32_t lines; /* of `item` */
    struct cohort__ring_item item;
};

/* Makes what is in MEMORY an empty ring: before one of the two looks at it, and the other knows. */
void cohort__ring_clear(void *memory);

/* Of an empty ring in BYTES of memory, its head included. */
void cohort__ring_writer_init(struct cohort__ring_writer *writer, void *memory, size_t bytes);
void cohort__ring_reader_init(struct cohort__ring_reader *reader, void *memory, size_t bytes);

/* The most data that a record of such a ring takes, so that there is always room for it at last. */
size_t cohort__ring_max_data(size_t bytes);

/* Room for a record with BYTES of data (at most the above): fill it in, but for `size`, and publish
 * it. NULL: there is none now. */
struct cohort__ring_record *cohort__ring_reserve(struct cohort__ring_writer *writer, size_t bytes);
void cohort__ring_publish(struct cohort__ring_writer *writer, struct cohort__ring_record *record);

/* After reserve has found no room: asks to be told, and returns true; or there is room after all.
 */
bool cohort__ring_await_room(struct cohort__ring_writer *writer, size_t bytes);
bool cohort__ring_has_room(struct cohort__ring_writer *writer, size_t bytes);

/* The oldest record, until it is consumed; NULL: none is there. *ret_broken is set where what is
 * there can't be a record. */
const struct cohort__ring_item *cohort__ring_next(struct cohort__ring_reader *reader,
                                                  bool *ret_broken);
/* After cohort__ring_next has returned it. */
void cohort__ring_consume(struct cohort__ring_reader *reader);

/* Whether the writer waits for room, and has to be told now. To be asked again and again: what it
 * has just said may not be seen yet, without a fence after the last record was consumed. */
static inline bool cohort__ring_writer_waits(struct cohort__ring_reader *reader)
{
    return atomic_load_explicit(&reader->ring->writer_waits, memory_order_relaxed) &&
           atomic_exchange(&reader->ring->writer_waits, 0);
}

static inline struct cohort__ring_record *cohort__ring_record_at(struct cohort__ring *ring,
                                                                 uint32_t line)
{
    return (struct cohort__ring_record *)(void *)(ring->lines + (size_t)line * COHORT__RING_LINE);
}

/* Whether there is anything to read. */
static inline bool cohort__ring_is_empty(const struct cohort__ring_reader *reader)
{
    return atomic_load_explicit(&cohort__ring_record_at(reader->ring, reader->at)->size,
                                memory_order_acquire) == 0;
}

#endif
