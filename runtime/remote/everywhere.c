/* SPDX-License-Identifier: Apache-2.0 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/slab.h"
#include "runtime/remote/private.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/wire/bins.h"

/* A call to all localities. Each has a span: itself and so many that follow it, and after the last
 * locality the first one. It gives the upper half of what is left of it to the locality with which
 * that half begins, until only itself is left. That is a binomial tree. If that locality is known
 * to be dead, the next one that lives has its place. */

enum { CHILDREN_MAX = 32 };

/* A part of a span. */
struct child {
    uint32_t offset; /* of its first locality */
    uint32_t span;
    cohort_future *future;
    cohort_object packed; /* if its span is more than one */
};

/* Unpacks the results of CHILD to OBJECTS. */
static cohort_status unpack(const struct child *child, cohort_object *objects)
{
    struct cohort__bins bins = {child->packed.data, child->packed.bytes};
    uint32_t count;
    cohort_status status = cohort__bins_get_head(&bins, &count);
    if (!status && count != child->span)
        status =
            cohort_fail(COHORT_ERR_PROTOCOL, "%u results of %u localities", count, child->span);
    for (uint32_t i = 0; !status && i < child->span; i++) {
        size_t bytes = 0;
        void *data = NULL;
        status = cohort__bins_get_length(&bins, &bytes);
        if (!status && bytes > 0 && !(data = malloc(bytes)))
            status =
                cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a result of %zu bytes", bytes);
        if (!status) {
            cohort__bins_get_string(&bins, data);
            objects[i] = (cohort_object){data, bytes};
        }
    }
    return status ? status : cohort__bins_get_end(&bins);
}

/* Waits for CHILD. *FIRST becomes its error, unless it is one already. */
static void take(struct cohort__remote_tasks *tasks, const struct cohort__remote_name *name,
                 struct child *child, cohort_object *objects, struct cohort__error *first)
{
    cohort_status status = cohort_await(child->future);
    if (status && !first->status)
        cohort__error_copy(first, cohort__error_slot());
    if (!status && child->span > 1 && (status = unpack(child, objects + child->offset)) &&
        !first->status)
        cohort__remote_error_set(
            first, name, (cohort__process_rank(tasks->process) + child->offset) % tasks->size,
            status, cohort_error_message());
    cohort_object_fini(&child->packed);
}

/* Leaves out the localities at the beginning of CHILD that have died, if the job goes on without
 * them. Their results stay empty. Returns the first that is left, as a rank. */
static uint32_t skip_dead(const struct cohort__remote_tasks *tasks, struct child *child)
{
    const uint32_t own = cohort__process_rank(tasks->process);
    struct cohort__death death;
    uint32_t rank = (uint32_t)(((uint64_t)own + child->offset) % tasks->size);
    while (cohort__process_keeps_going(tasks->process) && child->span > 0 &&
           cohort__process_death_of(tasks->process, rank, &death)) {
        child->offset++;
        child->span--;
        rank = (rank + 1) % tasks->size;
    }
    return rank;
}

cohort_status cohort__remote_spread(struct cohort__remote_tasks *tasks, uint32_t span,
                                    const struct cohort__remote_name *name, const cohort_object *in,
                                    cohort_object *objects)
{
    struct child children[CHILDREN_MAX];
    struct cohort__error first = {0};
    uint32_t rank = cohort__process_rank(tasks->process), num = 0; /* of children */
    for (uint32_t left = span, half; left > 1; left -= half) {
        half = left / 2;
        struct child *child = &children[num];
        *child = (struct child){.offset = left - half, .span = half};
        uint32_t first_rank = skip_dead(tasks, child);
        if (child->span == 0)
            continue;
        num++;
        child->future =
            cohort__remote_call(tasks, first_rank, child->span, name, in,
                                child->span > 1 ? &child->packed : &objects[child->offset]);
    }
    struct child own = {.span = 1,
                        .future = cohort__remote_call(tasks, rank, 1, name, in, &objects[0])};
    take(tasks, name, &own, objects, &first);
    while (num > 0) /* in the order of localities */
        take(tasks, name, &children[--num], objects, &first);
    cohort_status status = first.status;
    if (status) {
        cohort_objects_fini(objects, span);
        cohort__error_copy(cohort__error_slot(), &first);
    }
    cohort__error_fini(&first);
    return status;
}

