/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_RING_H
#define COHORT_RUNTIME_NET_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring of records in memory that two processes share, with one writer and one reader. A record is
 * valid when its first word is not 0, so the reader only touches the record itself. The writer
 * looks up how far the reader has read only when it seems to be out of room.
 *
 * Before a record is published, the first word of its successor is set to 0. So a record needs room
 * for itself and for that word. If a record doesn't fit before the ring's end, a record of kind
 * SKIP fills the rest. A writer that is killed at any point has either published a record or not.
 *
 * tests/model/ring.pml is a model of this, checked by spin. */
enum { COHORT__RING_LINE = 64 };

struct cohort__ring_record {
    _Atomic uint32_t size; /* of the whole record, in lines; 0: not published yet */
    uint32_t bytes;        /* of `data` */
    uint32_t kind;         /* the user's; not COHORT__RING_SKIP */
    uint32_t word;         /* the user's */
    unsigned char data[];
};

enum { COHORT__RING_SKIP = UINT16_MAX };

struct cohort__ring {
    _Alignas(COHORT__RING_LINE) _Atomic uint64_t read; /* lines read since the beginning */
    _Atomic uint32_t writer_waits;                     /* for room; cleared when it is told */
    _Alignas(COHORT__RING_LINE) unsigned char lines[];
};

struct cohort__ring_writer {
    struct cohort__ring *ring;
    uint32_t size; /* of the ring, in lines */
    uint32_t at;   /* where the next record begins */
    uint64_t used; /* lines written since the beginning */
    uint64_t read; /* how many of them the reader has read at least */
    uint32_t reserved;
};

/* A record as its reader has found it. Its fields are read once and checked, so that nothing
 * outside of the record is touched, whatever the writer changes later. Its data may still
 * change. */
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

/* Makes an empty ring in MEMORY. To be called before either side uses the ring, and before the
 * other side knows of it. */
void cohort__ring_clear(void *memory);

/* For an empty ring in BYTES bytes of memory, its head included. */
void cohort__ring_writer_init(struct cohort__ring_writer *writer, void *memory, size_t bytes);
void cohort__ring_reader_init(struct cohort__ring_reader *reader, void *memory, size_t bytes);

/* The most data that a record of such a ring may have. In an empty ring there is always room for
 * that much. */
size_t cohort__ring_max_data(size_t bytes);

/* Reserves room for a record with BYTES of data (at most the above). The caller fills in everything
 * except `size`, and publishes it. NULL: there is no room now. */
struct cohort__ring_record *cohort__ring_reserve(struct cohort__ring_writer *writer, size_t bytes);
void cohort__ring_publish(struct cohort__ring_writer *writer, struct cohort__ring_record *record);

/* To be called after reserve has found no room. True: the reader will tell us when there is room.
 * False: there is room after all. */
bool cohort__ring_await_room(struct cohort__ring_writer *writer, size_t bytes);
bool cohort__ring_has_room(struct cohort__ring_writer *writer, size_t bytes);

/* The oldest record. It is valid until it is consumed. NULL: there is none. *ret_broken is set to
 * true if what is there can't be a record. */
const struct cohort__ring_item *cohort__ring_next(struct cohort__ring_reader *reader,
                                                  bool *ret_broken);
/* Consumes the record that cohort__ring_next has returned. */
void cohort__ring_consume(struct cohort__ring_reader *reader);

/* Whether the writer waits for room, and has to be told now. The reader has to call this again and
 * again: without a fence after it has consumed the last record, it may not see yet that the writer
 * has just begun to wait. */
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
