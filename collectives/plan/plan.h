/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_PLAN_H
#define COHORT_COLLECTIVES_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* What one site does for one call, as plain data: blocks of memory, steps over them, and what each
 * step waits for. Builders append to a plan_builder; a finished plan never changes, is counted, and
 * may be run any number of times at once. Nothing here knows of threads, clocks or messages. */

/* No index of a step. */
#define COHORT__NO_STEP UINT32_MAX

enum cohort__space {
    COHORT__SPACE_IN,    /* the caller's input; read only */
    COHORT__SPACE_OUT,   /* the caller's output */
    COHORT__SPACE_TMP,   /* the operation's own memory, `tmp_bytes` of it, not initialised */
    COHORT__SPACE_CHECK, /* COHORT__CHECK_BYTES in the operation's own record: what this site
                            contributes to the agreement; afterwards, what all agree on */
    COHORT__NUM_SPACES
};
enum { COHORT__CHECK_BYTES = 8 };

/* `count` pieces of `bytes` bytes each, the next one starting `stride` bytes after the last one. A
 * contiguous block has count 1 (stride is then 0). Columns of a row-major matrix are one block. */
struct cohort__block {
    uint32_t space;
    uint32_t count;
    size_t offset;
    size_t bytes;
    size_t stride;
};

enum cohort__step_kind {
    COHORT__STEP_JOIN,   /* nothing: a meeting point of dependencies */
    COHORT__STEP_SEND,   /* the blocks, one after the other, as one message to `peer` */
    COHORT__STEP_RECV,   /* one message of exactly their size from `peer` into the blocks */
    COHORT__STEP_COPY,   /* blocks[0] = blocks[1]; same total size, maybe other pieces */
    COHORT__STEP_REDUCE, /* blocks[0] = blocks[1] op blocks[2], in this order; contiguous, same
                            size; blocks[0] may be blocks[1] or blocks[2] exactly */
    COHORT__STEP_ZERO,   /* blocks[0] = zeros */
    COHORT__STEP_GUARD,  /* looks at blocks[0], all of CHECK: over, or the operation fails */
    COHORT__STEP_DONE,   /* row `peer` of OUT is ready for the caller */
};

/* What a REDUCE step applies. */
enum cohort__step_op {
    COHORT__STEP_OP_CALL, /* what the caller gave */
    COHORT__STEP_OP_MIN,  /* the smaller one of int16 elements: the agreement */
};

enum {
    COHORT__PHASE_CHECK = 0, /* the agreement in front of a collective */
    COHORT__LAST_PHASE = 3,
    COHORT__KEEP_PHASE = 255, /* for embedding: every step keeps its own */
};

struct cohort__step {
    uint8_t kind;
    uint8_t phase; /* 1, 2 or 3; COHORT__PHASE_CHECK */
    uint8_t op;    /* REDUCE: enum cohort__step_op */
    uint8_t reserved;
    uint32_t peer;        /* SEND, RECV: the other site; DONE: the row */
    uint32_t tag;         /* (phase, source site, tag) is unique among the receiver's RECVs */
    uint32_t first_block; /* into plan->block_refs */
    uint32_t num_blocks;
    uint32_t num_waits;       /* how many steps have to be done before this one may start */
    uint32_t first_successor; /* into plan->successors: the steps that wait for this one */
    uint32_t num_successors;
    size_t bytes; /* in all of the blocks (of blocks[0] for COPY, REDUCE, ZERO) */
};

struct cohort__plan {
    uint32_t num_sites;
    uint32_t this_site;
    const char *name; /* of the algorithm; static */
    size_t in_bytes;  /* of the caller's buffers, as far as this site touches them */
    size_t out_bytes;
    size_t tmp_bytes;
    bool has_gaps; /* some bytes of OUT are nobody's, and stay as they are */
    uint32_t num_blocks, num_block_refs, num_steps, num_successors;
    const struct cohort__block *blocks;
    const uint32_t *block_refs; /* indices into blocks */
    const struct cohort__step *steps;
    const uint32_t *successors; /* indices into steps */
    uint32_t recv_mask;         /* size of recv_table - 1; a power of two - 1 */
    const uint32_t *recv_table; /* open addressing: index of a RECV step + 1, or 0 */
};

