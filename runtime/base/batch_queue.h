/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_BATCH_QUEUE_H
#define COHORT_RUNTIME_BASE_BATCH_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* An intrusive queue into which any thread pushes without locks, and out of which a consumer takes
 * everything at once, in the order in which it was pushed. It is a stack. A consumer swaps the
 * whole stack out and reverses it, so there is no ABA problem, and several consumers may take at
 * the same time.
 *
 * There are two ways of consuming. The first is cohort__batch_queue_take, which empties the queue.
 * The second is for actors. There, the thread whose push makes the queue non-empty becomes its
 * runner. Until the runner releases the queue, no other thread may run it:
 *     if (cohort__batch_queue_push(&queue, node))
 *         while ((batch = cohort__batch_queue_take_or_release(&queue)))
 *             ... all of the batch ...
 * During the loop every push returns false. Don't mix the two ways on one queue.
 *
 * All zero is a valid, empty queue. A push happens before the take that sees it. Pushes, takes and
 * cohort__batch_queue_is_empty are sequentially consistent. */
struct cohort__batch_queue_node {
    struct cohort__batch_queue_node *next;
};
struct cohort__batch_queue {
    struct cohort__batch_queue_node *_Atomic head;
};

static inline void cohort__batch_queue_init(struct cohort__batch_queue *queue)
{
    atomic_init(&queue->head, NULL);
}

/* The queue is empty, but its runner has not released it. */
static inline struct cohort__batch_queue_node *
cohort__batch_queue_busy(struct cohort__batch_queue *queue)
{
    return (struct cohort__batch_queue_node *)(void *)queue;
}

/* Any thread. Returns whether the queue was empty and had no runner. */
static inline bool cohort__batch_queue_push(struct cohort__batch_queue *queue,
                                            struct cohort__batch_queue_node *node)
{
    struct cohort__batch_queue_node *head =
        atomic_load_explicit(&queue->head, memory_order_relaxed);
    bool was_idle;
    do {
        was_idle = head == NULL;
        node->next = head == cohort__batch_queue_busy(queue) ? NULL : head;
    } while (!atomic_compare_exchange_weak_explicit(&queue->head, &head, node, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return was_idle;
}

/* Any thread. If the queue is empty and has no runner, makes the caller its runner, without a push,
 * and returns true. */
static inline bool cohort__batch_queue_claim(struct cohort__batch_queue *queue)
{
    struct cohort__batch_queue_node *expected = NULL;
    return atomic_compare_exchange_strong(&queue->head, &expected, cohort__batch_queue_busy(queue));
}

static inline bool cohort__batch_queue_is_empty(const struct cohort__batch_queue *queue)
{
    return atomic_load(&queue->head) == NULL;
}

/* Reverses the list that begins with NODE and returns its new first node. */
static inline struct cohort__batch_queue_node *
cohort__batch_queue_reverse(struct cohort__batch_queue_node *node)
{
    struct cohort__batch_queue_node *first = NULL;
    while (node) {
        struct cohort__batch_queue_node *next = node->next;
        node->next = first;
        first = node;
        node = next;
    }
    return first;
}

/* All nodes, oldest first, linked by next; NULL if there are none. */
static inline struct cohort__batch_queue_node *
cohort__batch_queue_take(struct cohort__batch_queue *queue)
{
    if (cohort__batch_queue_is_empty(queue))
        return NULL;
    return cohort__batch_queue_reverse(atomic_exchange(&queue->head, NULL));
}

/* For the runner: the same. But if there are no nodes, the queue is released: the caller is no
 * longer the runner, and the next push returns true. */
static inline struct cohort__batch_queue_node *
cohort__batch_queue_take_or_release(struct cohort__batch_queue *queue)
{
    struct cohort__batch_queue_node *busy = cohort__batch_queue_busy(queue);
    struct cohort__batch_queue_node *expected = busy;
    if (atomic_compare_exchange_strong(&queue->head, &expected, NULL) || !expected)
        return NULL;
    return cohort__batch_queue_reverse(atomic_exchange(&queue->head, busy));
}

#endif
