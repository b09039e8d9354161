/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/guest.h"

#include <stdio.h>
#include <string.h>

#include "cohort/uv.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/loop/private.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/uncaught.h"

/* The loop as others see it who have handles of libuv there: the program, and the layers above. */

struct visit {
    cohort_future future; /* first: it is freed as a future */
    struct cohort__loop_request request;
    cohort_loop_function *function;
    void *arg;
};

uv_loop_t *cohort__loop_uv(struct cohort__loop *loop)
{
    return &loop->uv;
}

bool cohort__loop_has_guests(const struct cohort__loop *loop)
{
    return loop->has_guests;
}

/* --- running functions --- */

static void visit(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    struct visit *visit = COHORT_CONTAINER_OF(request, struct visit, request);
    struct cohort__error *slot = cohort__error_slot();
    loop->has_guests = true;
    cohort__error_fini(slot);
    cohort_status status = visit->function(&loop->uv, visit->arg);
    COHORT__STOPS_EXCEPTIONS;
    if (status && slot->status != status)
        cohort__error_set(slot, status, "cohort_run_on_loop: the function returned %s",
                          cohort_status_name(status));
    cohort__future_complete(&visit->future, status, slot);
}

static cohort_future *start(struct cohort__loop *loop, cohort_loop_function *function, void *arg)
{
    if (!loop)
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_run_on_loop"),
                                        cohort__error_slot());
    struct visit *new = cohort__slab_alloc(sizeof(*new));
    if (!new)
        return cohort_future_of_error(COHORT_ERR_NO_MEMORY, "cohort_run_on_loop: out of memory");
    cohort__future_init(&new->future, 2, COHORT__WAIT_OUTSIDE);
    new->request.run = visit;
    new->function = function;
    new->arg = arg;
    cohort__loop_request(loop, &new->request);
    return &new->future;
}

cohort_future *cohort_run_on_loop(cohort_loop_function *function, void *arg)
{
    if (!function)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_run_on_loop: function is NULL");
    struct cohort__loop *loop = cohort__scheduler_hold() ? cohort__loop_attached() : NULL;
    cohort_future *future = start(loop, function, arg);
    cohort__scheduler_release();
    return future;
}

/* --- what their callbacks have made ready --- */

/* The last thing before libuv may block, after the program's timers and its own handles of this
 * kind, which run in the order from the newest to the oldest. A callback in a worker may have put
 * tasks into the queues of that worker, which then wakes nobody. */
static void about_to_block(uv_prepare_t *handle)
{
    struct cohort__loop *loop = handle->data;
    if (atomic_load_explicit(&loop->blocking, memory_order_relaxed) && cohort__scheduler_has_work())
        uv_stop(handle->loop); /* until uv_run returns; it does not block then */
}

void cohort__guests_init(struct cohort__loop *loop)
{
    uv_prepare_init(&loop->uv, &loop->prepare); /* this and start can't fail */
    loop->prepare.data = loop;
    uv_prepare_start(&loop->prepare, about_to_block);
    uv_unref((uv_handle_t *)&loop->prepare);
}

/* --- the end --- */

struct census {
    unsigned num[UV_HANDLE_TYPE_MAX];
    unsigned all;
};

static void count_and_close(uv_handle_t *handle, void *arg)
{
    struct census *census = arg;
    if (uv_is_closing(handle))
        return;
    census->num[handle->type]++;
    census->all++;
    uv_close(handle, NULL);
}

bool cohort__guests_close(struct cohort__loop *loop)
{
    struct census census = {.all = 0};
    char kinds[256] = "";
    uv_walk(&loop->uv, count_and_close, &census);
    for (uv_handle_type type = 0; type < UV_HANDLE_TYPE_MAX; type++) {
        size_t bytes = strlen(kinds);
        if (census.num[type] > 0)
            snprintf(kinds + bytes, sizeof(kinds) - bytes, "%s%u %s", bytes ? ", " : "",
                     census.num[type], uv_handle_type_name(type));
    }
    if (census.all > 0)
        cohort__log(COHORT__LOG_WARN,
                    "runtime: the program has left %u handle%s of libuv open at its end (%s); "
                    "closed now",
                    census.all, census.all == 1 ? "" : "s", kinds);
    return census.all > 0;
}
