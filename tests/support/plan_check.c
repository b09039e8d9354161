/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/plan_check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *kind_name(unsigned kind)
{
    static const char *const names[] = {"JOIN",  "SEND", "RECV", "COPY", "REDUCE", "ZERO",
                                        "GUARD", "DONE", "MEET", "POST", "READ"};
    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown kind";
}

/* COHORT_ERR_BAD_PARAMETER, with a message about STEP of PLAN. */
__attribute__((format(printf, 3, 4))) static cohort_status
defect(const struct cohort__plan *plan, uint32_t step, const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    const struct cohort__step *at = &plan->steps[step];
    const char *kind = kind_name(at->kind);
    if (at->kind == COHORT__STEP_SEND || at->kind == COHORT__STEP_RECV)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "plan %s, site %u, step %u (%s, phase %u, peer %u, tag %u): %s",
                           plan->name, plan->this_site, step, kind, at->phase, at->peer, at->tag,
                           what);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "plan %s, site %u, step %u (%s, phase %u): %s",
                       plan->name, plan->this_site, step, kind, at->phase, what);
}

/* One piece of a block, as a step touches it. */
struct access {
    size_t begin;
    size_t end;
    uint32_t step;
    bool writes;
};

struct memory {
    const struct cohort__plan *plan;
    uint64_t *later;         /* a row of bits for each step: the steps that come after it */
    size_t row;              /* its length in words */
    struct access *accesses; /* of one space, by where they begin */
    size_t num_accesses;
    size_t *bounds; /* where accesses begin and end, ascending */
    size_t num_bounds;
    struct access *live; /* those that cover the bytes at the current bound */
    size_t num_live;
};

static const char *space_name(enum cohort__space space)
{
    static const char *const names[COHORT__NUM_SPACES] = {"IN", "OUT", "TMP", "CHECK", "NOTE"};
    return names[space];
}

static bool is_before(const struct memory *memory, uint32_t a, uint32_t b)
{
    return memory->later[a * memory->row + b / 64] >> (b % 64) & 1;
}

/* Fills in `later`, from the last steps to the first ones: what comes after a successor of a step
 * also comes after that step. */
static void later_fill(struct memory *memory, uint32_t *order, uint32_t *waits)
{
    const struct cohort__plan *plan = memory->plan;
    uint32_t num_ready = 0;
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        waits[i] = plan->steps[i].num_waits;
        if (waits[i] == 0)
            order[num_ready++] = i;
    }
    for (uint32_t i = 0; i < num_ready; i++) {
        const struct cohort__step *step = &plan->steps[order[i]];
        for (uint32_t k = 0; k < step->num_successors; k++) {
            uint32_t next = plan->successors[step->first_successor + k];
            if (--waits[next] == 0)
                order[num_ready++] = next;
        }
    }
    for (uint32_t i = num_ready; i-- > 0;) {
        const struct cohort__step *step = &plan->steps[order[i]];
        uint64_t *later = &memory->later[order[i] * memory->row];
        for (uint32_t k = 0; k < step->num_successors; k++) {
            uint32_t next = plan->successors[step->first_successor + k];
            later[next / 64] |= UINT64_C(1) << (next % 64);
            for (size_t w = 0; w < memory->row; w++)
                later[w] |= memory->later[next * memory->row + w];
        }
    }
}

static bool step_writes(const struct cohort__step *step, uint32_t operand)
{
    if (step->kind == COHORT__STEP_RECV)
        return true;
    return step->kind != COHORT__STEP_SEND && step->kind != COHORT__STEP_POST &&
           step->kind != COHORT__STEP_GUARD && operand == 0;
}

static int compare_accesses(const void *a, const void *b)
{
    const struct access *left = a, *right = b;
    return (left->begin > right->begin) - (left->begin < right->begin);
}

