/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/embed.h"

#include <stdbool.h>
#include <stdlib.h>

enum { MAX_OPERANDS = 3 };

/* Which of the embedding's two steps (`after`, `recv_after`) come before a step. */
enum { ORDERED = 1, RECV_ORDERED = 2 };

/* The steps that one step of the subplan has become. */
struct image {
    uint32_t first; /* its parts are consecutive steps of the outer plan */
    uint32_t num_parts;
    uint32_t last; /* it is done when all parts are; COHORT__NO_STEP if there are none */
    unsigned ordered;
};

struct embedder {
    struct cohort__plan_builder *builder;
    const struct cohort__plan *subplan;
    const struct cohort__embedding *embedding;
    struct image *images;
    uint32_t *tmp_blocks; /* for each block of the subplan in TMP: the block that replaces it */
    uint32_t *refs;       /* scratch: the blocks of one message */
};

static struct cohort__block_list list_of(const struct embedder *self, uint32_t block)
{
    if (self->subplan->blocks[block].space == COHORT__SPACE_TMP)
        return (struct cohort__block_list){.blocks = &self->tmp_blocks[block], .num_blocks = 1};
    if (self->embedding->blocks)
        return (struct cohort__block_list){.blocks = &self->embedding->blocks[block],
                                           .num_blocks = 1};
    return self->embedding->block_map[block];
}

static unsigned phase_of(const struct embedder *self, const struct cohort__step *step)
{
    unsigned phase = self->embedding->phase;
    return phase == COHORT__KEEP_PHASE ? step->phase : phase;
}

/* A place in the bytes of a list. */
struct cursor {
    struct cohort__block_list list;
    uint32_t index;             /* of the current block in the list */
    size_t skip;                /* bytes of that block that are done already */
    struct cohort__block block; /* that block */
};

/* Moves on to a block with bytes left. False at the end of the list. */
static bool cursor_settle(struct cursor *cursor, const struct cohort__plan_builder *builder)
{
    for (; cursor->index < cursor->list.num_blocks; cursor->index++, cursor->skip = 0) {
        cursor->block = cohort__plan_get_block(builder, cursor->list.blocks[cursor->index]);
        if (cursor->skip < cursor->block.count * cursor->block.bytes)
            return true;
    }
    return false;
}

/* How many of the next LIMIT bytes can be described by one block, which has one piece if
 * CONTIGUOUS. */
static size_t cursor_reach(const struct cursor *cursor, size_t limit, bool contiguous)
{
    const struct cohort__block *block = &cursor->block;
    size_t in_piece = block->bytes - cursor->skip % block->bytes;
    size_t in_block = block->count * block->bytes - cursor->skip;
    if (contiguous || in_piece < block->bytes || limit < block->bytes)
        return limit < in_piece ? limit : in_piece;
    limit = limit < in_block ? limit : in_block;
    return limit / block->bytes * block->bytes;
}

/* The next BYTES bytes as a block. cursor_reach has to have allowed this number. */
static struct cohort__block cursor_cut(const struct cursor *cursor, size_t bytes)
{
    struct cohort__block cut = cursor->block;
    size_t piece = cursor->skip / cut.bytes;
    cut.offset += piece * cut.stride + cursor->skip % cut.bytes;
    cut.count = bytes <= cut.bytes ? 1 : (uint32_t)(bytes / cut.bytes);
    cut.bytes = bytes / cut.count;
    cut.stride = cut.count == 1 ? 0 : cut.stride;
    return cut;
}

static bool same_bytes(const struct cohort__block *a, const struct cohort__block *b)
{
    return a->space == b->space && a->count == b->count && a->offset == b->offset &&
           a->bytes == b->bytes && a->stride == b->stride;
}

/* Appends one part of a COPY, REDUCE or ZERO. False if the part would do nothing. */
static bool part_append(struct embedder *self, const struct cohort__step *step,
                        const struct cursor *cursors, size_t bytes)
{
    struct cohort__plan_builder *builder = self->builder;
    unsigned phase = phase_of(self, step);
    struct cohort__block cuts[MAX_OPERANDS];
    uint32_t blocks[MAX_OPERANDS];
    for (uint32_t i = 0; i < step->num_blocks; i++)
        cuts[i] = cursor_cut(&cursors[i], bytes);
    if (step->kind == COHORT__STEP_COPY && same_bytes(&cuts[0], &cuts[1]))
        return false;
    for (uint32_t i = 0; i < step->num_blocks; i++)
        blocks[i] = same_bytes(&cuts[i], &cursors[i].block)
                        ? cursors[i].list.blocks[cursors[i].index]
                        : cohort__plan_block(builder, cuts[i]);
    if (step->kind == COHORT__STEP_COPY)
        cohort__plan_copy(builder, phase, blocks[0], blocks[1]);
    else if (step->kind == COHORT__STEP_REDUCE)
        cohort__plan_reduce(builder, phase, blocks[0], blocks[1], blocks[2]);
    else
        cohort__plan_zero(builder, phase, blocks[0]);
    return true;
}

