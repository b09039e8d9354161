/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/wait.h"

#include <sched.h>

#include "cohort/scope.h"
#include "cohort/sync.h"
#include "runtime/base/clock.h"
#include "runtime/base/ledger_read.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* What the ledger of this process says, as others read it. */
enum { MOST = 64 };
struct lines {
    unsigned num;
    struct cohort__wait_line of[MOST];
};

static void add(void *context, const void *line)
{
    struct lines *lines = context;
    CHECK(lines->num < MOST);
    lines->of[lines->num++] = *(const struct cohort__wait_line *)line;
}

static struct lines *read_lines(void)
{
    static struct lines lines;
    struct cohort__ledger_view view;
    int memory;
    uint32_t slot;
    lines.num = 0;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WAITS, add, &lines));
    close(memory);
    return &lines;
}

/* The only line of a task with FUNCTION. */
static const struct cohort__wait_line *line_of(cohort_task_function *function)
{
    const struct lines *lines = read_lines();
    const struct cohort__wait_line *found = NULL;
    for (unsigned i = 0; i < lines->num; i++)
        if (lines->of[i].function == (uintptr_t)function) {
            CHECK(!found);
            found = &lines->of[i];
        }
    CHECK(found);
    return found;
}

static enum cohort__wait_kind kind_of(const struct cohort__wait_line *line)
{
    return (enum cohort__wait_kind)(line->what % COHORT__WAIT_KINDS);
}

static uintptr_t address_of(const struct cohort__wait_line *line)
{
    return line->what - line->what % COHORT__WAIT_KINDS;
}

static void run(cohort_task_function *function)
{
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    CHECK_OK(run_tasks_with(&options, function, NULL));
}

static cohort_status nothing(void *arg)
{
    return COHORT_OK;
}

/* Others suspend first. */
static void let_suspend(void)
{
    for (int i = 0; i < 3; i++)
        cohort_yield();
}

/* Futures ------------------------------------------------------------------------------------ */

/* volatile: so that no call is the last thing in a function. */
static __attribute__((noinline)) cohort_status await_it(cohort_future *future)
{
    volatile cohort_status status = cohort_await(future);
    return status;
}

static cohort_status awaits(void *arg)
{
    volatile cohort_status status = await_it(arg);
    return status;
}

/* Whether CALLER is in FUNCTION, which is short. */
static bool is_in(uintptr_t caller, cohort_status (*function)(cohort_future *))
{
    return caller > (uintptr_t)function && caller < (uintptr_t)function + 4096;
}

static cohort_status promised(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    uint64_t before = cohort__clock_cycles();
    cohort_future *task = cohort_async(awaits, cohort_future_ref(future));
    let_suspend();
    struct cohort__wait_line line = *line_of(awaits);
    CHECK(line.since >= before && line.since <= cohort__clock_cycles());
    CHECK_INT(kind_of(&line), COHORT__WAIT_PLAIN);
    CHECK_INT(address_of(&line), (uintptr_t)future);
    CHECK_INT(line.task, (uintptr_t)task);
    CHECK(is_in(line.caller, await_it));
    CHECK(line.fiber != 0 && line.fiber != (uintptr_t)cohort__worker_self->fiber);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(task));
    /* What has gone on leaves nothing behind. This task runs. */
    CHECK_INT(read_lines()->num, 0);
    cohort_future_unref(future);
    return COHORT_OK;
}

TEST_CALL(promise, run(promised))

/* One that has begun, and is waited for by another one. */
static cohort_status others(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_future *first = cohort_async(awaits, future);
    let_suspend();
    uintptr_t first_task = line_of(awaits)->task;
    cohort_future *pair[] = {cohort_future_ref(first), cohort_future_of_value(NULL)};
    cohort_future *second = cohort_async(awaits, cohort_future_ref(first));
    cohort_future *third = cohort_async(awaits, cohort_when_all(pair, 2));
    let_suspend();
    const struct lines *lines = read_lines();
    CHECK_INT(lines->num, 3);
    unsigned num_task = 0, num_several = 0;
    for (unsigned i = 0; i < 3; i++) {
        num_task +=
            kind_of(&lines->of[i]) == COHORT__WAIT_TASK && address_of(&lines->of[i]) == first_task;
        num_several += kind_of(&lines->of[i]) == COHORT__WAIT_SEVERAL;
    }
    CHECK_INT(num_task, 1);
    CHECK_INT(num_several, 1);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(first));
    CHECK_OK(cohort_await(second));
    return cohort_await(third);
}

