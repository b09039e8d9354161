/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/meet.h"

#include "collectives/comm/operation.h"
#include "collectives/exec/attendance.h"
#include "collectives/exec/meeting.h"
#include "runtime/base/container.h"

_Static_assert((int)COHORT__PLAN_MEETINGS <= (int)COHORT__MEETINGS_OF_PLAN,
               "each meeting of a plan has an index");

/* Whether the sites have yet to agree before MEET begins. Then its failure has to wait: if they do
 * not agree, each of them says so in its own words. It is looked at when the step starts, or the
 * call has failed. */
static bool is_before_agreement(const struct cohort__meet *meet)
{
    return !meet->execution->operation.failure.status &&
           cohort__execution_is_before_agreement(meet->execution, meet->step);
}

static void leave(struct cohort__meet *meet)
{
    cohort__participant_leave(&meet->participant);
    meet->execution->num_busy--;
}

/* MEET has failed, and so does the call, unless it has already. */
static void fail(struct cohort__meet *meet, const struct cohort__error *error)
{
    cohort__operation_fail(&meet->execution->operation, error);
    cohort__participant_tell_outside(&meet->participant);
}

/* The first failure of a member fails the call of all. */
static void on_told(struct cohort__participant *participant, const struct cohort__error *error)
{
    struct cohort__meet *meet = COHORT_CONTAINER_OF(participant, struct cohort__meet, participant);
    struct cohort__execution *execution = meet->execution;
    struct cohort__operation *operation = &execution->operation;
    if (error && is_before_agreement(meet)) {
        cohort__error_copy(&meet->early, error);
        return;
    }
    cohort__execution_enter(execution);
    meet->is_over = true;
    if (error)
        fail(meet, error);
    leave(meet);
    if (!operation->failure.status)
        cohort__execution_step_over(execution, meet->step);
    else
        execution->states[meet->step] = COHORT__STEP_OVER;
    cohort__execution_leave(execution);
}

/* An agreement is about bytes, also in a call of objects. */
static bool is_of_objects(const struct cohort__execution *execution,
                          const struct cohort__step *step)
{
    return execution->mode->has_slots && step->phase != COHORT__PHASE_CHECK;
}

static void *address_of(const struct cohort__execution *execution, const struct cohort__step *step,
                        uint32_t operand)
{
    const struct cohort__plan *plan = execution->plan;
    const struct cohort__block *block =
        &plan->blocks[plan->block_refs[step->first_block + operand]];
    if (block->bytes == 0)
        return NULL;
    return is_of_objects(execution, step) ? (void *)(execution->slots[block->space] + block->offset)
                                          : execution->bases[block->space] + block->offset;
}

static void init(struct cohort__meet *meet, struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = &execution->plan->steps[step];
    const cohort_op *op = NULL;
    cohort_datatype datatype = 0;
    if (cohort__collective_reduces(what->collective)) {
        bool is_minimum = what->op == COHORT__STEP_OP_MIN;
        op = is_minimum ? COHORT_MIN : execution->op;
        datatype = is_minimum ? COHORT_INT16 : execution->datatype;
    }
    bool of_objects = is_of_objects(execution, what);
    size_t element = datatype ? cohort_datatype_size(datatype) : 1;
    size_t bytes = of_objects ? what->bytes * sizeof(struct cohort__blob *) : what->bytes;
    bool is_shift = what->collective == COHORT__SHIFT;
    *meet = (struct cohort__meet){
        .participant =
            {
                .operation = &execution->operation,
                .told = on_told,
                .terms =
                    {
                        .kind = &cohort__movement_kinds[what->collective],
                        .count = bytes / element,
                        .element = element,
                        .stride = bytes,
                        .datatype = datatype,
                        .op = op,
                        .root = is_shift ? 0 : what->peer,
                        .shift = is_shift ? what->peer : 0,
                        .of_objects = of_objects,
                    },
                .in = address_of(execution, what, 1),
                .out = address_of(execution, what, 0),
                .subgroup = execution->operation.comm->group->is_whole ? COHORT__SUBGROUP_ALL
                                                                       : COHORT__SUBGROUP_LOCALITY,
                .rank = execution->plan->this_rank,
                .phase = what->phase,
                .index = what->tag,
            },
        .execution = execution,
        .step = step,
    };
}

static bool is_inside(const struct cohort__meet *meet)
{
    return meet->participant.meeting != NULL;
}

