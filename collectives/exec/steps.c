/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/steps.h"

#include "collectives/exec/byte_steps.h"
#include "collectives/exec/meet.h"
#include "collectives/exec/note_steps.h"

static const struct cohort__step *step_at(const struct cohort__execution *execution, uint32_t step)
{
    return &execution->plan->steps[step];
}

/* An agreement is about bytes, even if the call is about objects. */
static const struct cohort__step_mode *mode_of(const struct cohort__execution *execution,
                                               uint32_t step)
{
    return step_at(execution, step)->phase == COHORT__PHASE_CHECK ? &cohort__byte_mode
                                                                  : execution->mode;
}

void cohort__step_message(struct cohort__execution *execution, struct cohort__message *message)
{
    uint32_t step =
        cohort__plan_find_recv(execution->plan, cohort__message_phase(message->tag),
                               message->source_site, message->tag & ((1u << COHORT__TAG_BITS) - 1));
    uint8_t state = step == UINT32_MAX ? COHORT__STEP_OVER : execution->states[step];
    if (state == COHORT__STEP_POSTED) {
        mode_of(execution, step)->receive(execution, step, message);
    } else if (state == COHORT__STEP_IDLE) {
        execution->states[step] = COHORT__STEP_ARRIVED;
        execution->held[step] = message;
    } else {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_PROTOCOL,
                                    "site %u sent a message that nobody waits for (tag %x)",
                                    message->source_site, message->tag);
        cohort__message_release(message);
    }
}

/* Of the collective only early SENDs have begun. Unless the sites agree, nothing else will. */
static void look_at_agreement(struct cohort__execution *execution, uint32_t step)
{
    cohort_status status = cohort__check_values_judge(&execution->check);
    if (!status) {
        cohort__execution_step_over(execution, step);
        cohort__operation_agree(&execution->operation);
        return;
    }
    execution->operation.is_refused = true;
    execution->operation.are_all_told = true;
    if (execution->objection.status) {
        if (execution->objection.status != COHORT_ERR_NO_MEMORY) /* the call itself is wrong */
            cohort__error_set(&execution->objection, status, "%s",
                              cohort__error_message(&execution->objection));
        cohort__operation_fail(&execution->operation, &execution->objection);
    } else {
        char text[256];
        cohort__check_values_describe(&execution->check, execution->datatype, text, sizeof(text));
        cohort__operation_fail_with(&execution->operation, status, "%s", text);
    }
}

static void done(struct cohort__execution *execution, uint32_t step)
{
    cohort__execution_row_done(execution, step_at(execution, step)->peer);
    cohort__execution_step_over(execution, step);
}

void cohort__step_start(struct cohort__execution *execution, uint32_t step)
{
    const struct cohort__step *what = step_at(execution, step);
    bool has_arrived = execution->states[step] == COHORT__STEP_ARRIVED;
    if (__builtin_expect(cohort__trace_is_on, 0))
        cohort__execution_trace(execution, step, COHORT__TRACE_STEP);
    switch ((enum cohort__step_kind)what->kind) {
    case COHORT__STEP_JOIN:
        cohort__execution_step_over(execution, step);
        break;
    case COHORT__STEP_DONE:
        done(execution, step);
        break;
    case COHORT__STEP_SEND:
        mode_of(execution, step)->send(execution, step);
        break;
    case COHORT__STEP_RECV:
        execution->states[step] = COHORT__STEP_POSTED;
        if (has_arrived) /* receive takes the message, also if it fails */
            mode_of(execution, step)->receive(execution, step, execution->held[step]);
        break;
    case COHORT__STEP_COPY:
    case COHORT__STEP_ZERO:
    case COHORT__STEP_REDUCE:
    case COHORT__STEP_ROUTE:
        mode_of(execution, step)->compute(execution, step);
        break;
    case COHORT__STEP_MEET:
        cohort__meet_start(execution, step);
        break;
    case COHORT__STEP_POST:
        cohort__note_post(execution, step);
        break;
    case COHORT__STEP_READ:
        cohort__note_read(execution, step);
        break;
    case COHORT__STEP_GUARD:
        look_at_agreement(execution, step);
        break;
    }
}
