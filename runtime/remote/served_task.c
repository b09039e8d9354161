/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/remote/served.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/task.h"
#include "runtime/task/wait_line.h"
#include "runtime/wire/bins.h"

/* The task that calls the function, once the call is admitted and its IN is here. */

/* A longer IN that has come with the call gets memory of its own, so that the caller's budget is
 * not used up for as long as the function runs. */
static cohort_status take_along(struct served *served)
{
    struct cohort__arrival *arrival = served->arrival;
    if (!arrival)
        return COHORT_OK;
    served->memory = malloc(served->bytes);
    if (!served->memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for its %zu bytes", served->bytes);
    memcpy(served->memory, arrival->data, served->bytes);
    served->in.data = served->memory;
    served->arrival = NULL;
    cohort__arrival_release(arrival);
    return COHORT_OK;
}

/* For several localities: OUT is all their results, packed. */
static cohort_status run_span(struct served *served)
{
    struct cohort__remote_name name = cohort__served_name(served);
    cohort_object *objects = calloc(served->span, sizeof(*objects));
    if (!objects)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u results", served->span);
    cohort_status status =
        cohort__remote_spread(served->tasks, served->span, &name, &served->in, objects);
    served->says_where = status != COHORT_OK;
    size_t bytes = cohort__bins_head_bytes(served->span);
    for (uint32_t i = 0; i < served->span; i++)
        bytes += cohort__bins_string_bytes(objects[i].bytes);
    if (!status && !(served->out.data = malloc(bytes)))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for results of %zu bytes", bytes);
    if (!status) {
        served->out.bytes = bytes;
        unsigned char *to = cohort__bins_put_head(served->out.data, served->span);
        for (uint32_t i = 0; i < served->span; i++)
            to = cohort__bins_put_string(to, objects[i].data, objects[i].bytes);
    }
    cohort_objects_fini(objects, served->span);
    free(objects);
    return status;
}

static cohort_status call_what_is_named(struct served *served)
{
    cohort_status status = take_along(served);
    if (status)
        return status;
    if (served->span > 1)
        return run_span(served);
    const struct cohort__remote_function *function = cohort__remote_function_find(served->hash);
    return cohort__remote_function_call(function, &served->in, &served->out);
}

cohort_status cohort__served_call(struct served *served)
{
    atomic_store_explicit(&served->task, cohort__wait_line_self(), memory_order_relaxed);
    cohort_status status = call_what_is_named(served);
    atomic_store_explicit(&served->task, 0, memory_order_relaxed);
    return status;
}

static cohort_status run(void *arg)
{
    struct served *served = arg;
    cohort_status status = cohort__served_call(served);
    if (cohort__fork_is_child())
        return status; /* of a child process, which is no locality */
    if (status)
        cohort__served_fail(served, status, cohort_error_message());
    else
        cohort__served_send_result(served);
    return COHORT_OK;
}

static void start_alone(struct served *served)
{
    cohort_future *future = cohort__task_start_outside(run, served, cohort__served_shown(served));
    bool is_started = future->is_task;
    cohort_status status = is_started ? COHORT_OK : cohort__future_status(future);
    cohort_future_unref(future);
    if (!is_started)
        cohort__served_fail(served, status, "it could not be started");
}

void cohort__served_start(struct served *served)
{
    if (served->is_scoped)
        cohort__served_start_scoped(served);
    else
        start_alone(served);
}