TEST_CALL(tasks, run(others))

/* The scope that a task is in, also of one that runs in place of an await of it; and a task in none
 * that waits on the same stack later. */
static cohort_status awaits_within(void *arg)
{
    volatile cohort_status status = await_here(cohort_async(awaits, arg));
    return status;
}

TEST_TASK(scope, run(task))
{
    cohort_promise *promises[2];
    cohort_future *futures[2];
    for (int i = 0; i < 2; i++)
        promises[i] = new_promise(&futures[i]);
    cohort_scope *scope = new_scope();
    CHECK_OK(cohort_scope_async(scope, awaits_within, futures[0]));
    let_suspend();
    struct cohort__wait_line line = *line_of(awaits);
    CHECK_INT(line.scope, (uintptr_t)scope);
    CHECK_INT(line.task & 15, COHORT__WAIT_LINE_IS_INNER + COHORT__WAIT_LINE_IS_IN_SCOPE);
    cohort_promise_fulfil(promises[0], NULL);
    CHECK_OK(cohort_scope_await(scope));
    cohort_future *task = cohort_async(awaits, futures[1]);
    let_suspend();
    CHECK_INT(line_of(awaits)->fiber, line.fiber);
    CHECK_INT(line_of(awaits)->task, (uintptr_t)task);
    cohort_promise_fulfil(promises[1], NULL);
    CHECK_OK(cohort_await(task));
}

static cohort_status waits(void *arg)
{
    enum cohort_wait_end end;
    return cohort_wait(arg, COHORT_NO_LIMIT, &end);
}

static cohort_status waited(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_future *task = cohort_async(waits, future);
    let_suspend();
    struct cohort__wait_line line = *line_of(waits);
    CHECK_INT(line.what, (uintptr_t)future + COHORT__WAIT_PLAIN);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(task));
    cohort_future_unref(future);
    CHECK_INT(read_lines()->num, 0);
    return COHORT_OK;
}

TEST_CALL(wait, run(waited))

static cohort_status looks_while_others_yield(void *arg)
{
    const struct lines *lines = read_lines();
    CHECK_INT(lines->num, 1);
    CHECK_INT(lines->of[0].what, COHORT__WAIT_YIELD);
    CHECK(lines->of[0].caller != 0);
    *(bool *)arg = true;
    return COHORT_OK;
}

TEST_TASK(yield, run(task))
{
    bool has_looked = false;
    cohort_future *task = cohort_async(looks_while_others_yield, &has_looked);
    cohort_yield();
    CHECK(has_looked);
    CHECK_INT(read_lines()->num, 0);
    CHECK_OK(cohort_await(task));
}

TEST_TASK(without_suspending, run(task))
{
    CHECK_OK(cohort_await(cohort_async(nothing, NULL)));
    CHECK_OK(cohort_await(cohort_future_of_value(NULL)));
    CHECK_INT(read_lines()->num, 0);
}

/* Objects ------------------------------------------------------------------------------------ */

static cohort_status locks(void *arg)
{
    cohort_status status = cohort_mutex_lock(arg, COHORT_NO_LIMIT);
    return status ? status : cohort_mutex_unlock(arg);
}

