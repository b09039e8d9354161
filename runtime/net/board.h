/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_BOARD_H
#define COHORT_RUNTIME_NET_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A board is shared memory on which the localities of a host post what they bring to a collective,
 * so that each of them reads what all others have brought, and no message is sent.
 *
 * For each generation every locality writes one post, or where only one of them brings something,
 * that one does, in the place of its slot and of the generation modulo the depth. A post is there
 * when its generation says so. Its data is beside its head, or where it is long, somewhere in the
 * slot's arena, as the head tells. Before a place, or some part of an arena, is used for a later
 * generation, all others must have said that they read no earlier one any more: each says so with
 * the generation that it has *passed*, in its posts, and in a word of its own for those who can't
 * wait for the next post. Each word has one writer, but for those of the head. */
enum {
    COHORT__BOARD_LINE = 64,
    /* Generations that may be posted at a time: so far a root may be ahead of who reads. Each has a
     * line in each slot. Not measured. */
    COHORT__BOARD_DEPTH = 8,
    COHORT__BOARD_INLINE = 32, /* bytes that fit beside a post's head */
    /* And in all. Two copies by way of a board beat one by the kernel, as measured up to 1 MiB
     * (docs/performance.md, "Beside MPI": "Two copies against one"). It balances that against the
     * memory that each locality may take for a communicator. With more, a plan runs. */
    COHORT__BOARD_POST = 2048 * 1024,
    /* One of that length, or several shorter ones, each with a line behind it. Memory is taken only
     * once it is used. */
    COHORT__BOARD_ARENA = COHORT__BOARD_POST + COHORT__BOARD_DEPTH * COHORT__BOARD_LINE,
};

struct cohort__board_head {
    /* Localities that wait for a place, and want to be woken when somebody passes a generation. */
    _Alignas(COHORT__BOARD_LINE) _Atomic uint32_t num_waiting;
    _Atomic uint32_t num_gone; /* localities that use the board no more */
};

struct cohort__board_post {
    _Alignas(COHORT__BOARD_LINE) _Atomic uint64_t generation; /* 0: none yet */
    uint64_t fingerprint;
    uint64_t passed; /* at this time, by this locality */
    uint64_t bytes;
    union {
        unsigned char data[COHORT__BOARD_INLINE]; /* where they fit */
        struct {
            uint32_t offset;        /* else where they are in the slot's arena */
            _Atomic uint32_t share; /* enum cohort__board_share */
        };
    };
};

/* A locality may go on to write into its own data, if all know which of it they still read: its
 * share of the result. */
enum cohort__board_share {
    COHORT__BOARD_SHARE_NONE,
    COHORT__BOARD_SHARE_THERE,
};

struct cohort__board {
    uint32_t size; /* slots */
    unsigned char *memory;
};

/* The memory of a board for SIZE slots. All zero, it is empty; what has to be cleared for that is
 * in the first `clear` bytes. */
size_t cohort__board_bytes(uint32_t size);
size_t cohort__board_clear_bytes(uint32_t size);

struct cohort__board_head *cohort__board_head(const struct cohort__board *board);

/* What SLOT has passed. */
_Atomic uint64_t *cohort__board_passed(const struct cohort__board *board, uint32_t slot);

struct cohort__board_post *cohort__board_post(const struct cohort__board *board, uint32_t slot,
                                              uint64_t generation);

/* Where SLOT puts the data of a post with so many BYTES: beside the head, or OFFSET in its arena.
 */
unsigned char *cohort__board_place(const struct cohort__board *board, uint32_t slot,
                                   uint64_t generation, size_t bytes, uint32_t offset);

/* Where SLOT has put the BYTES of its post, which is there; NULL: what it says can't be true. */
const unsigned char *cohort__board_data(const struct cohort__board *board, uint32_t slot,
                                        uint64_t generation, size_t bytes);

static inline bool cohort__board_is_posted(const struct cohort__board *board, uint32_t slot,
                                           uint64_t generation)
{
    return atomic_load_explicit(&cohort__board_post(board, slot, generation)->generation,
                                memory_order_acquire) == generation;
}

#endif
