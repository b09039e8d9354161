/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/failing.h"

#include "collectives/comm/mail.h"
#include "collectives/exec/activity.h"
#include "collectives/exec/execution.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"

/* When an operation fails, its site sends the error in place of data for every SEND that is not
 * done, and to those who wait for its notes, and fails its meetings. So the error reaches all sites
 * that depend on it. Then the operation waits as long as another site may access its buffers. A
 * peer that gets the error gives back what was lent or announced to it. If the sites do not agree,
 * no errors are sent: all sites see the same values, and each says so in its own words. */

/* Sends the error to the peer of STEP, a SEND. */
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
    cohort__mail_send(operation->comm->group, send->peer, message, handle);
}

/* STEP, a RECV, needs its message no more. */
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
        if (plan->steps[step].kind == COHORT__STEP_SEND && !operation->is_refused &&
            execution->states[step] != COHORT__STEP_OVER)
            tell(execution, step);
        else if (plan->steps[step].kind == COHORT__STEP_RECV)
            give_up(execution, step);
    }
    cohort__note_steps_fail(execution);
    cohort__meets_fail(execution);
    if (!was_entered)
        cohort__execution_leave(execution);
}