/* The builder. Steps and blocks are named by their index, in the order of appending. Running out of
 * memory is kept in the builder and comes out of finish, so builders need no checks in between. */
struct cohort__plan_builder;

cohort_status cohort__plan_builder_create(struct cohort__plan_builder **ret_builder,
                                          const char *name, uint32_t num_sites, uint32_t this_site);

/* Throws the builder away; not after finish. NULL is fine. */
void cohort__plan_builder_destroy(struct cohort__plan_builder *builder);

/* Something else that the plan needs could not be allocated: finish fails as well. */
void cohort__plan_builder_fail(struct cohort__plan_builder *builder);

/* Adds a block; returns its index. Blocks without bytes, and pieces without gaps, become one. */
uint32_t cohort__plan_block(struct cohort__plan_builder *builder, struct cohort__block block);

/* Shorthands: a contiguous block, and a new contiguous block of TMP (aligned to 64 bytes). */
uint32_t cohort__plan_range(struct cohort__plan_builder *builder, enum cohort__space space,
                            size_t offset, size_t bytes);
uint32_t cohort__plan_tmp(struct cohort__plan_builder *builder, size_t bytes);

/* The block at INDEX, by value, for deriving parts of it (offset and pieces). */
struct cohort__block cohort__plan_get_block(const struct cohort__plan_builder *builder,
                                            uint32_t index);

/* How many steps there are: the index of the next one. */
uint32_t cohort__plan_num_steps(const struct cohort__plan_builder *builder);

uint32_t cohort__plan_join(struct cohort__plan_builder *builder, unsigned phase);
uint32_t cohort__plan_send(struct cohort__plan_builder *builder, unsigned phase, uint32_t peer,
                           uint32_t tag, const uint32_t *blocks, uint32_t num_blocks);
uint32_t cohort__plan_recv(struct cohort__plan_builder *builder, unsigned phase, uint32_t peer,
                           uint32_t tag, const uint32_t *blocks, uint32_t num_blocks);
uint32_t cohort__plan_copy(struct cohort__plan_builder *builder, unsigned phase, uint32_t to,
                           uint32_t from);
uint32_t cohort__plan_reduce(struct cohort__plan_builder *builder, unsigned phase, uint32_t to,
                             uint32_t left, uint32_t right);
uint32_t cohort__plan_zero(struct cohort__plan_builder *builder, unsigned phase, uint32_t block);
uint32_t cohort__plan_guard(struct cohort__plan_builder *builder, uint32_t block);
uint32_t cohort__plan_done(struct cohort__plan_builder *builder, uint32_t row);

/* The same as step INDEX of PLAN, but for its order: whose blocks have the same indices here. */
uint32_t cohort__plan_copy_step(struct cohort__plan_builder *builder,
                                const struct cohort__plan *plan, uint32_t index);

/* The REDUCE steps that are appended from now on apply OP. */
void cohort__plan_set_op(struct cohort__plan_builder *builder, enum cohort__step_op op);

/* OUT may have bytes that no step writes: the caller's blocks there may have gaps. */
void cohort__plan_set_gaps(struct cohort__plan_builder *builder);

/* STEP starts only when EARLIER is done; nothing for COHORT__NO_STEP. */
void cohort__plan_after(struct cohort__plan_builder *builder, uint32_t step, uint32_t earlier);

/* Turns the builder into a plan (with one reference) and frees the builder, on failure too. */
cohort_status cohort__plan_finish(struct cohort__plan_builder *builder,
                                  struct cohort__plan **ret_plan);

struct cohort__plan *cohort__plan_ref(struct cohort__plan *plan);
void cohort__plan_unref(struct cohort__plan *plan); /* NULL is fine */

/* The RECV step for a message, or COHORT__NO_STEP. Constant time. */
uint32_t cohort__plan_find_recv(const struct cohort__plan *plan, unsigned phase, uint32_t source,
                                uint32_t tag);

#endif
