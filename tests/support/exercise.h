/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_EXERCISE_H
#define COHORT_TESTS_SUPPORT_EXERCISE_H

#include <cohort/cohort.h>

/* One call of a collective. Its contents follow from site, generation and place, and its result is
 * compared with a naive reference. */
enum exercise_kind {
    EXERCISE_GATHER,
    EXERCISE_SCATTER,
    EXERCISE_BROADCAST,
    EXERCISE_REDUCE,
    EXERCISE_REDUCE_ORDERED, /* a user's operation, not commutative */
    EXERCISE_ALL_GATHER,
    EXERCISE_ALL_REDUCE,
    EXERCISE_ALL_REDUCE_ORDERED,
    EXERCISE_ALL_TO_ALL,
    EXERCISE_BARRIER,
    EXERCISE_REDUCE_SCATTER, /* this and the reductions below: either operation */
    EXERCISE_SCAN,
    EXERCISE_EXCLUSIVE_SCAN,
    EXERCISE_SHIFT,
    EXERCISE_GATHERV,
    EXERCISE_SCATTERV,
    EXERCISE_ALL_GATHERV,
    EXERCISE_REDUCE_SCATTERV,
    EXERCISE_ALL_TO_ALLV,
    EXERCISE_ALL_TO_ALLW,
    EXERCISE_EXCHANGE,
    EXERCISE_NUM_KINDS,
};

/* How the collective is called. Sites may differ in in_place, rows, apart and deadline. */
struct exercise_options {
    bool in_place; /* if the call allows it */
    bool rows;     /* a future for each row, if the call has rows */
    bool has_root; /* root is an option of the call, if it has a root */
    uint32_t root;
    bool ordered;          /* a user's operation, if the kind allows both */
    const char *algorithm; /* forced; or NULL */
    bool checked;          /* agreement comes first, if the type allows it */
    bool reproducible;     /* reductions are reproducible */
    bool apart;            /* OUT has a layout, if the call has an OUT and allows it */
    uint64_t deadline;     /* ns; 0: none */
};

/* A block of COUNT elements at OFFSET of a buffer, for PEER or from PEER. */
struct exercise_block {
    uint32_t peer;
    uint64_t key; /* for its contents: blocks of the same site have different keys */
    size_t offset;
    size_t count;
};

struct exercise_blocks {
    struct exercise_block *all;
    size_t num;
    size_t end; /* of the buffer, in elements */
    bool has_displacements;
};

struct exercise {
    cohort_comm *comm;
    enum exercise_kind kind;
    size_t count; /* 8-byte elements; if ragged: about so many in a block */
    uint64_t generation;
    struct exercise_options options;
    uint32_t root;
    struct exercise_blocks in_blocks;
    struct exercise_blocks out_blocks;
    uint64_t *in;
    uint64_t *out;
    size_t num_out;
    cohort_layout *layout; /* of OUT; NULL: none */
    uint64_t *lying;       /* what the call gets as OUT then */
    cohort_future *done;
    cohort_future **rows; /* or NULL */
    uint32_t num_rows;
};

const char *exercise_name(enum exercise_kind kind);

/* Starts the call. All sites have to pass the same arguments. The options are drawn from generation
 * and site. */
void exercise_begin(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                    size_t count, uint64_t generation);
void exercise_begin_with(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                         size_t count, uint64_t generation, struct exercise_options options);

/* The options that exercise_begin draws. */
struct exercise_options exercise_draw_options(cohort_comm *comm, uint64_t generation);

/* Awaits the call and checks its result. A wrong result ends the test. */
cohort_status exercise_end(struct exercise *exercise);

/* The same if the endpoint no longer exists: the result is not checked. */
cohort_status exercise_end_unchecked(struct exercise *exercise);

/* Shared by exercise.c and exercise_blocks.c. exercise_draw gives a number that follows from its
 * arguments and is the same at all sites. The others give the blocks, their contents, and the
 * properties of a kind. */
uint64_t exercise_draw(const struct exercise *exercise, uint64_t what, uint64_t a, uint64_t b);
void exercise_lay_out(struct exercise *exercise);
uint64_t exercise_input(const struct exercise *exercise, const struct exercise_block *block,
                        size_t place);
uint64_t exercise_output(const struct exercise *exercise, const struct exercise_block *block,
                         size_t place);
uint64_t exercise_compose(uint64_t left, uint64_t right);
bool exercise_is_rooted(enum exercise_kind kind);
bool exercise_is_ordered(const struct exercise *exercise);
bool exercise_has_rows(const struct exercise *exercise);
/* Whether the call can be made in place: for each pair of blocks, the one of IN is at the place of
 * the one of OUT. */
bool exercise_can_be_in_place(const struct exercise *exercise);
int64_t exercise_shift(const struct exercise *exercise);

#endif