static int compare_sizes(const void *a, const void *b)
{
    const size_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void block_collect(struct memory *memory, const struct cohort__block *block, uint32_t step,
                          bool writes)
{
    for (uint32_t piece = 0; piece < block->count && block->bytes > 0; piece++) {
        size_t begin = block->offset + piece * block->stride;
        size_t end = begin + block->bytes;
        memory->accesses[memory->num_accesses++] =
            (struct access){.begin = begin, .end = end, .step = step, .writes = writes};
        memory->bounds[memory->num_bounds++] = begin;
        memory->bounds[memory->num_bounds++] = end;
    }
}

static void space_collect(struct memory *memory, enum cohort__space space)
{
    const struct cohort__plan *plan = memory->plan;
    memory->num_accesses = 0;
    memory->num_bounds = 0;
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        const struct cohort__step *step = &plan->steps[i];
        for (uint32_t k = 0; k < step->num_blocks; k++) {
            const struct cohort__block *block =
                &plan->blocks[plan->block_refs[step->first_block + k]];
            if (block->space == space)
                block_collect(memory, block, i, step_writes(step, k));
        }
    }
    qsort(memory->accesses, memory->num_accesses, sizeof(struct access), compare_accesses);
    if (space == COHORT__SPACE_OUT) {
        memory->bounds[memory->num_bounds++] = 0;
        memory->bounds[memory->num_bounds++] = plan->out_bytes;
    }
    qsort(memory->bounds, memory->num_bounds, sizeof(size_t), compare_sizes);
}

static bool may_share(const struct memory *memory, const struct access *a, const struct access *b)
{
    if (a->step != b->step)
        return is_before(memory, a->step, b->step) || is_before(memory, b->step, a->step);
    const uint8_t kind = memory->plan->steps[a->step].kind;
    return (kind == COHORT__STEP_REDUCE || kind == COHORT__STEP_READ) && a->begin == b->begin &&
           a->end == b->end && !(a->writes && b->writes);
}

/* READER reads a byte of TMP: whether a step before it has written this byte. */
static bool is_written_before(const struct memory *memory, const struct access *reader)
{
    for (size_t i = 0; i < memory->num_live; i++)
        if (memory->live[i].writes && is_before(memory, memory->live[i].step, reader->step))
            return true;
    return false;
}

/* Checks the accesses that cover the bytes from BYTE to the next bound. */
static cohort_status check_live(const struct memory *memory, enum cohort__space space, size_t byte)
{
    const struct cohort__plan *plan = memory->plan;
    bool is_written = false;
    for (size_t i = 0; i < memory->num_live; i++) {
        const struct access *one = &memory->live[i];
        if (space == COHORT__SPACE_TMP && !one->writes && !is_written_before(memory, one))
            return defect(plan, one->step,
                          "reads byte %zu of TMP, which no step before it has written", byte);
        if (!one->writes)
            continue;
        if (space == COHORT__SPACE_IN)
            return defect(plan, one->step, "writes byte %zu of IN", byte);
        is_written = true;
        for (size_t k = 0; k < memory->num_live; k++)
            if (k != i && !may_share(memory, one, &memory->live[k]))
                return defect(plan, one->step,
                              "writes byte %zu of %s, which step %u touches, unordered", byte,
                              space_name(space), memory->live[k].step);
    }
    if (space == COHORT__SPACE_OUT && !is_written && !plan->has_gaps)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "plan %s, site %u: byte %zu of OUT is written by no step", plan->name,
                           plan->this_site, byte);
    return COHORT_OK;
}

/* Sweeps over the space. Between two bounds the same accesses cover all bytes. */
static cohort_status check_space(struct memory *memory, enum cohort__space space)
{
    size_t next = 0;
    cohort_status status = COHORT_OK;
    space_collect(memory, space);
    memory->num_live = 0;
    for (size_t i = 0; i + 1 < memory->num_bounds && status == COHORT_OK; i++) {
        size_t byte = memory->bounds[i];
        size_t num_live = 0;
        if (byte == memory->bounds[i + 1])
            continue;
        for (size_t k = 0; k < memory->num_live; k++)
            if (memory->live[k].end > byte)
                memory->live[num_live++] = memory->live[k];
        for (; next < memory->num_accesses && memory->accesses[next].begin <= byte; next++)
            memory->live[num_live++] = memory->accesses[next];
        memory->num_live = num_live;
        status = check_live(memory, space, byte);
    }
    return status;
}

static size_t count_pieces(const struct cohort__plan *plan)
{
    size_t num_pieces = 0;
    for (uint32_t i = 0; i < plan->num_block_refs; i++)
        num_pieces += plan->blocks[plan->block_refs[i]].count;
    return num_pieces;
}