/* Appends a step in parts: the operands are cut wherever a block ends in one of their lists.
 * Returns the number of parts. */
static uint32_t parts_append(struct embedder *self, const struct cohort__step *step)
{
    const uint32_t *refs = &self->subplan->block_refs[step->first_block];
    bool contiguous = step->kind == COHORT__STEP_REDUCE;
    struct cursor cursors[MAX_OPERANDS] = {{{0}, 0, 0, {0}}};
    uint32_t num_parts = 0;
    for (uint32_t i = 0; i < step->num_blocks; i++)
        cursors[i].list = list_of(self, refs[i]);
    for (size_t left = step->bytes; left > 0;) {
        size_t bytes = left;
        for (uint32_t i = 0; i < step->num_blocks; i++)
            if (!cursor_settle(&cursors[i], self->builder))
                return num_parts; /* the builder has failed */
        for (size_t before = 0; before != bytes;) {
            before = bytes;
            for (uint32_t i = 0; i < step->num_blocks; i++)
                bytes = cursor_reach(&cursors[i], bytes, contiguous);
        }
        num_parts += part_append(self, step, cursors, bytes);
        for (uint32_t i = 0; i < step->num_blocks; i++)
            cursors[i].skip += bytes;
        left -= bytes;
    }
    return num_parts;
}

/* Puts the blocks of a step with any number of them into `refs`. Returns their number. */
static uint32_t refs_of(struct embedder *self, const struct cohort__step *step)
{
    const uint32_t *blocks = &self->subplan->block_refs[step->first_block];
    uint32_t num_refs = 0;
    for (uint32_t i = 0; i < step->num_blocks; i++) {
        struct cohort__block_list list = list_of(self, blocks[i]);
        for (uint32_t k = 0; k < list.num_blocks; k++)
            self->refs[num_refs++] = list.blocks[k];
    }
    return num_refs;
}

static void message_append(struct embedder *self, const struct cohort__step *step)
{
    const uint32_t *sites = self->embedding->sites;
    uint32_t peer = sites ? sites[step->peer] : step->peer;
    uint32_t tag = self->embedding->tag + step->tag + self->embedding->tags_per_phase * step->phase;
    uint32_t num_refs = refs_of(self, step);
    if (self->embedding->tags_per_phase && step->tag >= self->embedding->tags_per_phase) {
        (void)cohort_fail(COHORT_ERR_NOT_SUPPORTED, "plan %s: tag %x is another phase's",
                          self->subplan->name, step->tag);
        cohort__plan_builder_fail_too(self->builder, COHORT_ERR_NOT_SUPPORTED);
    }
    if (step->kind == COHORT__STEP_SEND)
        cohort__plan_send(self->builder, phase_of(self, step), peer, tag, self->refs, num_refs);
    else
        cohort__plan_recv(self->builder, phase_of(self, step), peer, tag, self->refs, num_refs);
}

/* The blocks of a meeting are contiguous, and stay so. */
static void meeting_append(struct embedder *self, const struct cohort__step *step)
{
    const uint32_t *refs = &self->subplan->block_refs[step->first_block];
    cohort__plan_meet(self->builder, phase_of(self, step),
                      (enum cohort__collective)step->collective, step->peer, step->bytes,
                      list_of(self, refs[0]).blocks[0], list_of(self, refs[1]).blocks[0]);
}

/* Likewise the slots of a ROUTE. */
static void route_append(struct embedder *self, const struct cohort__step *step)
{
    const uint32_t *refs = &self->subplan->block_refs[step->first_block];
    cohort__plan_route(self->builder, phase_of(self, step), step->op, step->peer, step->tag,
                       list_of(self, refs[0]).blocks[0], list_of(self, refs[1]).blocks[0]);
}

