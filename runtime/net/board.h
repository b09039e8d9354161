/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_BOARD_H
#define COHORT_RUNTIME_NET_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A board is shared memory in which the localities of a host post the data that they bring to a
 * collective. Each of them reads what all others have posted, and no message is sent.
 *
 * For each generation every locality writes one post; or several, one for each segment, where the
 * data is longer than a post can be. Where only one locality brings data, only that one writes
 * posts; long ones can be read piece by piece, while it writes. A post has a number, which rises
 * with the generation, and then with the segment. Its place is given by the locality's slot and by
 * the number (cohort__board_index). A post is valid when its `number` field has that number. Short
 * data is in the post itself. Longer data is in the slot's arena, at the offset that the post
 * gives. Before a place, or a part of an arena, is used for a later post, all other localities must
 * have said that they don't read the earlier one any more. A locality says so with the number that
 * it has *passed*: in each of its posts, and in a separate word for readers that can't wait for its
 * next post. Each word has one writer, except the words of the head. */
enum {
    COHORT__BOARD_LINE = 64,
    /* How many posts there may be at the same time, so how far a root may be ahead of the readers.
     * Each has a line in each slot. Not measured. */
    COHORT__BOARD_DEPTH = 8,
    COHORT__BOARD_SEGMENTS = 1024, /* at most in a generation */
    COHORT__BOARD_INLINE = 32,     /* bytes that fit into the post itself */
    /* The most bytes of one post. Two copies through a board are faster than one copy by the
     * kernel, as measured up to 1 MiB (docs/measurements.md, "Two copies against one"). The limit
     * balances that against the memory that each locality may take for a communicator. */
    COHORT__BOARD_POST = 2048 * 1024,
    /* Bytes of a piece, see cohort__board_piece. With pieces of 4 or 16 KiB, posts of 16 and 32 KiB
     * took longer to read. */
    COHORT__BOARD_PIECE = 8 * 1024,
    COHORT__BOARD_PIECES = 64,                    /* at most in a post */
    COHORT__BOARD_TABLE = 8 * COHORT__BOARD_LINE, /* bytes of the longest, see COHORT__BOARD_LENT */
    /* Room for one post of that length, with a table, or for several shorter ones with one line
     * behind each. Memory is taken only when it is first used. */
    COHORT__BOARD_ARENA =
        COHORT__BOARD_POST + COHORT__BOARD_DEPTH * COHORT__BOARD_LINE + COHORT__BOARD_TABLE,
};

/* BYTES in whole lines. */
static inline size_t cohort__board_lines(size_t bytes)
{
    return (bytes + COHORT__BOARD_LINE - 1) / COHORT__BOARD_LINE * COHORT__BOARD_LINE;
}

/* The number of the post for SEGMENT, below COHORT__BOARD_SEGMENTS, of GENERATION. Generations are
 * below 2^54 (COHORT__GENERATION_MAX). */
static inline uint64_t cohort__board_number(uint64_t generation, uint32_t segment)
{
    return generation * COHORT__BOARD_SEGMENTS + segment;
}

static inline uint64_t cohort__board_generation(uint64_t number)
{
    return number / COHORT__BOARD_SEGMENTS;
}

/* Which one of the places is for NUMBER: those of segments, and those of generations without
 * segments, follow each other. */
static inline uint32_t cohort__board_index(uint64_t number)
{
    return (uint32_t)((cohort__board_generation(number) + number % COHORT__BOARD_SEGMENTS) %
                      COHORT__BOARD_DEPTH);
}

struct cohort__board_head {
    /* The number of localities that wait for a place. They want to be woken when any locality
     * passes a post. */
    _Alignas(COHORT__BOARD_LINE) _Atomic uint32_t num_waiting;
};