/* Enters one. False: the call fails. */
static bool enter(struct cohort__meet *meet)
{
    struct cohort__operation *operation = &meet->execution->operation;
    struct cohort__refusal refusal = {0};
    cohort__participant_enter(&meet->participant, &refusal);
    if (is_inside(meet))
        meet->execution->num_busy++;
    if (!refusal.error.status)
        return true;
    if (is_before_agreement(meet)) {
        meet->early = refusal.error;
        meet->is_early_told = refusal.is_told;
        return true;
    }
    operation->are_all_told |= refusal.is_told;
    cohort__operation_fail(operation, &refusal.error);
    cohort__error_fini(&refusal.error);
    return false;
}

void cohort__meets_init(struct cohort__execution *execution)
{
    const struct cohort__plan *plan = execution->plan;
    for (uint32_t step = 0; step < plan->num_steps && plan->num_meetings > 0; step++)
        if (plan->steps[step].kind == COHORT__STEP_MEET)
            init(&execution->meets[plan->steps[step].tag], execution, step);
}

void cohort__meets_enter(struct cohort__execution *execution)
{
    for (uint32_t i = 0; i < execution->plan->num_meetings; i++)
        if (execution->operation.failure.status || !enter(&execution->meets[i]))
            return;
}

/* The meeting of a step that starts has failed already. */
static void fail_early(struct cohort__meet *meet)
{
    struct cohort__operation *operation = &meet->execution->operation;
    struct cohort__error error = meet->early;
    meet->early = (struct cohort__error){0};
    meet->is_over = true;
    if (is_inside(meet)) {
        fail(meet, &error);
        leave(meet);
    } else {
        operation->are_all_told |= meet->is_early_told;
        cohort__operation_fail(operation, &error);
    }
    cohort__error_fini(&error);
}

void cohort__meet_start(struct cohort__execution *execution, uint32_t step)
{
    struct cohort__meet *meet = &execution->meets[execution->plan->steps[step].tag];
    execution->states[step] = COHORT__STEP_POSTED;
    if (meet->early.status)
        fail_early(meet);
    else
        cohort__participant_ready(&meet->participant);
}

void cohort__meets_fail(struct cohort__execution *execution)
{
    for (uint32_t i = 0; i < execution->plan->num_meetings; i++) {
        struct cohort__meet *meet = &execution->meets[i];
        if (meet->is_over)
            continue;
        bool was_told = meet->early.status;
        cohort__error_fini(&meet->early);
        meet->early = (struct cohort__error){0};
        if (!is_inside(meet)) {
            meet->is_over = true;
            cohort__failure_tell(&execution->operation, false);
        } else if (was_told || cohort__participant_fail(&meet->participant)) {
            meet->is_over = true;
            leave(meet);
        }
    }
}

/* Whether this site is ready, and waits for others. */
static bool waits(const struct cohort__meet *meet)
{
    return is_inside(meet) && meet->execution->states[meet->step] == COHORT__STEP_POSTED;
}

void cohort__meets_stalled(struct cohort__execution *execution)
{
    bool asks;
    for (uint32_t i = 0; i < execution->plan->num_meetings; i++)
        if (waits(&execution->meets[i]) &&
            !cohort__participant_ask(&execution->meets[i].participant, &asks))
            return;
}

void cohort__meets_answer(struct cohort__execution *execution, uint32_t site,
                          enum cohort__answer answer)
{
    for (uint32_t i = 0; i < execution->plan->num_meetings; i++)
        if (waits(&execution->meets[i]))
            cohort__participant_answered(&execution->meets[i].participant, site, answer);
}

uint32_t cohort__meets_find_absent(const struct cohort__execution *execution)
{
    uint32_t site = COHORT__NO_SITE;
    for (uint32_t i = 0; i < execution->plan->num_meetings && site == COHORT__NO_SITE; i++)
        if (waits(&execution->meets[i]))
            site = cohort__participant_absent(&execution->meets[i].participant);
    return site;
}

size_t cohort__meets_describe(const struct cohort__execution *execution, char *text, size_t used,
                              size_t capacity)
{
    for (uint32_t i = 0; i < execution->plan->num_meetings; i++)
        if (waits(&execution->meets[i]))
            used =
                cohort__participant_describe(&execution->meets[i].participant,
                                             " meets in its locality, and", text, used, capacity);
    return used;
}