/* Checks which bytes the steps of one site touch, and in which order. PLAN's indices have to be in
 * range, and its steps must not have a cycle.
 *   - IN is never written; every byte of OUT is written, unless the plan has gaps;
 *   - two steps that touch the same byte, and of which at least one writes it, are ordered, one way
 *     or the other, by the dependencies of this site alone; an order that only messages give does
 *     not count;
 *   - TMP is written before it is read;
 *   - no step writes a byte twice, or reads what it writes, except a REDUCE in place. */
static cohort_status memory_check(const struct cohort__plan *plan)
{
    size_t num_pieces = count_pieces(plan);
    size_t num_steps = plan->num_steps;
    struct memory memory = {.plan = plan, .row = num_steps / 64 + 1};
    cohort_status status = COHORT_OK;
    uint32_t *order = calloc(2 * num_steps + 1, sizeof(*order));
    memory.later = calloc(num_steps * memory.row + 1, sizeof(*memory.later));
    memory.accesses = calloc(num_pieces + 1, sizeof(*memory.accesses));
    memory.live = calloc(num_pieces + 1, sizeof(*memory.live));
    memory.bounds = calloc(2 * num_pieces + 2, sizeof(*memory.bounds));
    if (order && memory.later && memory.accesses && memory.live && memory.bounds) {
        later_fill(&memory, order, order + num_steps);
        for (unsigned space = COHORT__SPACE_IN; space < COHORT__SPACE_NOTE; space++)
            if (status == COHORT_OK)
                status = check_space(&memory, space);
    } else {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "plan check of %s at site %u: no memory",
                             plan->name, plan->this_site);
    }
    free(order);
    free(memory.later);
    free(memory.accesses);
    free(memory.live);
    free(memory.bounds);
    return status;
}

/* All steps of all sites, with consecutive numbers. */
struct check {
    struct cohort__plan *const *plans;
    uint32_t num_sites;
    size_t *first; /* the number of each site's step 0; [num_sites]: how many steps there are */
    /* Of a SEND or RECV: the step at the other end, or NO_PARTNER. Of a READ: the POST. Of a MEET:
     * that of the next member. */
    size_t *partner;
    size_t *next_reader; /* of a POST, or a READ: another READ of that POST, or NO_PARTNER */
    uint32_t *waits;     /* how many steps each one still waits for */
    bool *is_started;    /* it has nothing to wait for at its own site */
    size_t *queue;       /* steps that are done, each one once */
    size_t num_done;
};

#define NO_PARTNER SIZE_MAX

static const struct cohort__block *step_block(const struct cohort__plan *plan,
                                              const struct cohort__step *step, uint32_t index)
{
    return &plan->blocks[plan->block_refs[step->first_block + index]];
}

static size_t block_bytes(const struct cohort__block *block)
{
    return block->count * block->bytes;
}

/* No computation overflows, whatever values the block has. */
static bool block_in_bounds(const struct cohort__plan *plan, const struct cohort__block *block)
{
    size_t limits[COHORT__NUM_SPACES] = {plan->in_bytes, plan->out_bytes, plan->tmp_bytes,
                                         COHORT__CHECK_BYTES, SIZE_MAX}; /* NOTE: see below */
    size_t end;
    if (block->space >= COHORT__NUM_SPACES || block->count == 0)
        return false;
    if (block->bytes == 0)
        return true;
    return !__builtin_mul_overflow(block->count - 1, block->stride, &end) &&
           !__builtin_add_overflow(end, block->offset, &end) &&
           !__builtin_add_overflow(end, block->bytes, &end) && end <= limits[block->space];
}

