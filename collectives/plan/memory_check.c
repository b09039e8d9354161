/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/memory_check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "collectives/plan/step_defect.h"

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
            return cohort__step_defect_fail(
                plan, one->step, "reads byte %zu of TMP, which no step before it has written",
                byte);
        if (!one->writes)
            continue;
        if (space == COHORT__SPACE_IN)
            return cohort__step_defect_fail(plan, one->step, "writes byte %zu of IN", byte);
        is_written = true;
        for (size_t k = 0; k < memory->num_live; k++)
            if (k != i && !may_share(memory, one, &memory->live[k]))
                return cohort__step_defect_fail(
                    plan, one->step, "writes byte %zu of %s, which step %u touches, unordered",
                    byte, space_name(space), memory->live[k].step);
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

cohort_status cohort__memory_check(const struct cohort__plan *plan)
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
