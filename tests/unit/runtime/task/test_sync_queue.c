/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/cohort.h"
#include "runtime/base/random.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_PUTTERS = 6, NUM_GETTERS = 5, NUM_ITEMS = 1000, MICROSECOND = 1000 };

/* Each item is the number of its putter and its own. */
struct line {
    cohort_queue *queue;
    _Atomic int num_got;
    _Atomic unsigned char is_got[NUM_PUTTERS][NUM_ITEMS];
};

struct putter {
    struct line *line;
    int number;
};

static uint64_t some_limit(struct cohort__random *random)
{
    return cohort__random_below(random, 3) == 0 ? cohort__random_below(random, 50) * MICROSECOND
                                                : COHORT_NO_LIMIT;
}

static cohort_status put_all(void *arg)
{
    struct putter *putter = arg;
    struct cohort__random random = cohort__random_seeded((uint64_t)putter->number);
    for (int i = 0; i < NUM_ITEMS; i++) {
        void *item = (void *)(uintptr_t)(putter->number * NUM_ITEMS + i);
        cohort_status status;
        do
            status = cohort_queue_put(putter->line->queue, item, some_limit(&random));
        while (status == COHORT_ERR_TIMEOUT);
        CHECK_OK(status);
    }
    return COHORT_OK;
}

/* What one getter gets of one putter is in order. */
static cohort_status get_all(void *arg)
{
    struct line *line = arg;
    int last[NUM_PUTTERS];
    struct cohort__random random = cohort__random_seeded(77);
    for (int i = 0; i < NUM_PUTTERS; i++)
        last[i] = -1;
    for (;;) {
        void *item;
        cohort_status status = cohort_queue_get(line->queue, &item, some_limit(&random));
        if (status == COHORT_ERR_TIMEOUT)
            continue;
        if (status == COHORT_ERR_GONE)
            return COHORT_OK;
        CHECK_OK(status);
        int putter = (int)((uintptr_t)item / NUM_ITEMS),
            number = (int)((uintptr_t)item % NUM_ITEMS);
        CHECK(number > last[putter]);
        last[putter] = number;
        CHECK_INT(atomic_exchange(&line->is_got[putter][number], 1), 0);
        line->num_got++;
    }
}

static void *get_in_thread(void *arg)
{
    get_all(arg);
    return NULL;
}

static cohort_status pass_on(size_t capacity)
{
    struct line *line = calloc(1, sizeof(*line));
    struct putter putters[NUM_PUTTERS];
    cohort_future *puts[NUM_PUTTERS], *gets[NUM_GETTERS];
    CHECK(line);
    CHECK_OK(cohort_queue_create(capacity, &line->queue));
    pthread_t thread = new_thread(get_in_thread, line);
    for (int i = 0; i < NUM_GETTERS; i++)
        gets[i] = cohort_async(get_all, line);
    for (int i = 0; i < NUM_PUTTERS; i++) {
        putters[i] = (struct putter){line, i};
        puts[i] = cohort_async(put_all, &putters[i]);
    }
    CHECK_OK(cohort_await(cohort_when_all(puts, NUM_PUTTERS)));
    cohort_queue_close(line->queue);
    CHECK_OK(cohort_await(cohort_when_all(gets, NUM_GETTERS)));
    end_thread(thread);
    CHECK_INT(line->num_got, NUM_PUTTERS * NUM_ITEMS);
    cohort_queue_unref(line->queue);
    free(line);
    return COHORT_OK;
}

TEST_TASK(nothing_is_lost, run_on(1, 3, task, NULL))
{
    for (size_t capacity = 1; capacity < 200; capacity *= 7)
        CHECK_OK(pass_on(capacity));
}

/* --- closed --- */

static cohort_status put_late(void *queue)
{
    CHECK_INT(cohort_queue_put(queue, NULL, COHORT_NO_LIMIT), COHORT_ERR_GONE);
    return COHORT_OK;
}

static cohort_status closed(void *arg)
{
    int items[2];
    void *item = NULL;
    cohort_queue *queue;
    CHECK_OK(cohort_queue_create(2, &queue));
    for (int i = 0; i < 2; i++)
        CHECK_OK(cohort_queue_put(queue, &items[i], 0));
    CHECK_INT(cohort_queue_put(queue, NULL, 0), COHORT_ERR_TIMEOUT);
    cohort_future *late = cohort_async(put_late, queue);
    for (int i = 0; i < 10; i++)
        cohort_yield();
    cohort_queue_close(queue);
    cohort_queue_close(queue);
    CHECK_OK(cohort_await(late));
    CHECK_FAILS(cohort_queue_put(queue, NULL, 0), COHORT_ERR_GONE,
                "cohort_queue_put: the queue is closed");
    for (int i = 0; i < 2; i++) {
        CHECK_OK(cohort_queue_get(queue, &item, 0));
        CHECK(item == &items[i]);
    }
    CHECK_INT(cohort_queue_get(queue, &item, COHORT_NO_LIMIT), COHORT_ERR_GONE);
    CHECK(item == &items[1]);
    cohort_queue_unref(queue);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(closed, CHECK_OK(run_tasks(1, closed, NULL)))

/* --- first come, first served --- */

static struct {
    cohort_queue *queue;
    uintptr_t num_waiting;
} gate;

/* The item that comes first is for the one that has come first. */
static cohort_status get_own(void *arg)
{
    void *item, *place = (void *)++gate.num_waiting;
    CHECK_OK(cohort_queue_get(gate.queue, &item, COHORT_NO_LIMIT));
    CHECK(item == place);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

/* The queue is full: items come out in the order in which they were brought. */
static cohort_status put_own(void *arg)
{
    void *place = (void *)++gate.num_waiting;
    CHECK_OK(cohort_queue_put(gate.queue, place, COHORT_NO_LIMIT));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_TASK(in_order, run_on(1, 1, task, NULL))
{
    cohort_future *futures[NUM_GETTERS];
    void *item;
    CHECK_OK(cohort_queue_create(1, &gate.queue));
    gate.num_waiting = 0;
    for (int i = 0; i < NUM_GETTERS; i++)
        futures[i] = cohort_async(get_own, NULL);
    YIELD_WHILE(gate.num_waiting < NUM_GETTERS);
    for (uintptr_t i = 1; i <= NUM_GETTERS; i++)
        CHECK_OK(cohort_queue_put(gate.queue, (void *)i, COHORT_NO_LIMIT));
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_GETTERS)));
    gate.num_waiting = 0;
    for (int i = 0; i < NUM_GETTERS; i++)
        futures[i] = cohort_async(put_own, NULL);
    YIELD_WHILE(gate.num_waiting < NUM_GETTERS);
    for (uintptr_t i = 1; i <= NUM_GETTERS; i++) {
        CHECK_OK(cohort_queue_get(gate.queue, &item, COHORT_NO_LIMIT));
        CHECK(item == (void *)i);
    }
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_GETTERS)));
    cohort_queue_unref(gate.queue);
}