/* What is read of a note is contiguous, and stays so. The sites are the same. */
static void note_append(struct embedder *self, const struct cohort__step *step)
{
    const struct cohort__plan *subplan = self->subplan;
    const uint32_t *refs = &subplan->block_refs[step->first_block];
    uint32_t number = self->embedding->first_note + step->tag;
    if (step->kind == COHORT__STEP_READ) {
        cohort__plan_read(self->builder, phase_of(self, step), number, step->peer,
                          subplan->blocks[refs[1]].offset, list_of(self, refs[0]).blocks[0],
                          step->num_blocks > 2 ? list_of(self, refs[2]).blocks[0]
                                               : COHORT__NO_BLOCK);
        return;
    }
    uint32_t num_refs = refs_of(self, step);
    cohort__plan_post(self->builder, phase_of(self, step), number, step->peer,
                      subplan->sharers + subplan->notes[step->tag].first,
                      subplan->notes[step->tag].num, self->refs, num_refs);
}

/* Appends the parts of a step, and a JOIN where other steps of the subplan need a single step. */
static void step_append(struct embedder *self, const struct cohort__step *step, struct image *image)
{
    unsigned phase = phase_of(self, step);
    bool is_linked = step->num_waits > 0 || step->num_successors > 0;
    image->first = cohort__plan_num_steps(self->builder);
    image->num_parts = 1;
    if (step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV)
        message_append(self, step);
    else if (step->kind == COHORT__STEP_MEET)
        meeting_append(self, step);
    else if (step->kind == COHORT__STEP_ROUTE)
        route_append(self, step);
    else if (step->kind == COHORT__STEP_POST || step->kind == COHORT__STEP_READ)
        note_append(self, step);
    else if (step->kind == COHORT__STEP_JOIN)
        cohort__plan_join(self->builder, phase);
    else if (step->kind == COHORT__STEP_DONE)
        cohort__plan_done(self->builder, step->peer);
    else
        image->num_parts = parts_append(self, step);
    if (image->num_parts == 0 && is_linked) {
        cohort__plan_join(self->builder, phase);
        image->num_parts = 1;
    }
    image->last = image->num_parts > 0 ? image->first : COHORT__NO_STEP;
    if (image->num_parts > 1) {
        image->last = cohort__plan_join(self->builder, phase);
        for (uint32_t i = 0; i < image->num_parts; i++)
            cohort__plan_after(self->builder, image->last, image->first + i);
    }
}

static void parts_after(struct embedder *self, const struct image *image, uint32_t earlier)
{
    for (uint32_t i = 0; i < image->num_parts; i++)
        cohort__plan_after(self->builder, image->first + i, earlier);
}

static bool is_early(const struct embedder *self, const struct cohort__step *step)
{
    return self->embedding->has_early && step->kind == COHORT__STEP_SEND && step->num_waits == 0 &&
           step->bytes <= self->embedding->early_bytes;
}

/* Lets step INDEX wait for the embedding's step, unless it is early, or a step that it waits for
 * does so already. Then lets its successors wait for it. Successors mostly have higher indices;
 * where they don't, some edges are redundant. */
static void step_link(struct embedder *self, uint32_t index)
{
    const struct cohort__step *step = &self->subplan->steps[index];
    struct image *image = &self->images[index];
    bool is_recv = step->kind == COHORT__STEP_RECV;
    unsigned order = is_recv ? RECV_ORDERED : ORDERED;
    if (!(image->ordered & order) && !is_early(self, step)) {
        parts_after(self, image, is_recv ? self->embedding->recv_after : self->embedding->after);
        image->ordered |= order;
    }
    for (uint32_t i = 0; i < step->num_successors; i++) {
        struct image *next = &self->images[self->subplan->successors[step->first_successor + i]];
        parts_after(self, next, image->last);
        next->ordered |= image->ordered;
    }
}

