/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_EXERCISE_H
#define COHORT_TESTS_SUPPORT_EXERCISE_H

#include <cohort/cohort.h>

/* One call of a collective with contents that follow from site, generation and place, checked
 * against what a naive reference says must come out. */
enum exercise_kind {
    EXERCISE_GATHER,
    EXERCISE_SCATTER,
    EXERCISE_BROADCAST,
    EXERCISE_REDUCE,
    EXERCISE_REDUCE_ORDERED, /* the user's operation, not commutative */
    EXERCISE_ALL_GATHER,
    EXERCISE_ALL_REDUCE,
    EXERCISE_ALL_REDUCE_ORDERED,
    EXERCISE_ALL_TO_ALL,
    EXERCISE_BARRIER,
    EXERCISE_REDUCE_SCATTER, /* this and the following reductions: one or the other operation */
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

/* How it is called; sites may differ in in_place and rows. */
struct exercise_options {
    bool in_place; /* where that is possible */
    bool rows;     /* a future for each row, where that is possible */
    bool has_root; /* the option of the call, where there is a root: */
    uint32_t root;
    bool ordered;          /* the user's operation, where the kind leaves it open */
    const char *algorithm; /* forced; or NULL */
    bool checked;          /* agreement comes first, where the type allows it */
    bool reproducible;     /* reductions are */
};

/* So many elements at OFFSET of a buffer, for or from PEER. */
struct exercise_block {
    uint32_t peer;
    uint64_t key; /* what blocks of the same site differ in: for its contents */
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
    size_t count; /* of 8-byte elements; ragged: about so many a block */
    uint64_t generation;
    struct exercise_options options;
    uint32_t root;
    struct exercise_blocks in_blocks;
    struct exercise_blocks out_blocks;
    uint64_t *in;
    uint64_t *out;
    cohort_future *done;
    cohort_future **rows; /* or NULL */
    uint32_t num_rows;
};

const char *exercise_name(enum exercise_kind kind);

/* Calls; all sites with the same arguments. The options are drawn from generation and site. */
void exercise_begin(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                    size_t count, uint64_t generation);
void exercise_begin_with(struct exercise *exercise, cohort_comm *comm, enum exercise_kind kind,
                         size_t count, uint64_t generation, struct exercise_options options);

/* Awaits and checks; a wrong result ends the test. */
cohort_status exercise_end(struct exercise *exercise);

/* The same where the endpoint is gone: the result is not looked at. */
cohort_status exercise_end_unchecked(struct exercise *exercise);

/* Between exercise.c and exercise_blocks.c: a number that follows from the exercise and these, the
 * same at all sites; which blocks there are; what is in them; which kind of a kind it is. */
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
/* The block of IN that is in place at its block of OUT, for each pair; where possible. */
bool exercise_can_be_in_place(const struct exercise *exercise);
int64_t exercise_shift(const struct exercise *exercise);

#endif
