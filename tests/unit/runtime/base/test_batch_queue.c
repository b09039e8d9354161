/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/batch_queue.h"

#include <sched.h>
#include <stdlib.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { NUM_PRODUCERS = 4, NUM_ITEMS = 20000 };

struct item {
    struct cohort__batch_queue_node node; /* first */
    int producer;
    int number;
};

static struct cohort__batch_queue queue;
static struct item items[NUM_PRODUCERS][NUM_ITEMS];
static int next_number[NUM_PRODUCERS]; /* of the consumer */

TEST(order_and_emptiness)
{
    cohort__batch_queue_init(&queue);
    CHECK(cohort__batch_queue_is_empty(&queue));
    CHECK(!cohort__batch_queue_take(&queue));
    CHECK(cohort__batch_queue_push(&queue, &items[0][0].node));
    CHECK(!cohort__batch_queue_push(&queue, &items[0][1].node));
    CHECK(!cohort__batch_queue_push(&queue, &items[0][2].node));
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&queue);
    for (int i = 0; i < 3; i++, node = node->next)
        CHECK(node == &items[0][i].node);
    CHECK(!node);
    CHECK(cohort__batch_queue_push(&queue, &items[0][0].node));
    CHECK(cohort__batch_queue_take(&queue) == &items[0][0].node);
}

TEST(release)
{
    cohort__batch_queue_init(&queue);
    CHECK(!cohort__batch_queue_take_or_release(&queue));
    CHECK(cohort__batch_queue_push(&queue, &items[0][0].node));
    CHECK(!cohort__batch_queue_push(&queue, &items[0][1].node));
    struct cohort__batch_queue_node *node = cohort__batch_queue_take_or_release(&queue);
    CHECK(node == &items[0][0].node && node->next == &items[0][1].node && !node->next->next);
    CHECK(!cohort__batch_queue_push(&queue, &items[0][2].node)); /* we still are its runner */
    node = cohort__batch_queue_take_or_release(&queue);
    CHECK(node == &items[0][2].node && !node->next);
    CHECK(!cohort__batch_queue_take_or_release(&queue));
    CHECK(cohort__batch_queue_push(&queue, &items[0][0].node));
}

static void consume(struct cohort__batch_queue_node *node)
{
    while (node) {
        struct item *item = (struct item *)node;
        node = node->next;
        CHECK_INT(item->number, next_number[item->producer]);
        next_number[item->producer]++;
    }
}

static void reset(void)
{
    cohort__batch_queue_init(&queue);
    for (int p = 0; p < NUM_PRODUCERS; p++) {
        next_number[p] = 0;
        for (int i = 0; i < NUM_ITEMS; i++)
            items[p][i] = (struct item){.producer = p, .number = i};
    }
}

static void *produce(void *row)
{
    for (int i = 0; i < NUM_ITEMS; i++)
        cohort__batch_queue_push(&queue, &((struct item *)row)[i].node);
    return NULL;
}

static int num_consumed(void)
{
    int sum = 0;
    for (int p = 0; p < NUM_PRODUCERS; p++)
        sum += next_number[p];
    return sum;
}

TEST(many_producers_one_consumer)
{
    reset();
    pthread_t threads[NUM_PRODUCERS];
    for (int p = 0; p < NUM_PRODUCERS; p++)
        threads[p] = new_thread(produce, items[p]);
    while (num_consumed() < NUM_PRODUCERS * NUM_ITEMS) {
        struct cohort__batch_queue_node *node = cohort__batch_queue_take(&queue);
        consume(node);
        if (!node)
            sched_yield();
    }
    for (int p = 0; p < NUM_PRODUCERS; p++)
        end_thread(threads[p]);
}

/* next_number is not atomic, so the thread sanitizer reports it if there are two runners. */
static void *produce_and_run(void *row)
{
    for (int i = 0; i < NUM_ITEMS; i++) {
        if (!cohort__batch_queue_push(&queue, &((struct item *)row)[i].node))
            continue;
        struct cohort__batch_queue_node *node;
        while ((node = cohort__batch_queue_take_or_release(&queue)))
            consume(node);
    }
    return NULL;
}

TEST(actor_has_one_runner)
{
    reset();
    pthread_t threads[NUM_PRODUCERS];
    for (int p = 0; p < NUM_PRODUCERS; p++)
        threads[p] = new_thread(produce_and_run, items[p]);
    for (int p = 0; p < NUM_PRODUCERS; p++)
        end_thread(threads[p]);
    CHECK_INT(num_consumed(), NUM_PRODUCERS * NUM_ITEMS);
    CHECK(cohort__batch_queue_is_empty(&queue));
}