/* The call ------------------------------------------------------------------------------------ */

/* Its task carries it. */
struct everywhere {
    struct cohort__remote_tasks *tasks;
    struct cohort__remote_name name;
    cohort_object in;
    cohort_object *ret_out;
    alignas(16) unsigned char copied[]; /* a short IN, and the name */
};

static cohort_status run(void *arg)
{
    struct everywhere *call = arg;
    const size_t copied = call->in.bytes <= COHORT_REMOTE_COPIED_BYTES ? call->in.bytes : 0;
    if (copied > 0)
        call->in.data = call->copied;
    call->name.text = (const char *)call->copied + copied;
    uint32_t size = call->tasks->size, rank = cohort__process_rank(call->tasks->process);
    cohort_object *objects = calloc(size, sizeof(*objects));
    cohort_status status =
        objects ? cohort__remote_spread(call->tasks, size, &call->name, &call->in, objects)
                : cohort_fail(COHORT_ERR_NO_MEMORY,
                              "cohort_async_everywhere: no memory for %u results", size);
    if (cohort__fork_is_child())
        return status;
    for (uint32_t i = 0; !status && call->ret_out && i < size; i++) {
        call->ret_out[((uint64_t)rank + i) % size] = objects[i];
        objects[i] = (cohort_object){0};
    }
    cohort_objects_fini(objects, size);
    free(objects);
    return status;
}

cohort_future *cohort__async_everywhere_from(struct cohort__process *process, const char *name,
                                             const cohort_object *in, cohort_object *ret_out)
{
    static const cohort_object nothing;
    in = in ? in : &nothing;
    struct cohort__remote_tasks *tasks = process ? cohort__remote_tasks_of(process) : NULL;
    for (uint32_t i = 0; tasks && ret_out && i < tasks->size; i++)
        ret_out[i] = nothing;
    if (!name || (!in->data && in->bytes > 0))
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "cohort_async_everywhere: no %s",
                                      name ? "data" : "name");
    if (in->bytes > PTRDIFF_MAX)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_async_everywhere: remote task \"%.60s\": %zu bytes "
                                      "are more than memory",
                                      name, in->bytes);
    if (!tasks || cohort__scheduler_is_closed())
        return cohort__future_of_status(cohort__scheduler_refuse("cohort_async_everywhere"),
                                        cohort__error_slot());
    size_t copied = in->bytes <= COHORT_REMOTE_COPIED_BYTES ? in->bytes : 0;
    size_t text = strlen(name) + 1;
    struct everywhere *call = cohort__slab_alloc(sizeof(*call) + copied + text);
    if (!call)
        return cohort__future_no_memory();
    call->tasks = tasks;
    call->name.hash = cohort__remote_hash(name);
    memcpy(call->copied + copied, name, text);
    call->in = *in;
    if (copied > 0)
        memcpy(call->copied, in->data, copied);
    call->ret_out = ret_out;
    cohort_future *future = cohort__task_start_carrying(
        cohort__scope_current(), 0, run, (cohort__any_function *)cohort_async_everywhere, call,
        sizeof(*call) + copied + text);
    cohort__slab_free(call);
    return future;
}

cohort_future *cohort_async_everywhere(const char *name, const cohort_object *in,
                                       cohort_object *ret_out)
{
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_async_everywhere");
    bool is_up = cohort__scheduler_hold();
    cohort_future *future =
        cohort__async_everywhere_from(is_up ? cohort__process_current() : NULL, name, in, ret_out);
    cohort__scheduler_release();
    return future;
}