static cohort_status check_blocks(const struct cohort__plan *plan, uint32_t index)
{
    const struct cohort__step *step = &plan->steps[index];
    bool has_list = step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV ||
                    step->kind == COHORT__STEP_POST;
    bool is_read = step->kind == COHORT__STEP_READ;
    size_t bytes = 0;
    if (step->first_block > plan->num_block_refs ||
        step->num_blocks > plan->num_block_refs - step->first_block)
        return defect(plan, index, "its blocks are out of range");
    for (uint32_t i = 0; i < step->num_blocks; i++) {
        if (plan->block_refs[step->first_block + i] >= plan->num_blocks)
            return defect(plan, index, "block %u does not exist", i);
        const struct cohort__block *block = step_block(plan, step, i);
        if (!block_in_bounds(plan, block))
            return defect(plan, index, "block %u is out of bounds", i);
        if ((block->space == COHORT__SPACE_NOTE) != (is_read && i == 1))
            return defect(plan, index, "block %u is in the wrong space", i);
        bool is_free = has_list || step->kind == COHORT__STEP_MEET ||
                       (step->kind == COHORT__STEP_ROUTE && i == 1);
        if (!is_free && block_bytes(block) != step->bytes)
            return defect(plan, index, "block %u has %zu bytes, the step %zu", i,
                          block_bytes(block), step->bytes);
        bool is_single = step->kind == COHORT__STEP_REDUCE || step->kind == COHORT__STEP_MEET ||
                         step->kind == COHORT__STEP_ROUTE || is_read;
        if (is_single && block->count != 1)
            return defect(plan, index, "block %u is not contiguous", i);
        bytes += block_bytes(block);
    }
    if (has_list && bytes != step->bytes)
        return defect(plan, index, "its blocks have %zu bytes, the step %zu", bytes, step->bytes);
    return COHORT_OK;
}

static cohort_status check_step(const struct cohort__plan *plan, uint32_t index)
{
    static const uint32_t num_blocks[] = {
        [COHORT__STEP_JOIN] = 0,  [COHORT__STEP_COPY] = 2,  [COHORT__STEP_REDUCE] = 3,
        [COHORT__STEP_ZERO] = 1,  [COHORT__STEP_GUARD] = 1, [COHORT__STEP_DONE] = 0,
        [COHORT__STEP_MEET] = 2,  [COHORT__STEP_POST] = 0,  [COHORT__STEP_READ] = 2,
        [COHORT__STEP_ROUTE] = 2,
    };
    const struct cohort__step *step = &plan->steps[index];
    bool is_message = step->kind == COHORT__STEP_SEND || step->kind == COHORT__STEP_RECV;
    bool has_peer = is_message || step->kind == COHORT__STEP_READ;
    bool has_list = is_message || step->kind == COHORT__STEP_POST;
    if (step->kind > COHORT__STEP_ROUTE)
        return defect(plan, index, "kind %u", step->kind);
    if (step->phase > COHORT__LAST_PHASE)
        return defect(plan, index, "no such phase");
    if (has_peer && (step->peer >= plan->num_sites || step->peer == plan->this_site))
        return defect(plan, index, "no such peer");
    bool may_reduce = step->kind == COHORT__STEP_READ && step->num_blocks == 3;
    if (!has_list && !may_reduce && step->num_blocks != num_blocks[step->kind])
        return defect(plan, index, "has %u blocks", step->num_blocks);
    if (step->first_successor > plan->num_successors ||
        step->num_successors > plan->num_successors - step->first_successor)
        return defect(plan, index, "its successors are out of range");
    for (uint32_t i = 0; i < step->num_successors; i++)
        if (plan->successors[step->first_successor + i] >= plan->num_steps)
            return defect(plan, index, "successor %u does not exist", i);
    return check_blocks(plan, index);
}

/* Checks each step of SITE. Also counts, from the successors, how many steps each one waits for. */
static cohort_status check_site(struct check *check, uint32_t site)
{
    const struct cohort__plan *plan = check->plans[site];
    uint32_t *waits = check->waits + check->first[site];
    cohort_status status = COHORT_OK;
    for (uint32_t i = 0; i < plan->num_steps && status == COHORT_OK; i++)
        status = check_step(plan, i);
    if (status != COHORT_OK)
        return status;
    for (uint32_t i = 0; i < plan->num_steps; i++)
        for (uint32_t k = 0; k < plan->steps[i].num_successors; k++)
            waits[plan->successors[plan->steps[i].first_successor + k]]++;
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (waits[i] != plan->steps[i].num_waits)
            return defect(plan, i, "waits for %u steps, but follows %u", plan->steps[i].num_waits,
                          waits[i]);
    return COHORT_OK;
}

static cohort_status match_send(struct check *check, uint32_t site, uint32_t index)
{
    const struct cohort__plan *plan = check->plans[site];
    const struct cohort__step *send = &plan->steps[index];
    const struct cohort__plan *target = check->plans[send->peer];
    uint32_t recv = cohort__plan_find_recv(target, send->phase, site, send->tag);
    if (recv == COHORT__NO_STEP)
        return defect(plan, index, "nobody receives it");
    if (target->steps[recv].bytes != send->bytes)
        return defect(plan, index, "sends %zu bytes, the receiver expects %zu", send->bytes,
                      target->steps[recv].bytes);
    size_t here = check->first[site] + index;
    size_t there = check->first[send->peer] + recv;
    if (check->partner[there] != NO_PARTNER)
        return defect(plan, index, "sends what another step sends as well");
    check->partner[here] = there;
    check->partner[there] = here;
    return COHORT_OK;
}

