/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/plan/tag.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"

enum { TMP_ALIGNMENT = 64 };

/* `step` waits for `earlier`. */
struct edge {
    uint32_t step;
    uint32_t earlier;
};

struct array {
    void *items;
    uint32_t count;
    uint32_t capacity;
};

struct cohort__plan_builder {
    const char *name;
    uint32_t num_sites;
    uint32_t this_site;
    size_t tmp_bytes;
    enum cohort__step_op op; /* of the REDUCE steps that follow */
    bool has_gaps;
    bool failed; /* nothing is appended any more */
    /* Of a part that failed. COHORT_OK: memory ran out. (No struct cohort__error: a program that
     * links libcohort and parts of it must not get a second copy of it.) */
    cohort_status status;
    char why[COHORT__ERROR_BYTES];
    struct array blocks;
    struct array block_refs;
    struct array steps;
    struct array edges;
    struct array members; /* empty: all sites, if there are any */
    uint32_t num_members;
    uint32_t this_rank;
    uint32_t num_meetings;
    uint32_t num_posts;
    uint32_t num_reads;
    struct cohort__sharers notes[COHORT__PLAN_NOTES];
    struct array sharers;
};

/* A plan and its arrays are one allocation. */
struct shared_plan {
    _Atomic uint32_t refs;
    size_t bytes;
    struct cohort__plan plan;
};

/* Appends COUNT new items to ARRAY. NULL where memory ran out. */
static void *array_append(struct array *array, uint32_t count, size_t item_bytes)
{
    if (!array->items || count > array->capacity - array->count) {
        uint64_t capacity = 2 * (uint64_t)array->capacity;
        if (capacity < (uint64_t)array->count + count)
            capacity = (uint64_t)array->count + count;
        if (capacity < 16)
            capacity = 16;
        void *items =
            capacity < UINT32_MAX ? realloc(array->items, (size_t)capacity * item_bytes) : NULL;
        if (!items)
            return NULL;
        array->items = items;
        array->capacity = (uint32_t)capacity;
    }
    void *first = (char *)array->items + array->count * item_bytes;
    array->count += count;
    return first;
}

cohort_status cohort__plan_builder_create(struct cohort__plan_builder **ret_builder,
                                          const char *name, uint32_t num_sites, uint32_t this_site)
{
    struct cohort__plan_builder *builder = calloc(1, sizeof(*builder));
    if (!builder)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "plan %s at site %u of %u: no memory", name,
                           this_site, num_sites);
    builder->name = name;
    builder->num_sites = num_sites;
    builder->this_site = this_site;
    *ret_builder = builder;
    return COHORT_OK;
}

void cohort__plan_builder_destroy(struct cohort__plan_builder *builder)
{
    if (!builder)
        return;
    free(builder->blocks.items);
    free(builder->block_refs.items);
    free(builder->steps.items);
    free(builder->edges.items);
    free(builder->members.items);
    free(builder->sharers.items);
    free(builder);
}

/* If there is only one way to describe the same bytes, blocks are easier to compare and to copy. */
static struct cohort__block normalised(struct cohort__block block)
{
    if (block.count == 0 || block.bytes == 0) {
        block.count = 1;
        block.bytes = 0;
    }
    if (block.stride == block.bytes) {
        block.bytes *= block.count;
        block.count = 1;
    }
    if (block.count == 1)
        block.stride = 0;
    return block;
}

uint32_t cohort__plan_block(struct cohort__plan_builder *builder, struct cohort__block block)
{
    uint32_t index = builder->blocks.count;
    struct cohort__block *added =
        builder->failed ? NULL : array_append(&builder->blocks, 1, sizeof(*added));
    if (!added) {
        builder->failed = true;
        return 0;
    }
    *added = normalised(block);
    return index;
}

uint32_t cohort__plan_range(struct cohort__plan_builder *builder, enum cohort__space space,
                            size_t offset, size_t bytes)
{
    return cohort__plan_block(
        builder,
        (struct cohort__block){.space = space, .count = 1, .offset = offset, .bytes = bytes});
}

