/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/activity.h"
#include "collectives/exec/execution.h"

/* A failing site sends the error instead of data on every send that it has not done, so that it
 * reaches everybody who depends on it. Then it waits, as long as somebody may access its buffers:
 * a peer that is told gives back what was lent or announced. Only where the sites do not agree is
 * nobody told: all of them see the same and say it in their own words. */

/* Tells the peer of the SEND STEP. */
static void tell(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *send = &execution->plan->steps[step];
    const struct cohort__operation *operation = &execution->operation;
    struct cohort__message *message = cohort__message_create(
        COHORT__KIND_ERROR, execution->plan->this_site, operation->generation,
        operation->fingerprint, cohort__message_tag(send->phase, send->tag));
    if (!message)
        return; /* the peer will ask */
    uint64_t handle = 0;
    if (execution->states[step] == COHORT__STEP_BUSY) {
        const struct cohort__activity *activity = execution->held[step];
        if (activity->kind == COHORT__ACTIVITY_SEND)
            handle = cohort__send_handle(&activity->send);
    }
    cohort__error_copy(&message->error, &operation->failure);
    cohort__message_send(operation->comm, send->peer, message, handle);
}

/* Nothing more comes into the RECV STEP. */
static void give_up(struct cohort__execution *execution, uint32_t step)
{
    if (execution->states[step] == COHORT__STEP_ARRIVED) {
        execution->states[step] = COHORT__STEP_OVER;
        cohort__message_release(execution->held[step]);
    } else if (execution->states[step] == COHORT__STEP_BUSY) {
        struct cohort__activity *activity = execution->held[step];
        if (activity->kind == COHORT__ACTIVITY_FETCH)
            cohort__fetch_stop(&activity->fetch);
    }
}

void cohort__execution_failing(struct cohort__operation *operation)
{
    struct cohort__execution *execution = (struct cohort__execution *)operation;
    const struct cohort__plan *plan = execution->plan;
    bool was_entered = execution->is_entered;
    cohort__execution_enter(execution);
    for (uint32_t step = 0; step < plan->num_steps; step++) {
        if (plan->steps[step].kind == COHORT__STEP_SEND && !execution->is_refused &&
            execution->states[step] != COHORT__STEP_OVER)
            tell(execution, step);
        else if (plan->steps[step].kind == COHORT__STEP_RECV)
            give_up(execution, step);
    }
    if (!was_entered)
        cohort__execution_leave(execution);
}