static cohort_status check_messages(struct check *check)
{
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < check->num_sites; site++)
        for (uint32_t i = 0; i < check->plans[site]->num_steps && status == COHORT_OK; i++)
            if (check->plans[site]->steps[i].kind == COHORT__STEP_SEND)
                status = match_send(check, site, i);
    for (uint32_t site = 0; site < check->num_sites && status == COHORT_OK; site++) {
        const struct cohort__plan *plan = check->plans[site];
        for (uint32_t i = 0; i < plan->num_steps && status == COHORT_OK; i++)
            if (plan->steps[i].kind == COHORT__STEP_RECV &&
                check->partner[check->first[site] + i] == NO_PARTNER)
                status = defect(plan, i, "nobody sends it");
    }
    return status;
}

/* The meeting of PLAN with number TAG. NULL: it has none. */
static const struct cohort__step *find_meeting(const struct cohort__plan *plan, uint32_t tag,
                                               uint32_t *ret_index)
{
    for (uint32_t i = 0; i < plan->num_steps; i++)
        if (plan->steps[i].kind == COHORT__STEP_MEET && plan->steps[i].tag == tag) {
            *ret_index = i;
            return &plan->steps[i];
        }
    return NULL;
}

/* Makes the steps of the same meeting a ring of partners. */
static cohort_status match_meeting(struct check *check, uint32_t site, uint32_t index)
{
    const struct cohort__plan *plan = check->plans[site];
    const struct cohort__step *meet = &plan->steps[index];
    uint32_t next = plan->this_rank + 1 < plan->num_members ? plan->this_rank + 1 : 0;
    if (meet->peer >= plan->num_members || cohort__plan_member(plan, plan->this_rank) != site)
        return defect(plan, index, "its site or its root is no member");
    for (uint32_t i = 0; i < meet->num_blocks; i++) {
        size_t bytes = block_bytes(step_block(plan, meet, i));
        if (bytes != 0 && bytes != meet->bytes && bytes != plan->num_members * meet->bytes)
            return defect(plan, index, "block %u has %zu bytes", i, bytes);
    }
    if (meet->tag >= COHORT__PLAN_MEETINGS)
        return defect(plan, index, "more meetings than a plan may have");
    uint32_t other = cohort__plan_member(plan, next), at = 0;
    const struct cohort__plan *theirs = check->plans[other];
    const struct cohort__step *same = find_meeting(theirs, meet->tag, &at);
    if (!same || theirs->num_members != plan->num_members || theirs->this_rank != next ||
        same->collective != meet->collective || same->peer != meet->peer ||
        same->bytes != meet->bytes || theirs->num_meetings != plan->num_meetings)
        return defect(plan, index, "site %u has another meeting", other);
    for (uint32_t rank = 0; rank < plan->num_members; rank++)
        if (cohort__plan_member(theirs, rank) != cohort__plan_member(plan, rank))
            return defect(plan, index, "site %u has other members", other);
    if (check->partner[check->first[other] + at] != NO_PARTNER)
        return defect(plan, index, "the plan has it twice");
    check->partner[check->first[other] + at] = check->first[site] + index;
    return COHORT_OK;
}

static cohort_status check_meetings(struct check *check)
{
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < check->num_sites; site++)
        for (uint32_t i = 0; i < check->plans[site]->num_steps && status == COHORT_OK; i++)
            if (check->plans[site]->steps[i].kind == COHORT__STEP_MEET)
                status = match_meeting(check, site, i);
    return status;
}

/* The POST of PLAN with number TAG. NULL: it has none, or more than one. */
static const struct cohort__step *find_post(const struct cohort__plan *plan, uint32_t tag,
                                            uint32_t *ret_index)
{
    const struct cohort__step *found = NULL;
    for (uint32_t i = 0; i < plan->num_steps; i++) {
        if (plan->steps[i].kind != COHORT__STEP_POST || plan->steps[i].tag != tag)
            continue;
        if (found)
            return NULL;
        found = &plan->steps[i];
        *ret_index = i;
    }
    return found;
}