/* Each waits for the one before it. */
TEST_TASK(mutex, run(task))
{
    enum { NUM = 3 };
    cohort_mutex *mutex;
    cohort_future *tasks[NUM];
    CHECK_OK(cohort_mutex_create(&mutex));
    CHECK_OK(cohort_mutex_lock(mutex, COHORT_NO_LIMIT));
    uintptr_t before = cohort__wait_line_self();
    CHECK_INT(before, (uintptr_t)cohort__worker_self->context->task);
    for (int i = 0; i < NUM; i++) {
        tasks[i] = cohort_async(locks, mutex);
        let_suspend();
        const struct lines *lines = read_lines();
        unsigned num = 0;
        for (unsigned k = 0; k < lines->num; k++)
            num += lines->of[k].task == (uintptr_t)tasks[i] &&
                   lines->of[k].what == before + COHORT__WAIT_MUTEX;
        CHECK_INT(num, 1);
        before = (uintptr_t)tasks[i];
    }
    CHECK_OK(cohort_mutex_unlock(mutex));
    for (int i = 0; i < NUM; i++)
        CHECK_OK(cohort_await(tasks[i]));
    cohort_mutex_unref(mutex);
    CHECK_INT(read_lines()->num, 0);
}

static cohort_status counts_down(void *arg)
{
    return cohort_latch_wait(arg, COHORT_NO_LIMIT);
}

static cohort_status acquires(void *arg)
{
    return cohort_semaphore_acquire(arg, COHORT_NO_LIMIT);
}

static cohort_status meets(void *arg)
{
    return cohort_local_barrier_wait(arg, COHORT_NO_LIMIT, NULL);
}

static cohort_status puts_two(void *arg)
{
    CHECK_OK(cohort_queue_put(arg, NULL, COHORT_NO_LIMIT));
    return cohort_queue_put(arg, NULL, COHORT_NO_LIMIT);
}

static cohort_status gets_item(void *arg)
{
    void *item;
    return cohort_queue_get(arg, &item, COHORT_NO_LIMIT);
}

static cohort_mutex *of_condition;

static cohort_status awaits_signal(void *arg)
{
    CHECK_OK(cohort_mutex_lock(of_condition, COHORT_NO_LIMIT));
    cohort_status status = cohort_condition_wait(arg, of_condition, COHORT_NO_LIMIT);
    CHECK_OK(cohort_mutex_unlock(of_condition));
    return status;
}

static cohort_status latches(void *arg)
{
    cohort_latch *latch;
    CHECK_OK(cohort_latch_create(1, &latch));
    cohort_future *task = cohort_async(counts_down, latch);
    let_suspend();
    CHECK_INT(line_of(counts_down)->what, (uintptr_t)latch + COHORT__WAIT_LATCH);
    CHECK_OK(cohort_latch_count_down(latch, 1));
    CHECK_OK(cohort_await(task));
    cohort_latch_unref(latch);
    return COHORT_OK;
}

/* FUNCTION, a new task, waits for OBJECT, of KIND. */
static cohort_future *await_line(cohort_task_function *function, void *object,
                                 enum cohort__wait_kind kind)
{
    cohort_future *task = cohort_async(function, object);
    let_suspend();
    CHECK_INT(line_of(function)->what, (uintptr_t)object + kind);
    return task;
}

static cohort_status sync_objects(void *arg)
{
    cohort_semaphore *semaphore;
    cohort_local_barrier *barrier;
    cohort_queue *queue;
    cohort_condition *condition;
    CHECK_OK(cohort_semaphore_create(0, &semaphore));
    CHECK_OK(cohort_local_barrier_create(2, &barrier));
    CHECK_OK(cohort_queue_create(1, &queue));
    CHECK_OK(cohort_condition_create(&condition));
    CHECK_OK(cohort_mutex_create(&of_condition));
    cohort_future *tasks[] = {await_line(acquires, semaphore, COHORT__WAIT_SEMAPHORE),
                              await_line(meets, barrier, COHORT__WAIT_LOCAL_BARRIER),
                              await_line(awaits_signal, condition, COHORT__WAIT_CONDITION),
                              await_line(gets_item, queue, COHORT__WAIT_QUEUE)};
    CHECK_OK(cohort_semaphore_release(semaphore, 1));
    CHECK_OK(meets(barrier));
    cohort_condition_signal(condition);
    CHECK_OK(cohort_queue_put(queue, NULL, COHORT_NO_LIMIT));
    for (int i = 0; i < 4; i++)
        CHECK_OK(cohort_await(tasks[i]));
    cohort_future *putter = await_line(puts_two, queue, COHORT__WAIT_QUEUE);
    CHECK_OK(gets_item(queue));
    CHECK_OK(cohort_await(putter));
    cohort_semaphore_unref(semaphore);
    cohort_local_barrier_unref(barrier);
    cohort_queue_unref(queue);
    cohort_condition_unref(condition);
    cohort_mutex_unref(of_condition);
    return COHORT_OK;
}

