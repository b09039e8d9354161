/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_PLAN_H
#define COHORT_COLLECTIVES_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* What one site does for one call, as plain data: blocks of memory, steps over them, and what each
 * step waits for. Algorithms append steps to a plan_builder. A finished plan never changes, is
 * reference-counted, and may be run any number of times at once. Nothing here uses threads, clocks
 * or messages. */

/* Stands for no step, where an index of a step is expected. */
#define COHORT__NO_STEP UINT32_MAX

enum cohort__space {
    COHORT__SPACE_IN,    /* the caller's input; read only */
    COHORT__SPACE_OUT,   /* the caller's output */
    COHORT__SPACE_TMP,   /* the operation's own memory, `tmp_bytes` of it, not initialised */
    COHORT__SPACE_CHECK, /* COHORT__CHECK_BYTES in the operation's own record: first this site's
                          * contribution to the agreement, afterwards its result */
    COHORT__SPACE_NOTE,  /* another site's note; only a READ has blocks in it */
    COHORT__NUM_SPACES
};
enum { COHORT__CHECK_BYTES = 8 };

/* `count` pieces of `bytes` bytes each. Each piece starts `stride` bytes after the start of the one
 * before. A contiguous block has count 1 (stride is then 0). Consecutive columns of a row-major
 * matrix are one block. */
struct cohort__block {
    uint32_t space;
    uint32_t count;
    size_t offset;
    size_t bytes;
    size_t stride;
};

/* A part of IN or OUT, and the site that it is for or from. */
struct cohort__part {
    uint32_t site;
    size_t offset; /* in bytes, as is the next */
    size_t bytes;
};

enum cohort__step_kind {
    COHORT__STEP_JOIN,   /* does nothing; it joins dependencies */
    COHORT__STEP_SEND,   /* the blocks, one after the other, as one message to `peer` */
    COHORT__STEP_RECV,   /* one message of exactly their size from `peer` into the blocks */
    COHORT__STEP_COPY,   /* blocks[0] = blocks[1]; same total size, perhaps in other pieces */
    COHORT__STEP_REDUCE, /* blocks[0] = blocks[1] op blocks[2], in this order; contiguous, same
                            size; blocks[0] may be blocks[1] or blocks[2] exactly */
    COHORT__STEP_ZERO,   /* blocks[0] = zeros */
    COHORT__STEP_GUARD,  /* checks blocks[0], all of CHECK; may fail the operation */
    COHORT__STEP_DONE,   /* row `peer` of OUT is ready for the caller */
    /* The members do `collective` together, without messages: blocks[1] is what this
     * site brings, blocks[0] what it gets, both contiguous, perhaps without bytes; a block of it
     * has `bytes` bytes. `peer` is the rank of the root among them, or of a shift how far, `tag`
     * which meeting of the plan it is. Is done when all members are ready and the data has moved.
     */
    COHORT__STEP_MEET,
    /* Leaves the blocks, one after the other, as note `tag` where other sites of this host can read
     * it: `peer`, or with COHORT__EVERYBODY all that share the note. Waits for none of them. */
    COHORT__STEP_POST,
    /* Reads blocks[1], a part of note `tag` of site `peer`, in the space NOTE: copies it to
     * blocks[0]; or blocks[0] = blocks[2] op blocks[1]. Contiguous, the same size; blocks[0] may be
     * blocks[2] exactly. Each site that a note is for reads it once. */
    COHORT__STEP_READ,
    /* Of a plan for bundles (sparse_steps.h): each object in the slots of blocks[1] goes into that
     * slot of blocks[0] which is on the way to its target. `peer` says how the targets are divided:
     * by their subgroups of that level of the machine, or by COHORT__BY_PLACE; `tag` is the number
     * of the subgroup, or place, that the first slot is for; with `op` the objects are copied. Both
     * contiguous. */
    COHORT__STEP_ROUTE,
};

/* What sites do together, in a call or in a meeting of a plan. "Blocks" are one for each site, in
 * the order of the sites. */
enum cohort__collective {
    COHORT__GATHER,         /* IN: block; OUT at the root: blocks */
    COHORT__SCATTER,        /* IN at the root: blocks; OUT: block */
    COHORT__BROADCAST,      /* IN at the root: block; OUT elsewhere: block */
    COHORT__REDUCE,         /* IN: block; OUT at the root: block */
    COHORT__ALL_GATHER,     /* IN: block; OUT: blocks */
    COHORT__ALL_REDUCE,     /* IN: block; OUT: block */
    COHORT__ALL_TO_ALL,     /* IN: blocks; OUT: blocks */
    COHORT__BARRIER,        /* no memory */
    COHORT__REDUCE_SCATTER, /* IN: blocks; OUT: block, reduced over all sites */
    COHORT__SCAN,           /* IN: block; OUT: block, reduced over sites 0..this_site */
    COHORT__EXCLUSIVE_SCAN, /* the same over sites 0..this_site-1; site 0 gets nothing */
    COHORT__SHIFT,          /* IN: block; OUT: block of site this_site - shift, modulo num_sites */
    COHORT__EXCHANGE,       /* sends each of in_parts to its site, receives each of out_parts */
    COHORT__CHECK,          /* no memory, and no rows: an agreement alone, see agreement.h */
    COHORT__NUM_COLLECTIVES
};