static bool shares(const struct cohort__plan *plan, uint32_t number, uint32_t site)
{
    const struct cohort__sharers *sharers = &plan->notes[number];
    bool has = false;
    for (uint32_t i = 0; i < sharers->num; i++)
        has = has || plan->sharers[sharers->first + i] == site;
    return has;
}

/* Adds a READ to those of its POST. */
static cohort_status match_read(struct check *check, uint32_t site, uint32_t index)
{
    const struct cohort__plan *plan = check->plans[site];
    const struct cohort__step *read = &plan->steps[index];
    const struct cohort__plan *source = check->plans[read->peer];
    const struct cohort__block *part = step_block(plan, read, 1);
    uint32_t at = 0;
    const struct cohort__step *post =
        read->tag < COHORT__PLAN_NOTES ? find_post(source, read->tag, &at) : NULL;
    if (!post)
        return defect(plan, index, "nobody posts it, or twice");
    if (!shares(source, read->tag, site) || (post->peer != COHORT__EVERYBODY && post->peer != site))
        return defect(plan, index, "the note is not for this site");
    if (part->offset > post->bytes || part->bytes > post->bytes - part->offset)
        return defect(plan, index, "the note has only %zu bytes", post->bytes);
    size_t here = check->first[site] + index, there = check->first[read->peer] + at;
    for (size_t other = check->next_reader[there]; other != NO_PARTNER;
         other = check->next_reader[other])
        if (other >= check->first[site] && other < check->first[site + 1])
            return defect(plan, index, "reads a note twice");
    check->partner[here] = there;
    check->next_reader[here] = check->next_reader[there];
    check->next_reader[there] = here;
    return COHORT_OK;
}

/* Whether as many read it as it is for. */
static cohort_status count_readers(const struct check *check, uint32_t site, uint32_t index)
{
    const struct cohort__plan *plan = check->plans[site];
    const struct cohort__step *post = &plan->steps[index];
    uint32_t num = 0;
    if (post->tag >= COHORT__PLAN_NOTES || !shares(plan, post->tag, site))
        return defect(plan, index, "no such note");
    uint32_t wanted = post->peer == COHORT__EVERYBODY ? plan->notes[post->tag].num - 1 : 1;
    for (size_t at = check->next_reader[check->first[site] + index]; at != NO_PARTNER;
         at = check->next_reader[at])
        num++;
    if (num != wanted)
        return defect(plan, index, "%u sites read it, not %u", num, wanted);
    return COHORT_OK;
}

static cohort_status check_notes(struct check *check)
{
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < check->num_sites; site++)
        for (uint32_t i = 0; i < check->plans[site]->num_steps && status == COHORT_OK; i++)
            if (check->plans[site]->steps[i].kind == COHORT__STEP_READ)
                status = match_read(check, site, i);
    for (uint32_t site = 0; site < check->num_sites; site++)
        for (uint32_t i = 0; i < check->plans[site]->num_steps && status == COHORT_OK; i++)
            if (check->plans[site]->steps[i].kind == COHORT__STEP_POST)
                status = count_readers(check, site, i);
    return status;
}

static const struct cohort__step *step_at(const struct check *check, uint32_t site, size_t number)
{
    return &check->plans[site]->steps[number - check->first[site]];
}

/* A meeting is done at all members when all of them have started. */
static void start_meeting(struct check *check, size_t number)
{
    size_t at = number;
    do {
        if (!check->is_started[at])
            return;
        at = check->partner[at];
    } while (at != number);
    do {
        check->queue[check->num_done++] = at;
        at = check->partner[at];
    } while (at != number);
}

/* A note is there once it is posted. Then those who have started to read it are done. */
static void start_post(struct check *check, size_t number)
{
    check->queue[check->num_done++] = number;
    for (size_t at = check->next_reader[number]; at != NO_PARTNER; at = check->next_reader[at])
        if (check->is_started[at])
            check->queue[check->num_done++] = at;
}

/* Step NUMBER, of SITE, has nothing left to wait for. A message is done only when both of its ends
 * have started. So a plan that passes the check needs no buffers for messages whose RECV has not
 * started yet. */