uint32_t cohort__plan_tmp(struct cohort__plan_builder *builder, size_t bytes)
{
    size_t offset = (builder->tmp_bytes + TMP_ALIGNMENT - 1) / TMP_ALIGNMENT * TMP_ALIGNMENT;
    if (bytes > 0)
        builder->tmp_bytes = offset + bytes;
    else
        offset = 0;
    return cohort__plan_range(builder, COHORT__SPACE_TMP, offset, bytes);
}

struct cohort__block cohort__plan_get_block(const struct cohort__plan_builder *builder,
                                            uint32_t index)
{
    if (builder->failed)
        return (struct cohort__block){.count = 1};
    return ((const struct cohort__block *)builder->blocks.items)[index];
}

static size_t block_bytes(const struct cohort__plan_builder *builder, uint32_t index)
{
    struct cohort__block block = cohort__plan_get_block(builder, index);
    return block.count * block.bytes;
}

static uint32_t step_append(struct cohort__plan_builder *builder, struct cohort__step step,
                            const uint32_t *blocks)
{
    uint32_t index = builder->steps.count;
    step.first_block = builder->block_refs.count;
    struct cohort__step *added =
        builder->failed ? NULL : array_append(&builder->steps, 1, sizeof(*added));
    uint32_t *refs =
        added ? array_append(&builder->block_refs, step.num_blocks, sizeof(*refs)) : NULL;
    if (!refs) {
        builder->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < step.num_blocks; i++)
        refs[i] = blocks[i];
    *added = step;
    return index;
}

static uint32_t message_append(struct cohort__plan_builder *builder, struct cohort__step step,
                               const uint32_t *blocks)
{
    if (step.tag >> COHORT__TAG_BITS) {
        (void)cohort_fail(COHORT_ERR_NOT_SUPPORTED, "plan %s, site %u: no message can have tag %x",
                          builder->name, builder->this_site, step.tag);
        cohort__plan_builder_fail_too(builder, COHORT_ERR_NOT_SUPPORTED);
    }
    for (uint32_t i = 0; i < step.num_blocks; i++)
        step.bytes += block_bytes(builder, blocks[i]);
    return step_append(builder, step, blocks);
}

uint32_t cohort__plan_num_steps(const struct cohort__plan_builder *builder)
{
    return builder->steps.count;
}

/* The step at INDEX, and block OPERAND of such a step, by value. What a step waits for, and what
 * waits for it, is known only when the plan is finished. */
static struct cohort__step plan_get_step(const struct cohort__plan_builder *builder, uint32_t index)
{
    if (builder->failed)
        return (struct cohort__step){.kind = COHORT__STEP_JOIN};
    return ((const struct cohort__step *)builder->steps.items)[index];
}

static struct cohort__block plan_get_operand(const struct cohort__plan_builder *builder,
                                             const struct cohort__step *step, uint32_t operand)
{
    const uint32_t *refs = builder->block_refs.items;
    return cohort__plan_get_block(builder, builder->failed ? 0 : refs[step->first_block + operand]);
}

uint32_t cohort__plan_join(struct cohort__plan_builder *builder, unsigned phase)
{
    struct cohort__step step = {.kind = COHORT__STEP_JOIN, .phase = (uint8_t)phase};
    return step_append(builder, step, NULL);
}

uint32_t cohort__plan_send(struct cohort__plan_builder *builder, unsigned phase, uint32_t peer,
                           uint32_t tag, const uint32_t *blocks, uint32_t num_blocks)
{
    struct cohort__step step = {.kind = COHORT__STEP_SEND,
                                .phase = (uint8_t)phase,
                                .peer = peer,
                                .tag = tag,
                                .num_blocks = num_blocks};
    return message_append(builder, step, blocks);
}

uint32_t cohort__plan_recv(struct cohort__plan_builder *builder, unsigned phase, uint32_t peer,
                           uint32_t tag, const uint32_t *blocks, uint32_t num_blocks)
{
    struct cohort__step step = {.kind = COHORT__STEP_RECV,
                                .phase = (uint8_t)phase,
                                .peer = peer,
                                .tag = tag,
                                .num_blocks = num_blocks};
    return message_append(builder, step, blocks);
}

uint32_t cohort__plan_copy(struct cohort__plan_builder *builder, unsigned phase, uint32_t to,
                           uint32_t from)
{
    struct cohort__step step = {.kind = COHORT__STEP_COPY,
                                .phase = (uint8_t)phase,
                                .num_blocks = 2,
                                .bytes = block_bytes(builder, to)};
    return step_append(builder, step, (uint32_t[]){to, from});
}