static inline bool cohort__collective_reduces(enum cohort__collective collective)
{
    return collective == COHORT__REDUCE || collective == COHORT__ALL_REDUCE ||
           collective == COHORT__REDUCE_SCATTER || collective == COHORT__SCAN ||
           collective == COHORT__EXCLUSIVE_SCAN;
}

/* How many meetings a plan may have, and how many notes each site may leave. */
enum { COHORT__PLAN_MEETINGS = 11, COHORT__PLAN_NOTES = 6 };

/* A ROUTE with a slot for each place of the machine's order of the sites. */
#define COHORT__BY_PLACE UINT32_MAX

/* All that share a note read it. */
#define COHORT__EVERYBODY UINT32_MAX

/* Who shares a note: the site that leaves it, those for whom it is, and those who leave the same
 * note for the same site. */
struct cohort__sharers {
    uint32_t first; /* into plan->sharers */
    uint32_t num;   /* 0: this site leaves no such note */
};

/* The operation of a REDUCE step, and of a READ or a meeting that reduces. */
enum cohort__step_op {
    COHORT__STEP_OP_CALL, /* the one that the caller gave */
    COHORT__STEP_OP_MIN,  /* the minimum of int16 elements, for the agreement */
};

enum {
    COHORT__PHASE_CHECK = 0, /* the agreement in front of a collective */
    COHORT__LAST_PHASE = 3,
    COHORT__KEEP_PHASE = 255, /* for embedding: every step keeps its own */
};

struct cohort__step {
    uint8_t kind;
    uint8_t phase;      /* 1, 2 or 3; COHORT__PHASE_CHECK */
    uint8_t op;         /* REDUCE, READ, MEET: enum cohort__step_op; ROUTE: whether it copies */
    uint8_t collective; /* of a MEET */
    /* SEND, RECV, READ: the other site; DONE: the row; MEET: the root's rank, or how far; POST,
     * ROUTE: see there */
    uint32_t peer;
    uint32_t tag;         /* (phase, source site, tag) is unique among the receiver's RECVs */
    uint32_t first_block; /* into plan->block_refs */
    uint32_t num_blocks;
    uint32_t num_waits;       /* how many steps have to be done before this one may start */
    uint32_t first_successor; /* into plan->successors: the steps that wait for this one */
    uint32_t num_successors;
    /* In all of the blocks (of blocks[0] for COPY, REDUCE, ZERO, ROUTE); MEET: see there. */
    size_t bytes;
};

struct cohort__plan {
    uint32_t num_sites;
    uint32_t this_site;
    const char *name; /* of the algorithm; static */
    size_t in_bytes;  /* of the caller's buffers, as far as the steps touch them */
    size_t out_bytes;
    size_t tmp_bytes;
    bool has_gaps;           /* some bytes of OUT belong to no block, and are not written */
    uint32_t num_meetings;   /* MEET steps */
    uint32_t num_members;    /* who take part in them; 0: there are none */
    uint32_t this_rank;      /* this site's among them */
    const uint32_t *members; /* sites; NULL: all of them. See cohort__plan_member */
    uint32_t num_posts;      /* POST and READ steps */
    uint32_t num_reads;
    struct cohort__sharers notes[COHORT__PLAN_NOTES]; /* of this site */
    const uint32_t *sharers;                          /* sites */
    uint32_t num_blocks, num_block_refs, num_steps, num_successors;
    const struct cohort__block *blocks;
    const uint32_t *block_refs; /* indices into blocks */
    const struct cohort__step *steps;
    const uint32_t *successors; /* indices into steps */
    uint32_t recv_mask;         /* size of recv_table - 1; a power of two - 1 */
    const uint32_t *recv_table; /* open addressing: index of a RECV step + 1, or 0 */
};

/* The site that is member RANK. */
static inline uint32_t cohort__plan_member(const struct cohort__plan *plan, uint32_t rank)
{
    return plan->members ? plan->members[rank] : rank;
}

/* The builder. Steps and blocks are named by their index, in the order of appending. If memory runs
 * out, the builder remembers it and finish fails, so no checks are needed in between. */
struct cohort__plan_builder;

cohort_status cohort__plan_builder_create(struct cohort__plan_builder **ret_builder,
                                          const char *name, uint32_t num_sites, uint32_t this_site);

/* Destroys a builder that has not been finished. NULL is fine. */
void cohort__plan_builder_destroy(struct cohort__plan_builder *builder);

