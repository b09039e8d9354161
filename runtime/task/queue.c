/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cohort/sync.h"
#include "runtime/base/error.h"
#include "runtime/task/parking.h"

/* A ring of items. Who waits to put has its item with it, which goes into the ring as soon as there
 * is room; who waits to get is given its item. So putters wait only while the ring is full, and
 * getters only while it is empty. */
struct cohort_queue {
    struct cohort__parking parking; /* first */
    struct cohort__parking_list lists[2];
    void **items;
    size_t capacity;
    size_t num;
    size_t first; /* the place of the first item */
    bool is_closed;
};

enum { PUTTERS, GETTERS };

cohort_status cohort_queue_create(size_t capacity, cohort_queue **ret_queue)
{
    const char *name = "cohort_queue_create";
    if (!ret_queue || capacity == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", name,
                           ret_queue ? "capacity is 0" : "ret_queue is NULL");
    cohort_queue *queue = cohort__parking_create(sizeof(*queue), name);
    if (!queue)
        return COHORT_ERR_NO_MEMORY;
    queue->capacity = capacity;
    queue->items = calloc(capacity, sizeof(*queue->items));
    if (!queue->items) {
        cohort_queue_unref(queue);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu items", name, capacity);
    }
    *ret_queue = queue;
    return COHORT_OK;
}

cohort_queue *cohort_queue_ref(cohort_queue *queue)
{
    if (!queue)
        return NULL;
    cohort__parking_check(&queue->parking, "queue", "cohort_queue_ref");
    cohort__parking_ref(&queue->parking);
    return queue;
}

static void fini(struct cohort__parking *parking)
{
    free(((cohort_queue *)(void *)parking)->items);
}

void cohort_queue_unref(cohort_queue *queue)
{
    if (!queue)
        return;
    cohort__parking_check(&queue->parking, "queue", "cohort_queue_unref");
    cohort__parking_unref(&queue->parking, queue->lists, 2, fini);
}

/* --- under the lock --- */

static void push(cohort_queue *queue, void *item)
{
    queue->items[(queue->first + queue->num++) % queue->capacity] = item;
}

static void *pop(cohort_queue *queue)
{
    void *item = queue->items[queue->first];
    queue->first = (queue->first + 1) % queue->capacity;
    queue->num--;
    return item;
}

/* False: nobody waits for an item. */
static bool give(cohort_queue *queue, void *item, struct cohort__parking_list *to_wake)
{
    if (queue->lists[GETTERS].first)
        queue->lists[GETTERS].first->item = item;
    return cohort__parking_serve(&queue->lists[GETTERS], COHORT_OK, to_wake);
}

/* There is room for one more item: that of the first putter. */
static void fill(cohort_queue *queue, struct cohort__parking_list *to_wake)
{
    if (queue->lists[PUTTERS].first)
        push(queue, queue->lists[PUTTERS].first->item);
    cohort__parking_serve(&queue->lists[PUTTERS], COHORT_OK, to_wake);
}

/* --- putting and getting --- */

static cohort_status closed(cohort_queue *queue, const char *function)
{
    pthread_mutex_unlock(&queue->parking.lock);
    return cohort_fail(COHORT_ERR_GONE, "%s: the queue is closed", function);
}

cohort_status cohort_queue_put(cohort_queue *queue, void *item, uint64_t nanoseconds)
{
    struct cohort__parking_terms terms = {.function = "cohort_queue_put",
                                          .caller = __builtin_return_address(0),
                                          .what = (uintptr_t)queue + COHORT__WAIT_QUEUE,
                                          .nanoseconds = nanoseconds,
                                          .fini = fini};
    struct cohort__parking_list to_wake = {0};
    if (!queue)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: queue is NULL", terms.function);
    cohort__parking_check(&queue->parking, "queue", terms.function);
    pthread_mutex_lock(&queue->parking.lock);
    if (queue->is_closed)
        return closed(queue, terms.function);
    if (!give(queue, item, &to_wake)) {
        if (queue->num == queue->capacity) {
            struct cohort__parked parked = {.item = item};
            return cohort__parking_wait(&queue->parking, &queue->lists[PUTTERS], &parked, &terms);
        }
        push(queue, item);
    }
    pthread_mutex_unlock(&queue->parking.lock);
    cohort__parking_wake(&to_wake);
    return COHORT_OK;
}

/* Under the lock, which it gives back. */
static cohort_status wait_for_item(cohort_queue *queue, void **ret_item,
                                   const struct cohort__parking_terms *terms)
{
    struct cohort__parked parked = {0};
    if (queue->is_closed)
        return closed(queue, terms->function);
    cohort_status status =
        cohort__parking_wait(&queue->parking, &queue->lists[GETTERS], &parked, terms);
    if (status == COHORT_OK)
        *ret_item = parked.item;
    return status;
}

cohort_status cohort_queue_get(cohort_queue *queue, void **ret_item, uint64_t nanoseconds)
{
    struct cohort__parking_terms terms = {.function = "cohort_queue_get",
                                          .caller = __builtin_return_address(0),
                                          .what = (uintptr_t)queue + COHORT__WAIT_QUEUE,
                                          .nanoseconds = nanoseconds,
                                          .fini = fini};
    struct cohort__parking_list to_wake = {0};
    if (!queue || !ret_item)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", terms.function,
                           queue ? "ret_item" : "queue");
    cohort__parking_check(&queue->parking, "queue", terms.function);
    pthread_mutex_lock(&queue->parking.lock);
    if (queue->num == 0)
        return wait_for_item(queue, ret_item, &terms);
    *ret_item = pop(queue);
    fill(queue, &to_wake);
    pthread_mutex_unlock(&queue->parking.lock);
    cohort__parking_wake(&to_wake);
    return COHORT_OK;
}

void cohort_queue_close(cohort_queue *queue)
{
    struct cohort__parking_list to_wake = {0};
    if (!queue)
        return;
    cohort__parking_check(&queue->parking, "queue", "cohort_queue_close");
    pthread_mutex_lock(&queue->parking.lock);
    queue->is_closed = true;
    for (int i = PUTTERS; i <= GETTERS; i++)
        while (cohort__parking_serve(&queue->lists[i], COHORT_ERR_GONE, &to_wake))
            ;
    pthread_mutex_unlock(&queue->parking.lock);
    cohort__parking_wake(&to_wake);
}