uint32_t cohort__plan_reduce(struct cohort__plan_builder *builder, unsigned phase, uint32_t to,
                             uint32_t left, uint32_t right)
{
    struct cohort__step step = {.kind = COHORT__STEP_REDUCE,
                                .phase = (uint8_t)phase,
                                .op = (uint8_t)builder->op,
                                .num_blocks = 3,
                                .bytes = block_bytes(builder, to)};
    return step_append(builder, step, (uint32_t[]){to, left, right});
}

uint32_t cohort__plan_zero(struct cohort__plan_builder *builder, unsigned phase, uint32_t block)
{
    struct cohort__step step = {.kind = COHORT__STEP_ZERO,
                                .phase = (uint8_t)phase,
                                .num_blocks = 1,
                                .bytes = block_bytes(builder, block)};
    return step_append(builder, step, &block);
}

uint32_t cohort__plan_guard(struct cohort__plan_builder *builder, uint32_t block)
{
    struct cohort__step step = {.kind = COHORT__STEP_GUARD,
                                .phase = COHORT__PHASE_CHECK,
                                .num_blocks = 1,
                                .bytes = block_bytes(builder, block)};
    return step_append(builder, step, &block);
}

uint32_t cohort__plan_done(struct cohort__plan_builder *builder, uint32_t row)
{
    struct cohort__step step = {
        .kind = COHORT__STEP_DONE, .phase = COHORT__LAST_PHASE, .peer = row};
    return step_append(builder, step, NULL);
}

void cohort__plan_set_members(struct cohort__plan_builder *builder, const uint32_t *sites,
                              uint32_t num, uint32_t rank)
{
    builder->members.count = 0;
    builder->num_members = num;
    builder->this_rank = rank;
    if (!sites || builder->failed)
        return;
    uint32_t *members = array_append(&builder->members, num, sizeof(*members));
    if (members)
        memcpy(members, sites, num * sizeof(*members));
    else
        builder->failed = true;
}

uint32_t cohort__plan_meet(struct cohort__plan_builder *builder, unsigned phase,
                           enum cohort__collective collective, uint32_t root, size_t bytes,
                           uint32_t to, uint32_t from)
{
    struct cohort__step step = {.kind = COHORT__STEP_MEET,
                                .phase = (uint8_t)phase,
                                .op = (uint8_t)builder->op,
                                .collective = (uint8_t)collective,
                                .peer = root,
                                .tag = builder->num_meetings++,
                                .num_blocks = 2,
                                .bytes = bytes};
    return step_append(builder, step, (uint32_t[]){to, from});
}

/* Remembers who shares note NUMBER. */
static void share(struct cohort__plan_builder *builder, uint32_t number, const uint32_t *sites,
                  uint32_t num)
{
    uint32_t first = builder->sharers.count;
    uint32_t *added = builder->failed ? NULL : array_append(&builder->sharers, num, sizeof(*added));
    if (!added) {
        builder->failed = true;
        return;
    }
    memcpy(added, sites, num * sizeof(*added));
    builder->notes[number] = (struct cohort__sharers){first, num};
}

uint32_t cohort__plan_post(struct cohort__plan_builder *builder, unsigned phase, uint32_t number,
                           uint32_t reader, const uint32_t *sites, uint32_t num,
                           const uint32_t *blocks, uint32_t num_blocks)
{
    struct cohort__step step = {.kind = COHORT__STEP_POST,
                                .phase = (uint8_t)phase,
                                .peer = reader,
                                .tag = number,
                                .num_blocks = num_blocks};
    share(builder, number, sites, num);
    builder->num_posts++;
    return message_append(builder, step, blocks);
}

uint32_t cohort__plan_read(struct cohort__plan_builder *builder, unsigned phase, uint32_t number,
                           uint32_t peer, size_t offset, uint32_t to, uint32_t left)
{
    struct cohort__step step = {.kind = COHORT__STEP_READ,
                                .phase = (uint8_t)phase,
                                .op = (uint8_t)builder->op,
                                .peer = peer,
                                .tag = number,
                                .num_blocks = left == COHORT__NO_BLOCK ? 2 : 3,
                                .bytes = block_bytes(builder, to)};
    uint32_t note = cohort__plan_range(builder, COHORT__SPACE_NOTE, offset, step.bytes);
    builder->num_reads++;
    return step_append(builder, step, (uint32_t[]){to, note, left});
}