struct cohort__board_post {
    _Alignas(COHORT__BOARD_LINE) _Atomic uint64_t number; /* 0: none yet */
    uint64_t fingerprint;
    uint64_t passed; /* what this locality had passed when it wrote this post */
    uint64_t bytes;
    union {
        unsigned char data[COHORT__BOARD_INLINE]; /* the data, if it fits */
        struct {
            uint32_t offset;        /* else its offset in the slot's arena */
            _Atomic uint32_t share; /* enum cohort__board_share */
            _Atomic uint64_t mark;  /* a bit for each piece, see cohort__board_piece */
            uint32_t lent;          /* see COHORT__BOARD_LENT; only if BYTES is so much */
        };
    };
};

/* A locality may write into its own posted data later on: its share of the result. This is allowed
 * only where all localities know which part of the data they still read. */
enum cohort__board_share {
    COHORT__BOARD_SHARE_NONE,
    COHORT__BOARD_SHARE_THERE,
    COHORT__BOARD_WITHDRAWN, /* see below */
};

/* A locality may *lend* what it brings instead of copying it: then LENT of its post is 1 more than
 * where there is a table in its arena, which says for each of its sites at which offset of its heap
 * (runtime/net/heap.h) the others read it; else 0. It decides that by itself, from so many bytes of
 * a site on: with less, to wait for the others takes longer than the copy. What is lent stays as it
 * is until all others have passed the post, or said that they are through with the call; or the
 * call has failed, and the post is *withdrawn*, which counts as no post at all. So who has read
 * what is lent looks at the post again: if it is withdrawn, that may have been anything. */
enum { COHORT__BOARD_LENT = 32 * 1024 };

_Static_assert((size_t)COHORT__BOARD_POST / COHORT__BOARD_LENT * sizeof(uint64_t) <=
                   COHORT__BOARD_TABLE,
               "a table has an entry for each site that fits into a post");

/* If only one locality brings data: a post of BYTES is there before its data is, and can be read
 * piece by piece, as its mark says. The bytes of each piece, but perhaps of the last one. 0: it is
 * short, and its data is there with it. */
static inline size_t cohort__board_piece(size_t bytes)
{
    size_t piece = COHORT__BOARD_PIECE;
    if (bytes < 2 * piece)
        return 0;
    while (piece * COHORT__BOARD_PIECES < bytes)
        piece *= 2;
    return piece;
}

struct cohort__board {
    uint32_t size; /* slots */
    unsigned char *memory;
};

/* How many bytes a board for SIZE slots needs. It is empty if they are zero. */
size_t cohort__board_bytes(uint32_t size);

/* Makes SLOT's posts zero, and what it has passed; and nobody waits. So the board is empty when all
 * have done that. */
void cohort__board_clear(const struct cohort__board *board, uint32_t slot);

struct cohort__board_head *cohort__board_head(const struct cohort__board *board);

/* The number that SLOT has passed. */
_Atomic uint64_t *cohort__board_passed(const struct cohort__board *board, uint32_t slot);

struct cohort__board_post *cohort__board_post(const struct cohort__board *board, uint32_t slot,
                                              uint64_t number);

/* Where SLOT puts the data of a post with BYTES bytes: in the post itself, or at OFFSET in its
 * arena. */
unsigned char *cohort__board_place(const struct cohort__board *board, uint32_t slot,
                                   uint64_t number, size_t bytes, uint32_t offset);

/* SLOT's arena. */
unsigned char *cohort__board_arena(const struct cohort__board *board, uint32_t slot);

/* Where SLOT has put the BYTES bytes of its post, which has to be valid. NULL: the offset in the
 * post is impossible. */
const unsigned char *cohort__board_data(const struct cohort__board *board, uint32_t slot,
                                        uint64_t number, size_t bytes);

/* The same of the table for NUM sites, in a post that has one. */
const uint64_t *cohort__board_table(const struct cohort__board *board, uint32_t slot,
                                    uint64_t number, uint32_t num);

/* Sequentially consistent: who waits for a post says so first, and looks then. */
static inline bool cohort__board_is_posted(const struct cohort__board_post *post, uint64_t number)
{
    return atomic_load(&post->number) == number;
}

#endif