static void start(struct check *check, uint32_t site, size_t number)
{
    uint8_t kind = step_at(check, site, number)->kind;
    bool is_message = kind == COHORT__STEP_SEND || kind == COHORT__STEP_RECV;
    check->is_started[number] = true;
    if (kind == COHORT__STEP_MEET) {
        start_meeting(check, number);
    } else if (kind == COHORT__STEP_POST) {
        start_post(check, number);
    } else if (kind == COHORT__STEP_READ) {
        if (check->is_started[check->partner[number]])
            check->queue[check->num_done++] = number;
    } else if (!is_message) {
        check->queue[check->num_done++] = number;
    } else if (check->is_started[check->partner[number]]) {
        check->queue[check->num_done++] = number;
        check->queue[check->num_done++] = check->partner[number];
    }
}

static uint32_t site_of(const struct check *check, size_t number)
{
    uint32_t low = 0, high = check->num_sites;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (check->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Doing a step never prevents another one from being done. So it is enough to check one order. */
static cohort_status check_progress(struct check *check)
{
    size_t num_steps = check->first[check->num_sites];
    for (uint32_t site = 0; site < check->num_sites; site++)
        for (size_t number = check->first[site]; number < check->first[site + 1]; number++)
            if (check->waits[number] == 0)
                start(check, site, number);
    for (size_t i = 0; i < check->num_done; i++) {
        uint32_t site = site_of(check, check->queue[i]);
        const struct cohort__plan *plan = check->plans[site];
        const struct cohort__step *step = step_at(check, site, check->queue[i]);
        for (uint32_t k = 0; k < step->num_successors; k++) {
            size_t next = check->first[site] + plan->successors[step->first_successor + k];
            if (--check->waits[next] == 0)
                start(check, site, next);
        }
    }
    for (size_t number = 0; check->num_done < num_steps && number < num_steps; number++) {
        uint32_t site = site_of(check, number);
        uint32_t index = (uint32_t)(number - check->first[site]);
        if (check->waits[number] > 0)
            return defect(check->plans[site], index, "never starts: deadlock");
    }
    return COHORT_OK;
}

static bool check_init(struct check *check, struct cohort__plan *const *plans, uint32_t num_sites)
{
    *check = (struct check){.plans = plans, .num_sites = num_sites};
    check->first = calloc(num_sites + (size_t)1, sizeof(*check->first));
    if (!check->first)
        return false;
    for (uint32_t site = 0; site < num_sites; site++)
        check->first[site + 1] = check->first[site] + plans[site]->num_steps;
    size_t num_steps = check->first[num_sites];
    check->partner = calloc(num_steps + 1, sizeof(*check->partner));
    check->next_reader = calloc(num_steps + 1, sizeof(*check->next_reader));
    check->waits = calloc(num_steps + 1, sizeof(*check->waits));
    check->is_started = calloc(num_steps + 1, sizeof(*check->is_started));
    check->queue = calloc(num_steps + 1, sizeof(*check->queue));
    for (size_t i = 0; check->partner && check->next_reader && i < num_steps; i++)
        check->partner[i] = check->next_reader[i] = NO_PARTNER;
    return check->partner && check->next_reader && check->waits && check->is_started &&
           check->queue;
}

static void check_fini(struct check *check)
{
    free(check->first);
    free(check->partner);
    free(check->next_reader);
    free(check->waits);
    free(check->is_started);
    free(check->queue);
}

cohort_status plan_check(struct cohort__plan *const *plans, uint32_t num_sites)
{
    struct check check;
    cohort_status status = COHORT_OK;
    if (!check_init(&check, plans, num_sites))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "plan check of %u sites: no memory", num_sites);
    for (uint32_t site = 0; site < num_sites && status == COHORT_OK; site++) {
        if (plans[site]->num_sites != num_sites || plans[site]->this_site != site)
            status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                                 "plan %s: plan %u of %u is for site %u of %u", plans[site]->name,
                                 site, num_sites, plans[site]->this_site, plans[site]->num_sites);
        else
            status = check_site(&check, site);
    }
    if (status == COHORT_OK)
        status = check_messages(&check);
    if (status == COHORT_OK)
        status = check_meetings(&check);
    if (status == COHORT_OK)
        status = check_notes(&check);
    if (status == COHORT_OK)
        status = check_progress(&check);
    for (uint32_t site = 0; site < num_sites && status == COHORT_OK; site++)
        status = memory_check(plans[site]);
    check_fini(&check);
    return status;
}
