/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/batch_queue.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"
#include "runtime/task/inputs.h"

/* Futures that complete are queued. The thread that finds the queue idle runs it, and passes the
 * results on one after the other: so the returned futures complete in their order, whichever
 * threads the results come from. tests/model/when_each.pml is a model of this. */

struct when_each;
struct member {
    struct cohort__batch_queue_node node; /* first */
    struct cohort__waiter waiter;
    struct when_each *each;
    cohort_future *source;
    _Atomic uintptr_t what; /* the source, for the tick; 0: it has passed */
    cohort_future *result;  /* not of this source, but of the one that completes at this place */
};
struct when_each {
    struct cohort__batch_queue queue;
    struct cohort__inputs inputs;
    size_t *ret_indices;
    _Atomic size_t num_passed; /* only the queue's runner changes it */
    size_t count;
    size_t num_seen_passed; /* in front, for the tick */
    struct member members[];
};

/* The source of MEMBER is the next one. */
static void pass(struct when_each *each, struct member *member)
{
    const size_t place = atomic_load_explicit(&each->num_passed, memory_order_relaxed);
    atomic_store_explicit(&each->num_passed, place + 1, memory_order_relaxed);
    atomic_store_explicit(&member->what, 0, memory_order_relaxed);
    if (each->ret_indices)
        each->ret_indices[place] = (size_t)(member - each->members);
    cohort__future_complete_like(each->members[place].result, member->source);
    cohort_future_unref(member->source);
}

/* Runs the queue. EACH is gone if the last one has passed. Nobody else touches it then: each member
 * is in the queue once, and who has put it there and is not the runner is through with EACH. */
static void run(struct when_each *each)
{
    struct cohort__batch_queue_node *node;
    while ((node = cohort__batch_queue_take_or_release(&each->queue))) {
        while (node) {
            struct member *next = (struct member *)node;
            node = node->next;
            pass(each, next);
        }
        if (atomic_load_explicit(&each->num_passed, memory_order_relaxed) == each->count) {
            cohort__inputs_end(&each->inputs);
            cohort__slab_free(each);
            return;
        }
    }
}

static struct member *member_of(struct cohort__waiter *waiter)
{
    return COHORT_CONTAINER_OF(waiter, struct member, waiter);
}

static void follow(struct cohort__waiter *waiter)
{
    run(member_of(waiter)->each);
}

/* The source of MEMBER is complete. */
static void arrive(struct member *member)
{
    if (cohort__batch_queue_push(&member->each->queue, &member->node))
        cohort__waiter_follow(&member->waiter, follow);
}

static void notify(struct cohort__waiter *waiter)
{
    arrive(member_of(waiter));
}

/* The results up to the first one that is NULL have two references each, one for the caller. */
static void destroy(struct when_each *each)
{
    for (size_t i = 0; i < each->count && each->members[i].result; i++) {
        cohort_future_unref(each->members[i].result);
        cohort_future_unref(each->members[i].result);
    }
    cohort__slab_free(each);
}

static struct when_each *create(cohort_future *const *futures, size_t count)
{
    struct when_each *each = NULL;
    if (count < SIZE_MAX / 2 / sizeof(struct member))
        each = cohort__slab_alloc(sizeof(*each) + count * sizeof(struct member));
    if (!each)
        return NULL;
    cohort__batch_queue_init(&each->queue);
    atomic_init(&each->num_passed, 0);
    each->count = count;
    each->num_seen_passed = 0;
    for (size_t i = 0; i < count; i++) {
        each->members[i] =
            (struct member){.waiter = {.notify = notify, .is_owner = true},
                            .each = each,
                            .source = futures[i],
                            .what = cohort__future_what(futures[i]),
                            .result = cohort__future_create_about(COHORT__WAIT_SEVERAL)};
        if (!each->members[i].result) {
            destroy(each);
            return NULL;
        }
    }
    return each;
}

/* Each of the next results waits for so many of the sources. It may be gone as soon as it is
 * complete. */
static void describe(struct cohort__inputs *inputs, uint64_t since)
{
    enum { MOST_RESULTS = 64 };
    struct when_each *each = COHORT_CONTAINER_OF(inputs, struct when_each, inputs);
    struct cohort__inputs_line line = {.since = since};
    const size_t passed = atomic_load_explicit(&each->num_passed, memory_order_relaxed);
    const size_t end = cohort__inputs_look_end(each->count, each->num_seen_passed);
    bool has_room = true;
    for (size_t i = each->num_seen_passed; i < end && has_room; i++) {
        const uintptr_t what = atomic_load_explicit(&each->members[i].what, memory_order_relaxed);
        each->num_seen_passed += what == 0 && i == each->num_seen_passed;
        has_room = what == 0 || cohort__inputs_add(&line, what);
    }
    line.num = each->count - passed;
    for (size_t i = passed; i < each->count && i < passed + MOST_RESULTS; i++) {
        line.of = (uintptr_t)each->members[i].result;
        line.wanted = i - passed + 1;
        cohort__inputs_tell(&line);
    }
}

static const char name[] = "cohort_when_each";

/* If something is wrong with FUTURES or RET_EACH, takes the references. */
static cohort_status check(cohort_future *const *futures, size_t count, cohort_future **ret_each,
                           const void *caller)
{
    cohort_future *refused = cohort__futures_check(futures, count, name, caller);
    if (refused)
        return cohort_await(refused);
    if (ret_each)
        return COHORT_OK;
    cohort__futures_unref(futures, count);
    return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_each is NULL", name);
}

cohort_status cohort_when_each(cohort_future *const *futures, size_t count,
                               cohort_future **ret_each, size_t *ret_indices)
{
    if (count == 0)
        return COHORT_OK;
    const void *caller = __builtin_return_address(0);
    cohort_status status = check(futures, count, ret_each, caller);
    if (status != COHORT_OK)
        return status;
    struct when_each *each = create(futures, count);
    if (!each) {
        cohort__futures_unref(futures, count);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu futures", name, count);
    }
    each->ret_indices = ret_indices;
    cohort__inputs_begin(&each->inputs, describe);
    struct member *members = each->members;
    for (size_t i = 0; i < count; i++)
        ret_each[i] = members[i].result;
    for (size_t i = 0; i < count; i++)
        if (!cohort__future_wait_as_owner(members[i].source, &members[i].waiter, name, caller))
            arrive(&members[i]);
    return COHORT_OK;
}
