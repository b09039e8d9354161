/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/activity.h"

#include <stdlib.h>

#include "collectives/comm/commons.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"

struct cohort__activity *cohort__activity_create(struct cohort__execution *execution, uint32_t step)
{
    struct cohort__activity *activity = cohort__slab_alloc(sizeof(*activity));
    if (!activity) {
        cohort__operation_fail_with(&execution->operation, COHORT_ERR_NO_MEMORY,
                                    "no memory for a step");
        return NULL;
    }
    activity->kind = COHORT__ACTIVITY_WORK;
    activity->execution = execution;
    activity->step = step;
    activity->error = (struct cohort__error){0};
    activity->message = NULL;
    activity->attachment = NULL;
    activity->buffer = NULL;
    execution->num_busy++;
    if (step == COHORT__NO_STEP)
        return activity;
    activity->pieces =
        cohort__pieces_of_step(execution->plan, &execution->plan->steps[step], execution->bases);
    execution->states[step] = COHORT__STEP_BUSY;
    execution->held[step] = activity;
    return activity;
}

static void destroy(struct cohort__activity *activity)
{
    activity->execution->num_busy--;
    cohort__message_release(activity->message);
    if (activity->attachment)
        activity->attachment->release(activity->attachment);
    cohort__error_fini(&activity->error);
    free(activity->buffer);
    cohort__slab_free(activity);
}

void cohort__activity_finish(struct cohort__activity *activity)
{
    struct cohort__execution *execution = activity->execution;
    uint32_t step = activity->step;
    destroy(activity);
    if (step != COHORT__NO_STEP)
        cohort__execution_step_over(execution, step);
}

/* Back in the endpoint's turn. */
static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    struct cohort__activity *activity = COHORT_CONTAINER_OF(item, struct cohort__activity, item);
    struct cohort__execution *execution = activity->execution;
    cohort__execution_enter(execution);
    bool failing = execution->operation.failure.status != COHORT_OK;
    if (!failing && !activity->error.status) {
        activity->next(activity);
    } else {
        uint32_t step = activity->step;
        struct cohort__error error = activity->error; /* now ours */
        activity->error = (struct cohort__error){0};
        destroy(activity);
        if (step != COHORT__NO_STEP)
            execution->states[step] = COHORT__STEP_OVER; /* its peer need not be told again */
        bool is_told = error.status == COHORT_ERR_PEER_DIED && !failing &&
                       cohort__operation_fail_if_broken(&execution->operation);
        if (!failing && !is_told)
            cohort__operation_fail_with(&execution->operation, error.status, "%s",
                                        cohort__error_message(&error));
        cohort__error_fini(&error);
    }
    cohort__execution_leave(execution);
}

void cohort__activity_done(struct cohort__activity *activity, cohort_status status)
{
    if (status) {
        cohort__error_copy(&activity->error, cohort__error_slot());
        if (activity->error.status != status)
            cohort__error_set(&activity->error, status, "%s", cohort_status_text(status));
    }
    activity->item.run = run;
    cohort__endpoint_post(activity->execution->operation.comm, &activity->item);
}

static void send_done(struct cohort__send *send, cohort_status status)
{
    cohort__activity_done(COHORT_CONTAINER_OF(send, struct cohort__activity, send), status);
}

void cohort__activity_send(struct cohort__activity *activity, const void *payload, size_t bytes)
{
    const struct cohort__operation *operation = &activity->execution->operation;
    const struct cohort__step *step = &activity->execution->plan->steps[activity->step];
    activity->kind = COHORT__ACTIVITY_SEND;
    activity->next = cohort__activity_finish;
    activity->send.done = send_done;
    activity->send.payload = payload;
    activity->send.bytes = bytes;
    activity->send.envelope =
        (struct cohort__envelope){.generation = operation->generation,
                                  .fingerprint = operation->fingerprint,
                                  .tag = cohort__message_tag(step->phase, step->tag)};
    cohort__remote_send(operation->comm->group, operation->comm->this_site, step->peer,
                        &activity->send);
}

static void fetch_done(struct cohort__fetch *fetch, cohort_status status)
{
    cohort__activity_done(COHORT_CONTAINER_OF(fetch, struct cohort__activity, fetch), status);
}

void cohort__activity_fetch(struct cohort__activity *activity, struct cohort__message *message,
                            void *destination, void (*next)(struct cohort__activity *activity))
{
    activity->next = next;
    if (!destination)
        destination = activity->buffer = malloc(message->bytes);
    if (!destination) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for unpacking %zu bytes", message->bytes);
        cohort__message_release(message);
        cohort__activity_done(activity, COHORT_ERR_NO_MEMORY);
        return;
    }
    activity->kind = COHORT__ACTIVITY_FETCH;
    activity->fetch.done = fetch_done;
    cohort__remote_fetch(message, destination, &activity->fetch);
}

static void perform(struct cohort__work *work)
{
    struct cohort__activity *activity = COHORT_CONTAINER_OF(work, struct cohort__activity, work);
    struct cohort__commons *commons = activity->execution->operation.comm->group->commons;
    cohort__activity_done(activity, activity->perform(activity));
    cohort__commons_count_work(commons, -1);
}

static void prepare(struct cohort__activity *activity,
                    cohort_status (*perform_step)(struct cohort__activity *activity),
                    void (*next)(struct cohort__activity *activity))
{
    activity->kind = COHORT__ACTIVITY_WORK; /* it may have been a fetch before */
    activity->perform = perform_step;
    activity->next = next;
    activity->work.run = perform;
    cohort__commons_count_work(activity->execution->operation.comm->group->commons, 1);
}

void cohort__activity_chore(struct cohort__activity *activity,
                            cohort_status (*perform_step)(struct cohort__activity *activity),
                            void (*next)(struct cohort__activity *activity))
{
    prepare(activity, perform_step, next);
    cohort__chore_post(&activity->work);
}

void cohort__activity_work(struct cohort__activity *activity,
                           cohort_status (*perform_step)(struct cohort__activity *activity),
                           void (*next)(struct cohort__activity *activity))
{
    prepare(activity, perform_step, next);
    cohort__work_post(&activity->work);
}

static void send_buffer(struct cohort__activity *activity)
{
    cohort__activity_send(activity, activity->buffer, activity->bytes);
}

void cohort__activity_send_packed(struct cohort__activity *activity, size_t bytes,
                                  cohort_status (*pack)(struct cohort__activity *activity))
{
    activity->bytes = bytes;
    activity->buffer = bytes > 0 ? malloc(bytes) : NULL;
    if (!activity->buffer) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for packing %zu bytes", bytes);
        activity->next = cohort__activity_finish;
        cohort__activity_done(activity, COHORT_ERR_NO_MEMORY);
    } else if (bytes <= COHORT__ON_THE_SPOT_BYTES) {
        pack(activity);
        send_buffer(activity);
    } else {
        cohort__activity_chore(activity, pack, send_buffer);
    }
}
