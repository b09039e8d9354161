/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/execution_stall.h"

#include <inttypes.h>

#include "collectives/exec/activity.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"
#include "collectives/exec/stall.h"

/* Whether STEP waits for its peer, which has to send, or to take what it is sent. Before the sites
 * agree, an early SEND does not: its peer may be wrong, and the agreement is to say so. */
static bool awaits(const struct cohort__execution *execution, uint32_t step)
{
    const uint8_t kind = execution->plan->steps[step].kind;
    if (kind == COHORT__STEP_MEET || kind == COHORT__STEP_POST)
        return false; /* see meet.c, note_steps.c */
    if (cohort__execution_is_before_agreement(execution, step))
        return false;
    if (execution->states[step] != COHORT__STEP_BUSY)
        return execution->states[step] == COHORT__STEP_POSTED;
    const struct cohort__activity *activity = execution->held[step];
    return activity->kind == COHORT__ACTIVITY_SEND || activity->kind == COHORT__ACTIVITY_LOAN;
}

void cohort__execution_stalled(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        if (!awaits(execution, step))
            continue;
        uint32_t site = cohort__note_awaited(execution, step);
        if (execution->answers[step] == COHORT__ANSWER_COMPLETED) {
            cohort__fail_forgotten(operation, site);
            return;
        }
        cohort__operation_ask(operation, site, plan->steps[step].phase);
    }
    cohort__note_steps_stalled(execution);
    cohort__meets_stalled(execution);
}

void cohort__execution_answer(struct cohort__operation *operation, uint32_t site,
                              enum cohort__answer answer)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    for (uint32_t step = 0; step < execution->plan->num_steps; step++) {
        if (awaits(execution, step) && cohort__note_awaited(execution, step) == site)
            execution->answers[step] = (uint8_t)answer;
    }
    cohort__meets_answer(execution, site, answer);
}

uint32_t cohort__execution_find_absent(const struct cohort__operation *operation)
{
    return cohort__meets_find_absent((const struct cohort__execution *)operation);
}

void cohort__execution_peer_died(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    if (!operation->failure.status)
        (void)cohort__operation_fail_if_broken(operation);
    if (!was_entered)
        cohort__execution_leave(execution);
}

size_t cohort__execution_describe(const struct cohort__operation *operation, char *text,
                                  size_t used, size_t capacity)
{
    const struct cohort__execution *execution = (const struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    char what[COHORT__SIGNATURE_TEXT];
    cohort__signature_describe(&operation->signature, what, sizeof(what));
    used = cohort__describe_append(text, used, capacity,
                                   "generation %" PRIu64 ", %s:", operation->generation, what);
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        if (!awaits(execution, step))
            continue;
        used = cohort__describe_awaited(operation, text, used, capacity,
                                        cohort__note_awaited(execution, step),
                                        execution->answers[step]);
    }
    used = cohort__note_steps_describe(execution, text, used, capacity);
    used = cohort__meets_describe(execution, text, used, capacity);
    return cohort__describe_append(text, used, capacity, "\n");
}