/* Returns the step that is done when everything is: the only last step, or a new JOIN. */
static uint32_t end_append(struct embedder *self)
{
    const struct cohort__embedding *embedding = self->embedding;
    unsigned ordered = 0;
    uint32_t num_ends = 0;
    uint32_t end = COHORT__NO_STEP;
    for (uint32_t i = 0; i < self->subplan->num_steps; i++) {
        if (self->subplan->steps[i].num_successors > 0 || self->images[i].num_parts == 0)
            continue;
        ordered |= self->images[i].ordered;
        end = self->images[i].last;
        num_ends++;
    }
    uint32_t after = ordered & ORDERED ? COHORT__NO_STEP : embedding->after;
    uint32_t recv_after = ordered & RECV_ORDERED ? COHORT__NO_STEP : embedding->recv_after;
    num_ends += (after != COHORT__NO_STEP) + (recv_after != COHORT__NO_STEP);
    if (num_ends == 0)
        return COHORT__NO_STEP;
    if (num_ends == 1)
        return after != COHORT__NO_STEP ? after : recv_after != COHORT__NO_STEP ? recv_after : end;
    end =
        cohort__plan_join(self->builder, embedding->phase == COHORT__KEEP_PHASE ? COHORT__LAST_PHASE
                                                                                : embedding->phase);
    cohort__plan_after(self->builder, end, after);
    cohort__plan_after(self->builder, end, recv_after);
    for (uint32_t i = 0; i < self->subplan->num_steps; i++)
        if (self->subplan->steps[i].num_successors == 0)
            cohort__plan_after(self->builder, end, self->images[i].last);
    return end;
}

/* The subplan's TMP moves as a whole, so that its blocks overlap as before. */
static void tmp_append(struct embedder *self)
{
    struct cohort__block all = cohort__plan_get_block(
        self->builder, cohort__plan_tmp(self->builder, self->subplan->tmp_bytes));
    for (uint32_t i = 0; i < self->subplan->num_blocks; i++) {
        struct cohort__block block = self->subplan->blocks[i];
        if (block.space != COHORT__SPACE_TMP)
            continue;
        block.offset += all.offset;
        self->tmp_blocks[i] = cohort__plan_block(self->builder, block);
    }
}

static bool embedder_init(struct embedder *self, struct cohort__plan_builder *builder,
                          const struct cohort__plan *subplan,
                          const struct cohort__embedding *embedding)
{
    *self = (struct embedder){.builder = builder, .subplan = subplan, .embedding = embedding};
    size_t max_refs = 0;
    self->images = calloc(subplan->num_steps + (size_t)1, sizeof(*self->images));
    self->tmp_blocks = calloc(subplan->num_blocks + (size_t)1, sizeof(*self->tmp_blocks));
    if (!self->images || !self->tmp_blocks)
        return false;
    for (uint32_t i = 0; i < subplan->num_block_refs; i++)
        max_refs += list_of(self, subplan->block_refs[i]).num_blocks;
    self->refs = calloc(max_refs + 1, sizeof(*self->refs));
    return self->refs;
}

static void embedder_fini(struct embedder *self)
{
    free(self->images);
    free(self->tmp_blocks);
    free(self->refs);
}

uint32_t cohort__plan_embed(struct cohort__plan_builder *builder,
                            const struct cohort__plan *subplan,
                            const struct cohort__embedding *embedding)
{
    struct embedder self;
    uint32_t end = COHORT__NO_STEP;
    if (embedder_init(&self, builder, subplan, embedding)) {
        tmp_append(&self);
        if (subplan->num_members > 0)
            cohort__plan_set_members(builder, subplan->members, subplan->num_members,
                                     subplan->this_rank);
        for (uint32_t i = 0; i < subplan->num_steps; i++)
            step_append(&self, &subplan->steps[i], &self.images[i]);
        for (uint32_t i = 0; i < subplan->num_steps; i++)
            step_link(&self, i);
        end = end_append(&self);
    } else {
        cohort__plan_builder_fail(builder);
    }
    embedder_fini(&self);
    return end;
}

uint32_t cohort__plan_embed_moved(struct cohort__plan_builder *builder,
                                  const struct cohort__plan *subplan,
                                  struct cohort__block (*moved)(const void *context,
                                                                struct cohort__block block),
                                  const void *context, struct cohort__embedding embedding)
{
    uint32_t *blocks = calloc(subplan->num_blocks + (size_t)1, sizeof(*blocks));
    uint32_t end = COHORT__NO_STEP;
    for (uint32_t i = 0; blocks && i < subplan->num_blocks; i++)
        if (subplan->blocks[i].space != COHORT__SPACE_TMP)
            blocks[i] = cohort__plan_block(builder, moved(context, subplan->blocks[i]));
    embedding.blocks = blocks;
    if (blocks)
        end = cohort__plan_embed(builder, subplan, &embedding);
    else
        cohort__plan_builder_fail(builder);
    free(blocks);
    return end;
}