TEST(latch)
{
    run(latches);
    run(sync_objects);
}

/* Stacks ------------------------------------------------------------------------------------- */

/* A task that runs in place of an await of it, on the stack of two others. */
static cohort_status awaits_in_place(void *arg)
{
    return await_here(cohort_async(awaits, arg));
}

static cohort_status awaits_two_in_place(void *arg)
{
    return await_here(cohort_async(awaits_in_place, arg));
}

static cohort_status in_place(void *arg)
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    cohort_future *task = cohort_async(awaits_two_in_place, future);
    let_suspend();
    struct cohort__wait_line line = *line_of(awaits);
    CHECK_INT(read_lines()->num, 1);
    CHECK_INT(line.task % 2, 1);
    CHECK_INT(line.outermost, (uintptr_t)task);
    CHECK(line.outer != 0 && line.outer != line.outermost && line.outer != line.task - 1);
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(task));
    return promised(NULL); /* the same stack again, where nothing is covered */
}

TEST_CALL(in_place, run(in_place))

/* Where there is no memory for stacks, all that wait are on one. */
TEST_TASK(reserve, run(task))
{
    enum { NUM = 3 };
    cohort_promise *promises[NUM];
    cohort_future *tasks[NUM];
    take_no_more_stacks();
    for (int i = 0; i < NUM; i++) {
        cohort_future *future;
        promises[i] = new_promise(&future);
        tasks[i] = cohort_async(awaits, future);
    }
    cohort_yield();
    const struct lines *lines = read_lines();
    unsigned num = 0;
    for (unsigned i = 0; i < lines->num; i++)
        num += lines->of[i].function == (uintptr_t)awaits;
    CHECK_INT(num, NUM);
    for (int i = 0; i < NUM; i++)
        cohort_promise_fulfil(promises[i], NULL);
    for (int i = 0; i < NUM; i++)
        CHECK_OK(cohort_await(tasks[i]));
    CHECK_INT(read_lines()->num, 0);
}

/* A thread outside of tasks. */
static void *await_outside(void *arg)
{
    CHECK_OK(cohort_await(arg));
    return NULL;
}

static void *wait_outside(void *arg)
{
    enum cohort_wait_end end;
    CHECK_OK(cohort_wait(arg, COHORT_NO_LIMIT, &end));
    cohort_future_unref(arg);
    return NULL;
}

static void outside(void *(*wait)(void *))
{
    cohort_future *future;
    cohort_promise *promise = new_promise(&future);
    pthread_t thread = new_thread(wait, cohort_future_ref(future));
    while (read_lines()->num == 0)
        sched_yield();
    const struct cohort__wait_line *line = read_lines()->of;
    CHECK_INT(line->function, 0);
    CHECK(line->task != 0);
    CHECK_INT(line->what, (uintptr_t)future + COHORT__WAIT_PLAIN);
    cohort_promise_fulfil(promise, NULL);
    end_thread(thread);
    CHECK_INT(read_lines()->num, 0);
    cohort_future_unref(future);
}

TEST_TASK(threads, run(task))
{
    outside(await_outside);
    outside(wait_outside);
}

/* When the scheduler has ended, all lines are given back. */
TEST(nothing_is_left)
{
    run(promised);
    cohort__ledger_close();
    int memory;
    uint32_t slot;
    CHECK_INT(cohort__ledger_find(getpid(), &memory, &slot), COHORT_ERR_STATE);
}
