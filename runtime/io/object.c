/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/object.h"

#include <stdatomic.h>
#include <uv.h>

#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/loop/guest.h"
#include "runtime/task/scheduler.h"

/* calls ---------------------------------------------------------------------------------------- */

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
static void calls_cancel(void)
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

/* objects -------------------------------------------------------------------------------------- */

static struct cohort__list open_objects = {&open_objects, &open_objects};

static struct cohort__io_object *of_link(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__io_object, link);
}

/* Gives back a reference to the memory. */
static void drop(struct cohort__io_object *object)
{
    if (atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) != 1)
        return;
    cohort__error_fini(&object->error);
    cohort__slab_free(object);
}

void cohort__io_object_ref(struct cohort__io_object *object)
{
    atomic_fetch_add_explicit(&object->users, 1, memory_order_relaxed);
}

static void run_unused(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    (void)loop;
    struct cohort__io_object *object =
        COHORT_CONTAINER_OF(request, struct cohort__io_object, unused);
    cohort__io_object_close(object);
    drop(object);
}

/* If the runtime is not up any more, its end closes the object, or has done so. */
void cohort__io_object_unref(struct cohort__io_object *object)
{
    if (atomic_fetch_sub_explicit(&object->users, 1, memory_order_acq_rel) != 1)
        return;
    bool is_asked = cohort__scheduler_hold() && !atomic_load(&object->is_closed);
    if (is_asked)
        cohort__loop_request(object->loop, &object->unused);
    cohort__scheduler_release();
    if (!is_asked)
        drop(object);
}

void cohort__io_object_open(struct cohort__io_object *object,
                            const struct cohort__io_object_kind *kind, struct cohort__loop *loop,
                            const char *what)
{
    object->kind = kind;
    object->loop = loop;
    object->what = what;
    atomic_init(&object->refs, 2);
    atomic_init(&object->users, 0);
    atomic_init(&object->is_closed, false);
    object->unused.run = run_unused;
    cohort__list_init(&object->closers);
    cohort__list_push_back(&open_objects, &object->link);
}

void cohort__io_object_give(struct cohort__io_object *object)
{
    atomic_store(&object->users, 1);
}

void cohort__io_object_discard(struct cohort__io_object *object)
{
    cohort__io_object_close(object);
    drop(object);
}

void cohort__io_object_close(struct cohort__io_object *object)
{
    if (object->is_closing)
        return;
    object->is_closing = true;
    cohort__list_remove(&object->link);
    object->kind->close(object);
}

static void end_close(struct cohort__io_call *call, const struct cohort__io_object *object)
{
    if (object->status)
        cohort__error_copy(cohort__error_slot(), &object->error);
    end(call, object->status);
}

void cohort__io_object_closed(struct cohort__io_object *object, cohort_status status)
{
    object->status = status;
    if (status)
        cohort__error_copy(&object->error, cohort__error_slot());
    atomic_store(&object->is_closed, true);
    for (struct cohort__io_call *call; (call = cohort__io_queue_first(&object->closers));)
        end_close(call, object);
    drop(object);
}

/* --- calls --- */

cohort_future *cohort__io_object_call_start(struct cohort__io_object_call *call,
                                            struct cohort__io_object *object)
{
    call->object = object;
    atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
    return cohort__io_call_start(&call->call);
}

struct cohort__io_object *cohort__io_object_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct cohort__io_object_call, call)->object;
}

void cohort__io_object_call_release(struct cohort__io_call *call)
{
    drop(cohort__io_object_of(call));
}

bool cohort__io_object_admits(struct cohort__io_call *call)
{
    const struct cohort__io_object *object = cohort__io_object_of(call);
    if (!object->is_closing)
        return true;
    call->reason = COHORT__IO_CLOSED;
    cohort__io_call_end_early(call, object->what);
    return false;
}

struct close_call {
    struct cohort__io_object_call call;
    struct cohort__io_call_kind kind; /* with the name of the function */
};

/* It can't be cancelled: the end comes soon. */
static void close_begin(struct cohort__io_call *call)
{
    struct cohort__io_object *object = cohort__io_object_of(call);
    if (atomic_load(&object->is_closed)) {
        end_close(call, object);
        return;
    }
    cohort__list_push_back(&object->closers, &call->queue);
    cohort__io_object_close(object);
}

cohort_future *cohort__io_object_close_call(struct cohort__io_object *object)
{
    struct close_call *new = cohort__io_call_create(sizeof(*new), NULL);
    if (!new)
        return cohort__io_refuse(object->kind->name, COHORT_ERR_NO_MEMORY, "out of memory");
    new->kind = (struct cohort__io_call_kind){.name = object->kind->name,
                                              .ignores_scope = true,
                                              .begin = close_begin,
                                              .release = cohort__io_object_call_release};
    new->call.call.kind = &new->kind;
    return cohort__io_object_call_start(&new->call, object);
}

/* --- the end --- */

/* How many objects of OBJECT's kind the program has, or 0 if an earlier one has been asked. */
static unsigned count_kind(const struct cohort__io_object *object)
{
    unsigned num = 0;
    bool is_before = true;
    for (struct cohort__list *link = open_objects.next; link != &open_objects; link = link->next) {
        const struct cohort__io_object *other = of_link(link);
        is_before = is_before && other != object;
        if (other->kind != object->kind)
            continue;
        if (is_before)
            return 0;
        num += atomic_load(&other->users) > 0;
    }
    return num;
}

static void say_what_is_open(void)
{
    for (struct cohort__list *link = open_objects.next; link != &open_objects; link = link->next) {
        unsigned num = count_kind(of_link(link));
        if (num > 0)
            cohort__log(COHORT__LOG_WARN,
                        "runtime: the program has left %u %s%s open at its end; closed now", num,
                        of_link(link)->kind->noun, num == 1 ? "" : "s");
    }
}

void cohort__io_end(void)
{
    say_what_is_open();
    calls_cancel();
    while (!cohort__list_is_empty(&open_objects))
        cohort__io_object_close(of_link(open_objects.next));
}