/* Says that something else that the plan needs could not be allocated: finish then fails, too. */
void cohort__plan_builder_fail(struct cohort__plan_builder *builder);

/* Says that a plan that was to be a part of this one could not be built: finish then fails with the
 * first such STATUS, and with what cohort_error_message says now. */
void cohort__plan_builder_fail_too(struct cohort__plan_builder *builder, cohort_status status);

/* Adds a block and returns its index. A block without bytes, or of pieces without gaps, becomes one
 * with one piece. */
uint32_t cohort__plan_block(struct cohort__plan_builder *builder, struct cohort__block block);

/* Shorthands: a contiguous block, and a new contiguous block of TMP (aligned to 64 bytes). */
uint32_t cohort__plan_range(struct cohort__plan_builder *builder, enum cohort__space space,
                            size_t offset, size_t bytes);
uint32_t cohort__plan_tmp(struct cohort__plan_builder *builder, size_t bytes);

/* The block at INDEX, by value, for making blocks from parts of it (offset and pieces). */
struct cohort__block cohort__plan_get_block(const struct cohort__plan_builder *builder,
                                            uint32_t index);

/* The number of steps so far, which is the index of the next one. */
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

/* Those who take part in the MEET steps: NUM sites, of which this one is RANK. They are copied.
 * SITES NULL: all sites of the plan, which take no memory. */
void cohort__plan_set_members(struct cohort__plan_builder *builder, const uint32_t *sites,
                              uint32_t num, uint32_t rank);

/* The next meeting of these, see COHORT__STEP_MEET. All members append the same ones, in the same
 * order. */
uint32_t cohort__plan_meet(struct cohort__plan_builder *builder, unsigned phase,
                           enum cohort__collective collective, uint32_t root, size_t bytes,
                           uint32_t to, uint32_t from);

/* POST: leaves note NUMBER, which each site leaves once at most, for READER, or COHORT__EVERYBODY,
 * of the NUM sites that share it. These are copied. */
uint32_t cohort__plan_post(struct cohort__plan_builder *builder, unsigned phase, uint32_t number,
                           uint32_t reader, const uint32_t *sites, uint32_t num,
                           const uint32_t *blocks, uint32_t num_blocks);

/* READ: from byte OFFSET of PEER's note NUMBER on. LEFT is a block, or COHORT__NO_BLOCK. */
#define COHORT__NO_BLOCK UINT32_MAX
uint32_t cohort__plan_read(struct cohort__plan_builder *builder, unsigned phase, uint32_t number,
                           uint32_t peer, size_t offset, uint32_t to, uint32_t left);

/* ROUTE, see there. */
uint32_t cohort__plan_route(struct cohort__plan_builder *builder, unsigned phase, bool copies,
                            uint32_t level, uint32_t first, uint32_t to, uint32_t from);

/* Appends a copy of step INDEX of PLAN, without its dependencies. The blocks of PLAN must have the
 * same indices in BUILDER. What a POST shares goes with it. */
uint32_t cohort__plan_copy_step(struct cohort__plan_builder *builder,
                                const struct cohort__plan *plan, uint32_t index);

/* The steps that reduce and are appended from now on use OP. */
void cohort__plan_set_op(struct cohort__plan_builder *builder, enum cohort__step_op op);

/* OUT may have bytes that no step writes, since the caller's blocks may have gaps. */
void cohort__plan_set_gaps(struct cohort__plan_builder *builder);

/* STEP starts only when EARLIER is done. Does nothing if EARLIER is COHORT__NO_STEP. */
void cohort__plan_after(struct cohort__plan_builder *builder, uint32_t step, uint32_t earlier);

/* Turns the builder into a plan (with one reference) and frees the builder, also on failure. */
cohort_status cohort__plan_finish(struct cohort__plan_builder *builder,
                                  struct cohort__plan **ret_plan);

struct cohort__plan *cohort__plan_ref(struct cohort__plan *plan);
void cohort__plan_unref(struct cohort__plan *plan); /* NULL is fine */

/* Of memory that it takes. */
size_t cohort__plan_bytes(const struct cohort__plan *plan);

/* The RECV step for a message, or COHORT__NO_STEP. Takes constant time. */
uint32_t cohort__plan_find_recv(const struct cohort__plan *plan, unsigned phase, uint32_t source,
                                uint32_t tag);

/* Some bytes of a space, and a step that is to wait until they are written. */
struct cohort__written {
    size_t offset;
    size_t bytes;
    uint32_t step;
    uint32_t last; /* for the search; 0 */
};

/* Lets the step of each of RANGES, which must not overlap, wait for all steps that write to that
 * range of SPACE. The steps of ranges themselves write nothing. Sorts RANGES. */
void cohort__plan_after_writers(struct cohort__plan_builder *builder, enum cohort__space space,
                                struct cohort__written *ranges, uint32_t num);

#endif