uint32_t cohort__plan_route(struct cohort__plan_builder *builder, unsigned phase, bool copies,
                            uint32_t level, uint32_t first, uint32_t to, uint32_t from)
{
    struct cohort__step step = {.kind = COHORT__STEP_ROUTE,
                                .phase = (uint8_t)phase,
                                .op = copies,
                                .peer = level,
                                .tag = first,
                                .num_blocks = 2,
                                .bytes = block_bytes(builder, to)};
    return step_append(builder, step, (uint32_t[]){to, from});
}

uint32_t cohort__plan_copy_step(struct cohort__plan_builder *builder,
                                const struct cohort__plan *plan, uint32_t index)
{
    struct cohort__step step = plan->steps[index];
    const uint32_t *blocks = plan->block_refs + step.first_block;
    step.num_waits = step.first_successor = step.num_successors = 0;
    builder->num_meetings += step.kind == COHORT__STEP_MEET;
    builder->num_posts += step.kind == COHORT__STEP_POST;
    builder->num_reads += step.kind == COHORT__STEP_READ;
    if (step.kind == COHORT__STEP_POST)
        share(builder, step.tag, plan->sharers + plan->notes[step.tag].first,
              plan->notes[step.tag].num);
    return step_append(builder, step, blocks);
}

void cohort__plan_set_op(struct cohort__plan_builder *builder, enum cohort__step_op op)
{
    builder->op = op;
}

void cohort__plan_set_gaps(struct cohort__plan_builder *builder)
{
    builder->has_gaps = true;
}

void cohort__plan_builder_fail(struct cohort__plan_builder *builder)
{
    builder->failed = true;
}

void cohort__plan_builder_fail_too(struct cohort__plan_builder *builder, cohort_status status)
{
    if (!builder->failed) {
        builder->status = status;
        snprintf(builder->why, sizeof(builder->why), "%s", cohort_error_message());
    }
    builder->failed = true;
}

void cohort__plan_after(struct cohort__plan_builder *builder, uint32_t step, uint32_t earlier)
{
    if (earlier == COHORT__NO_STEP)
        return;
    struct edge *edge = builder->failed ? NULL : array_append(&builder->edges, 1, sizeof(*edge));
    if (edge)
        *edge = (struct edge){.step = step, .earlier = earlier};
    else
        builder->failed = true;
}

static uint32_t recv_slot(const struct cohort__plan *plan, unsigned phase, uint32_t source,
                          uint32_t tag)
{
    uint64_t key = ((uint64_t)source << 32 | tag) ^ (uint64_t)phase << 60;
    return (uint32_t)cohort__hash_u64(key) & plan->recv_mask;
}

/* The table is at most half full, so that there is always an empty slot, where a search ends. */
static uint32_t recv_table_size(const struct array *steps)
{
    const struct cohort__step *step = steps->items;
    uint32_t num_recvs = 0;
    for (uint32_t i = 0; i < steps->count; i++)
        num_recvs += step[i].kind == COHORT__STEP_RECV;
    uint32_t size = 1;
    while (size < 2 * (uint64_t)num_recvs)
        size *= 2;
    return size;
}

static void recv_table_fill(const struct cohort__plan *plan, uint32_t *table)
{
    memset(table, 0, (plan->recv_mask + (size_t)1) * sizeof(*table));
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        if (step->kind != COHORT__STEP_RECV)
            continue;
        uint32_t slot = recv_slot(plan, step->phase, step->peer, step->tag);
        while (table[slot])
            slot = (slot + 1) & plan->recv_mask;
        table[slot] = i + 1;
    }
}

/* Turns "waits for" into "is waited for by", grouped by the earlier step: a counting sort. */
static void successors_fill(struct cohort__step *steps, uint32_t num_steps, uint32_t *successors,
                            const struct array *edges)
{
    const struct edge *edge = edges->items;
    for (uint32_t i = 0; i < edges->count; i++) {
        steps[edge[i].earlier].num_successors++;
        steps[edge[i].step].num_waits++;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < num_steps; i++) {
        steps[i].first_successor = first;
        first += steps[i].num_successors;
        steps[i].num_successors = 0;
    }
    for (uint32_t i = 0; i < edges->count; i++) {
        struct cohort__step *earlier = &steps[edge[i].earlier];
        successors[earlier->first_successor + earlier->num_successors++] = edge[i].step;
    }
}

