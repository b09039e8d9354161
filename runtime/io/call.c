/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/call.h"

#include <stdatomic.h>

#include <uv.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/slab.h"
#include "runtime/loop/guest.h"
#include "runtime/task/scheduler.h"

/* References to the future: the caller's, the completer's, one of the watch, and one of each
 * request to cancel that is under way. There is one loop in a process, and so one list. */
static struct cohort__list all = {&all, &all};

static struct cohort__io_call *of_all(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__io_call, all);
}

static struct cohort__io_call *of_queue(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__io_call, queue);
}

struct cohort__io_call *cohort__io_queue_first(const struct cohort__list *queue)
{
    return cohort__list_is_empty(queue) ? NULL : of_queue(queue->next);
}

cohort_future *cohort__io_refuse(const char *function, cohort_status status, const char *why)
{
    return cohort_future_of_error(status, "%s: %s", function, why);
}

void cohort__io_call_keep(struct cohort__io_call *call)
{
    (void)!cohort_future_ref(&call->future);
}

void cohort__io_call_drop(struct cohort__io_call *call)
{
    cohort_future_unref(&call->future);
}

/* --- the end --- */

static void end(struct cohort__io_call *call, cohort_status status)
{
    call->has_ended = true;
    cohort__list_remove(&call->all);
    cohort__list_remove(&call->queue);
    if (call->is_scoped)
        cohort__scope_unwatch(&call->watch);
    if (call->kind->release)
        call->kind->release(call);
    cohort__future_complete(&call->future, status, cohort__error_slot());
}

void cohort__io_call_end(struct cohort__io_call *call)
{
    end(call, COHORT_OK);
}

void cohort__io_call_end_with(struct cohort__io_call *call, cohort_status status)
{
    end(call, status);
}

void cohort__io_call_end_uv(struct cohort__io_call *call, int error, const char *what)
{
    end(call, error < 0 ? cohort__loop_fail(error, "%s: %s", call->kind->name, what) : COHORT_OK);
}

void cohort__io_call_end_early(struct cohort__io_call *call, const char *what)
{
    const char *name = call->kind->name;
    if (call->reason == COHORT__IO_CLOSED)
        end(call, cohort_fail(COHORT_ERR_GONE, "%s: %s: it was closed here", name, what));
    else if (call->reason == COHORT__IO_SCOPE_CANCELLED)
        end(call, cohort_fail(COHORT_ERR_CANCELLED, "%s: %s: its scope was cancelled", name, what));
    else
        end(call,
            cohort_fail(COHORT_ERR_CANCELLED, "%s: %s: the runtime has ended before", name, what));
}

static void cancel(struct cohort__io_call *call)
{
    if (call->has_begun && !call->has_ended && call->kind->cancel)
        call->kind->cancel(call);
}

static void cancel_for(struct cohort__io_call *call, enum cohort__io_reason reason)
{
    if (call->reason)
        return;
    call->reason = reason;
    cancel(call);
}

void cohort__io_queue_cancel(struct cohort__list *queue, enum cohort__io_reason reason)
{
    for (struct cohort__list *link = queue->next, *next; link != queue; link = next) {
        next = link->next;
        cancel_for(of_queue(link), reason);
    }
}

/* All have their reason before the first ends, since that may close what others are about. */
void cohort__io_calls_cancel(void)
{
    struct cohort__list left;
    cohort__list_init(&left);
    for (struct cohort__list *link = all.next, *next; link != &all; link = next) {
        next = link->next;
        if (of_all(link)->reason)
            continue;
        of_all(link)->reason = COHORT__IO_RUNTIME_ENDED;
        cohort__list_remove(link);
        cohort__list_push_back(&left, link);
    }
    for (struct cohort__list *link; (link = cohort__list_pop_front(&left));) {
        cohort__list_push_back(&all, link);
        cancel(of_all(link));
    }
}

/* --- its scope --- */

static void run_cancel(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__io_call *call = COHORT_CONTAINER_OF(request, struct cohort__io_call, cancel);
    cancel_for(call, COHORT__IO_SCOPE_CANCELLED);
    cohort__io_call_drop(call);
}

/* Whoever cancels the scope does not end the call, since libuv may be using its buffer. If the
 * runtime is not up any more, the call has ended or is about to. */
static void scope_cancelled(struct cohort__scope_watch *watch)
{
    struct cohort__io_call *call = COHORT_CONTAINER_OF(watch, struct cohort__io_call, watch);
    if (cohort__scheduler_hold()) {
        cohort__io_call_keep(call);
        cohort__loop_request(call->loop, &call->cancel);
    }
    cohort__scheduler_release();
}

static void scope_released(struct cohort__scope_watch *watch)
{
    cohort_future_unref(&COHORT_CONTAINER_OF(watch, struct cohort__io_call, watch)->future);
}

/* --- the start --- */

void *cohort__io_call_create(size_t bytes, const struct cohort__io_call_kind *kind)
{
    struct cohort__io_call *call = cohort__slab_alloc_zero(bytes);
    if (!call)
        return NULL;
    call->kind = kind;
    cohort__list_init(&call->all);
    cohort__list_init(&call->queue);
    return call;
}

static void run_start(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__io_call *call = COHORT_CONTAINER_OF(request, struct cohort__io_call, start);
    if (call->reason) {
        cohort__io_call_end_early(call, "it had not begun");
        return;
    }
    call->has_begun = true;
    cohort__list_push_back(&all, &call->all);
    call->kind->begin(call);
}

static cohort_future *refuse(struct cohort__io_call *call)
{
    cohort_status status = cohort__scheduler_refuse(call->kind->name);
    cohort_future *future = cohort__future_of_status(status, cohort__error_slot());
    if (call->kind->release)
        call->kind->release(call);
    cohort__slab_free(call);
    return future;
}

static cohort_future *start_on(struct cohort__io_call *call, struct cohort__loop *loop)
{
    cohort_scope *scope = call->kind->ignores_scope ? NULL : cohort__scope_current();
    call->loop = loop;
    call->start.run = run_start;
    call->cancel.run = run_cancel;
    call->is_scoped = scope != NULL;
    cohort__future_init(&call->future, scope ? 3 : 2, COHORT__WAIT_OUTSIDE);
    if (scope) {
        call->watch.cancel = scope_cancelled;
        call->watch.release = scope_released;
        cohort__scope_watch(scope, &call->watch);
    }
    cohort_future *future = &call->future;
    cohort__loop_request(loop, &call->start);
    return future;
}

/* The loop stays as long as the scheduler is held. */
cohort_future *cohort__io_call_start(struct cohort__io_call *call)
{
    struct cohort__loop *loop = cohort__scheduler_hold() ? cohort__loop_attached() : NULL;
    cohort_future *future = loop ? start_on(call, loop) : refuse(call);
    cohort__scheduler_release();
    return future;
}
