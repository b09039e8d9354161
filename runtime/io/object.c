/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/object.h"

#include "runtime/base/container.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/task/scheduler.h"

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
    cohort__io_call_end_with(call, object->status);
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
    cohort__io_calls_cancel();
    while (!cohort__list_is_empty(&open_objects))
        cohort__io_object_close(of_link(open_objects.next));
}