/* Computes how many bytes of the caller's buffers the steps touch. */
static void extents_fill(struct cohort__plan *plan)
{
    for (uint32_t i = 0; i < plan->num_block_refs; i++) {
        const struct cohort__block *block = &plan->blocks[plan->block_refs[i]];
        size_t end = block->offset + (block->count - 1) * block->stride + block->bytes;
        size_t *extent = block->space == COHORT__SPACE_IN    ? &plan->in_bytes
                         : block->space == COHORT__SPACE_OUT ? &plan->out_bytes
                                                             : NULL;
        if (extent && block->bytes > 0 && end > *extent)
            *extent = end;
    }
}

static void *take(char **memory, const void *items, size_t bytes)
{
    void *place = *memory;
    if (items)
        memcpy(place, items, bytes);
    *memory += bytes;
    return place;
}

/* Lays the builder's arrays out behind the plan. Arrays with a larger alignment come first. */
static struct cohort__plan *plan_create(const struct cohort__plan_builder *builder)
{
    uint32_t table_size = recv_table_size(&builder->steps);
    size_t steps_bytes = builder->steps.count * sizeof(struct cohort__step);
    size_t blocks_bytes = builder->blocks.count * sizeof(struct cohort__block);
    size_t refs_bytes = builder->block_refs.count * sizeof(uint32_t);
    size_t successors_bytes = builder->edges.count * sizeof(uint32_t);
    size_t table_bytes = table_size * sizeof(uint32_t);
    size_t members_bytes = builder->members.count * sizeof(uint32_t);
    size_t sharers_bytes = builder->sharers.count * sizeof(uint32_t);
    size_t bytes = sizeof(struct shared_plan) + steps_bytes + blocks_bytes + refs_bytes +
                   successors_bytes + table_bytes + members_bytes + sharers_bytes;
    struct shared_plan *shared = malloc(bytes);
    if (!shared)
        return NULL;
    char *memory = (char *)(shared + 1);
    struct cohort__step *steps = take(&memory, builder->steps.items, steps_bytes);
    struct cohort__block *blocks = take(&memory, builder->blocks.items, blocks_bytes);
    uint32_t *refs = take(&memory, builder->block_refs.items, refs_bytes);
    uint32_t *successors = take(&memory, NULL, successors_bytes);
    uint32_t *table = take(&memory, NULL, table_bytes);
    const uint32_t *members = take(&memory, builder->members.items, members_bytes);
    const uint32_t *sharers = take(&memory, builder->sharers.items, sharers_bytes);
    successors_fill(steps, builder->steps.count, successors, &builder->edges);
    shared->refs = 1;
    shared->bytes = bytes;
    shared->plan = (struct cohort__plan){.num_sites = builder->num_sites,
                                         .this_site = builder->this_site,
                                         .name = builder->name,
                                         .tmp_bytes = builder->tmp_bytes,
                                         .has_gaps = builder->has_gaps,
                                         .num_meetings = builder->num_meetings,
                                         .num_members = builder->num_members,
                                         .this_rank = builder->this_rank,
                                         .members = members_bytes > 0 ? members : NULL,
                                         .num_posts = builder->num_posts,
                                         .num_reads = builder->num_reads,
                                         .sharers = sharers,
                                         .num_blocks = builder->blocks.count,
                                         .num_block_refs = builder->block_refs.count,
                                         .num_steps = builder->steps.count,
                                         .num_successors = builder->edges.count,
                                         .blocks = blocks,
                                         .block_refs = refs,
                                         .steps = steps,
                                         .successors = successors,
                                         .recv_mask = table_size - 1,
                                         .recv_table = table};
    memcpy(shared->plan.notes, builder->notes, sizeof(builder->notes));
    extents_fill(&shared->plan);
    recv_table_fill(&shared->plan, table);
    return &shared->plan;
}

cohort_status cohort__plan_finish(struct cohort__plan_builder *builder,
                                  struct cohort__plan **ret_plan)
{
    struct cohort__plan *plan = builder->failed ? NULL : plan_create(builder);
    cohort_status status = COHORT_OK;
    if (plan)
        *ret_plan = plan;
    else
        status = cohort_fail(builder->status ? builder->status : COHORT_ERR_NO_MEMORY,
                             "plan %s at site %u of %u: %s", builder->name, builder->this_site,
                             builder->num_sites, builder->status ? builder->why : "no memory");
    cohort__plan_builder_destroy(builder);
    return status;
}

size_t cohort__plan_bytes(const struct cohort__plan *plan)
{
    return COHORT_CONTAINER_OF(plan, const struct shared_plan, plan)->bytes;
}

struct cohort__plan *cohort__plan_ref(struct cohort__plan *plan)
{
    COHORT_CONTAINER_OF(plan, struct shared_plan, plan)->refs++;
    return plan;
}

void cohort__plan_unref(struct cohort__plan *plan)
{
    if (!plan)
        return;
    struct shared_plan *shared = COHORT_CONTAINER_OF(plan, struct shared_plan, plan);
    if (--shared->refs == 0)
        free(shared);
}

uint32_t cohort__plan_find_recv(const struct cohort__plan *plan, unsigned phase, uint32_t source,
                                uint32_t tag)
{
    uint32_t slot = recv_slot(plan, phase, source, tag);
    for (; plan->recv_table[slot]; slot = (slot + 1) & plan->recv_mask) {
        uint32_t index = plan->recv_table[slot] - 1;
        const struct cohort__step *step = &plan->steps[index];
        if (step->phase == phase && step->peer == source && step->tag == tag)
            return index;
    }
    return COHORT__NO_STEP;
}

struct search {
    struct cohort__plan_builder *builder;
    enum cohort__space space;
    struct cohort__written *ranges; /* by where they begin */
    uint32_t num;
};

/* Ranges without bytes, which nobody writes, come last, so that the others end in order, too. */
static int compare(const void *left, const void *right)
{
    const struct cohort__written *a = left, *b = right;
    if ((a->bytes == 0) != (b->bytes == 0))
        return a->bytes == 0 ? 1 : -1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The index of the first range that ends behind OFFSET. */
static uint32_t find(const struct search *self, size_t offset)
{
    uint32_t low = 0, high = self->num;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (self->ranges[middle].offset + self->ranges[middle].bytes > offset)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void wait_for_bytes(const struct search *self, uint32_t step, size_t begin, size_t end)
{
    for (uint32_t i = find(self, begin); i < self->num && self->ranges[i].offset < end; i++) {
        struct cohort__written *range = &self->ranges[i];
        if (range->last == step + 1)
            continue;
        range->last = step + 1;
        cohort__plan_after(self->builder, range->step, step);
    }
}

static void wait_for_block(const struct search *self, uint32_t step, struct cohort__block block)
{
    if (block.space != self->space || block.bytes == 0)
        return;
    for (uint32_t piece = 0; piece < block.count; piece++) {
        size_t begin = block.offset + piece * block.stride;
        wait_for_bytes(self, step, begin, begin + block.bytes);
    }
}

static uint32_t num_written(const struct cohort__step *step)
{
    if (step->kind == COHORT__STEP_RECV)
        return step->num_blocks;
    return step->kind == COHORT__STEP_COPY || step->kind == COHORT__STEP_REDUCE ||
           step->kind == COHORT__STEP_ZERO || step->kind == COHORT__STEP_MEET ||
           step->kind == COHORT__STEP_READ || step->kind == COHORT__STEP_ROUTE;
}

void cohort__plan_after_writers(struct cohort__plan_builder *builder, enum cohort__space space,
                                struct cohort__written *ranges, uint32_t num)
{
    struct search self = {.builder = builder, .space = space, .ranges = ranges, .num = num};
    qsort(ranges, num, sizeof(*ranges), compare);
    while (self.num > 0 && ranges[self.num - 1].bytes == 0)
        self.num--;
    for (uint32_t i = 0; i < cohort__plan_num_steps(builder); i++) {
        struct cohort__step step = plan_get_step(builder, i);
        for (uint32_t k = 0; k < num_written(&step); k++)
            wait_for_block(&self, i, plan_get_operand(builder, &step, k));
    }
}
