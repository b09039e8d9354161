/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/inputs.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/parallel.h"
#include "cohort/scope.h"
#include "runtime/base/ledger.h"
#include "runtime/base/ledger_read.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* What the ledger of this process says of combinators and the like. */
enum { MOST = 256 };
static struct {
    unsigned num;
    struct cohort__inputs_line of[MOST];
} lines;

static void add(void *context, const void *line)
{
    CHECK(lines.num < MOST);
    lines.of[lines.num++] = *(const struct cohort__inputs_line *)line;
}

/* What was there at one tick is written at the next one. */
static void read_lines(void)
{
    struct cohort__ledger_view view;
    int memory;
    uint32_t slot;
    cohort__inputs_tick();
    lines.num = 0;
    CHECK_OK(cohort__ledger_find(getpid(), &memory, &slot));
    CHECK_OK(cohort__ledger_view_init(&view, memory, slot));
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_INPUTS, add, NULL));
    close(memory);
}

/* The only line of what has the address OF. */
static const struct cohort__inputs_line *line_of(const void *of)
{
    const struct cohort__inputs_line *found = NULL;
    read_lines();
    for (unsigned i = 0; i < lines.num; i++)
        if (lines.of[i].of == (uintptr_t)of) {
            CHECK(!found);
            found = &lines.of[i];
        }
    CHECK(found);
    return found;
}

static void check_line(const void *of, unsigned wanted, unsigned num, cohort_future *const *listed)
{
    const struct cohort__inputs_line *line = line_of(of);
    CHECK_INT(line->num, num);
    CHECK_INT(line->wanted, wanted);
    CHECK_INT(line->kind, COHORT__INPUTS_FUTURES);
    for (unsigned i = 0; i < COHORT__LEDGER_INPUTS_MOST; i++)
        CHECK_INT(line->what[i], i < num ? cohort__future_what(listed[i]) : 0);
}

static void check_no_lines(void)
{
    read_lines();
    CHECK_INT(lines.num, 0);
}

/* Futures that are pending, and who completes them. */
enum { NUM = 4 };
struct sources {
    cohort_promise *promises[NUM];
    cohort_future *futures[NUM]; /* references to be given away */
    cohort_future *seen[NUM];
};

static void make(struct sources *sources)
{
    for (int i = 0; i < NUM; i++) {
        sources->promises[i] = new_promise(&sources->futures[i]);
        sources->seen[i] = cohort_future_ref(sources->futures[i]);
    }
}

static void complete(struct sources *sources, int i)
{
    cohort_promise_fulfil(sources->promises[i], NULL);
}

static void drop(struct sources *sources)
{
    for (int i = 0; i < NUM; i++)
        cohort_future_unref(sources->seen[i]);
    check_no_lines();
}

static void run(cohort_task_function *function)
{
    CHECK_OK(run_tasks(1, function, NULL));
    check_no_lines();
    cohort__inputs_close();
}

TEST_TASK(when_all, run(task))
{
    struct sources sources;
    make(&sources);
    cohort_future *future = cohort_when_all(sources.futures, NUM);
    check_no_lines(); /* after one tick */
    check_line(future, 4, 4, sources.seen);
    const uint64_t since = line_of(future)->since;
    complete(&sources, 0);
    check_line(future, 3, 3, &sources.seen[1]);
    complete(&sources, 2);
    check_line(future, 2, 2, (cohort_future *[]){sources.seen[1], sources.seen[3]});
    CHECK_INT(line_of(future)->since, since);
    complete(&sources, 1);
    complete(&sources, 3);
    check_no_lines();
    drop(&sources);
    CHECK_OK(cohort_await(future));
}

TEST_TASK(when_any_when_some, run(task))
{
    struct sources sources;
    size_t index;
    make(&sources);
    cohort_future *future = cohort_when_any(sources.futures, 2, &index);
    cohort_future *some = cohort_when_some(&sources.futures[2], 2, 2, NULL);
    cohort__inputs_tick();
    check_line(future, 1, 2, sources.seen);
    check_line(some, 2, 2, &sources.seen[2]);
    complete(&sources, 1);
    complete(&sources, 2);
    check_line(some, 1, 1, &sources.seen[3]);
    CHECK_INT(lines.num, 1);
    complete(&sources, 0);
    complete(&sources, 3);
    drop(&sources);
    cohort_status status = cohort_await(future);
    CHECK_OK(status ? status : cohort_await(some));
}

static cohort_status each(void *arg)
{
    struct sources sources;
    cohort_future *results[NUM];
    make(&sources);
    CHECK_OK(cohort_when_each(sources.futures, NUM, results, NULL));
    cohort__inputs_tick();
    for (unsigned i = 0; i < NUM; i++)
        check_line(results[i], i + 1, 4, sources.seen);
    complete(&sources, 0);
    CHECK_OK(cohort_await(results[0]));
    for (unsigned i = 1; i < NUM; i++)
        check_line(results[i], i, 3, &sources.seen[1]);
    CHECK_INT(lines.num, 3);
    for (int i = 1; i < NUM; i++) {
        complete(&sources, i);
        CHECK_OK(cohort_await(results[i]));
    }
    drop(&sources);
    return COHORT_OK;
}

TEST_CALL(when_each, run(each))

/* A tick looks at so many of the members that are not known to have passed, so it takes three to
 * find the last one. */
TEST_TASK(long_when_each, run(task))
{
    enum { LOOKS = 1 << 16, COUNT = 3 * LOOKS };
    cohort_future **futures = calloc(2 * COUNT, sizeof(*futures)), **results = futures + COUNT;
    CHECK(futures);
    cohort_promise *promise = new_promise(&futures[COUNT - 1]);
    const uintptr_t last = cohort__future_what(futures[COUNT - 1]);
    for (unsigned i = 0; i < COUNT - 1; i++)
        futures[i] = cohort_future_of_value(NULL);
    CHECK_OK(cohort_when_each(futures, COUNT, results, NULL));
    CHECK_OK(cohort_await(cohort_when_all(results, COUNT - 1)));
    cohort__inputs_tick();
    for (unsigned tick = 1; tick <= 4; tick++) {
        const struct cohort__inputs_line *line = line_of(results[COUNT - 1]);
        CHECK_INT(line->num, 1);
        CHECK_INT(line->what[0], tick < 3 ? 0 : last);
        CHECK_INT(line->what[1], 0);
    }
    cohort_promise_fulfil(promise, NULL);
    CHECK_OK(cohort_await(results[COUNT - 1]));
    free(futures);
}

static cohort_status follow(cohort_future *future, void *arg)
{
    return cohort_await(future);
}

static cohort_status flow(void *const *values, size_t count, void **ret_value, void *arg)
{
    return COHORT_OK;
}

static cohort_status tasks(void *arg)
{
    struct sources sources;
    make(&sources);
    cohort_future *first = cohort_then(sources.futures[0], follow, NULL);
    cohort_future *second = cohort_then(cohort_future_ref(first), follow, NULL);
    cohort_future *third = cohort_dataflow(&sources.futures[1], 3, flow, NULL);
    cohort__inputs_tick();
    check_line(first, 1, 1, sources.seen);
    CHECK_INT(line_of(first)->function, (uintptr_t)follow);
    CHECK_INT(line_of(first)->scope, 0);
    check_line(second, 1, 1, &first);
    check_line(third, 3, 3, &sources.seen[1]);
    CHECK_INT(line_of(third)->function, (uintptr_t)flow);
    for (int i = 0; i < NUM; i++)
        complete(&sources, i);
    CHECK_OK(cohort_await(second));
    CHECK_OK(cohort_await(first));
    drop(&sources);
    return cohort_await(third);
}

static cohort_status tasks_of_complete(void *arg)
{
    cohort_future *future = cohort_then(cohort_future_of_value(NULL), follow, NULL);
    cohort__inputs_tick();
    check_no_lines();
    return cohort_await(future);
}

TEST(tasks_that_have_yet_to_begin)
{
    run(tasks);
    run(tasks_of_complete);
}

/* Scopes ------------------------------------------------------------------------------------- */

struct scoped {
    struct sources sources;
    cohort_scope *scope;
};

static cohort_status awaits(void *arg)
{
    return cohort_await(arg);
}

static cohort_status make_in_scope(void *arg)
{
    struct scoped *scoped = arg;
    return cohort_await(cohort_then(scoped->sources.futures[1], follow, NULL));
}

static cohort_status await_scope(void *arg)
{
    return cohort_scope_await(arg);
}

static void let_suspend(void)
{
    for (int i = 0; i < 5; i++)
        cohort_yield();
}

TEST_TASK(scope, run(task))
{
    struct scoped scoped;
    make(&scoped.sources);
    scoped.scope = new_scope();
    CHECK_OK(cohort_scope_async(scoped.scope, awaits, scoped.sources.futures[0]));
    CHECK_OK(cohort_scope_async(scoped.scope, make_in_scope, &scoped));
    let_suspend();
    cohort__inputs_tick();
    read_lines(); /* only of cohort_then: nobody awaits the scope */
    CHECK_INT(lines.num, 1);
    CHECK_INT(lines.of[0].scope, (uintptr_t)scoped.scope);
    cohort_future *done = cohort_async(await_scope, scoped.scope);
    let_suspend();
    read_lines();
    CHECK_INT(lines.num, 2);
    const struct cohort__inputs_line *line = &lines.of[lines.of[0].kind != COHORT__INPUTS_SCOPE];
    CHECK_INT(line->kind, COHORT__INPUTS_SCOPE);
    CHECK_INT(line->scope, (uintptr_t)scoped.scope);
    CHECK_INT(line->num, 3); /* the two, and the one that has yet to begin */
    const uintptr_t end = line->of;
    cohort_scope_cancel(scoped.scope);
    CHECK_INT(line_of((void *)end)->kind, COHORT__INPUTS_CANCELLED);
    for (int i = 0; i < NUM; i++)
        complete(&scoped.sources, i);
    cohort_future_unref(scoped.sources.futures[2]);
    cohort_future_unref(scoped.sources.futures[3]);
    CHECK_INT(cohort_await(done), COHORT_ERR_CANCELLED);
    drop(&scoped.sources);
}

static cohort_status await_nth(size_t index, void *arg)
{
    struct sources *sources = arg;
    return cohort_await(sources->futures[index]);
}

TEST_TASK(range, run(task))
{
    struct sources sources;
    make(&sources);
    cohort_future *future = cohort_parallel_for(0, NUM, NULL, await_nth, &sources);
    let_suspend();
    cohort__inputs_tick();
    const struct cohort__inputs_line *line = line_of(future);
    CHECK_INT(line->kind, COHORT__INPUTS_RANGE);
    CHECK_INT(line->num, NUM); /* each that suspends leaves the others to a new part */
    complete(&sources, 2);
    let_suspend();
    CHECK_INT(line_of(future)->num, NUM - 1);
    for (int i = 0; i < NUM; i++)
        if (i != 2)
            complete(&sources, i);
    CHECK_OK(cohort_await(future));
    drop(&sources);
}

/* Room --------------------------------------------------------------------------------------- */

/* There are places for so many, and once these have ended for others. */
static cohort_status many(void *arg)
{
    enum { MANY = 3 * COHORT__INPUTS_PLACES };
    static cohort_future *futures[MANY];
    for (int round = 0; round < 4; round++) {
        cohort_future *future;
        cohort_promise *promise = new_promise(&future);
        for (int i = 0; i < MANY; i++)
            futures[i] = cohort_then(cohort_future_ref(future), follow, NULL);
        cohort__inputs_tick();
        read_lines();
        CHECK_INT(lines.num, COHORT__INPUTS_PLACES);
        cohort_promise_fulfil(promise, NULL);
        for (int i = 0; i < MANY; i++)
            CHECK_OK(cohort_await(futures[i]));
        cohort_future_unref(future);
        check_no_lines();
    }
    return COHORT_OK;
}

TEST_CALL(more_than_there_are_places, run(many))

/* Of inputs that are more than a line holds those are there that are pending. */
TEST_TASK(many_inputs, run(task))
{
    enum { WIDE = 1000, LAST = 700 };
    static cohort_promise *promises[WIDE];
    static cohort_future *futures[WIDE];
    for (int i = 0; i < WIDE; i++)
        promises[i] = new_promise(&futures[i]);
    const uintptr_t last = cohort__future_what(futures[LAST]);
    cohort_future *future = cohort_when_all(futures, WIDE);
    cohort__inputs_tick();
    CHECK_INT(line_of(future)->num, WIDE);
    CHECK(line_of(future)->what[COHORT__LEDGER_INPUTS_MOST - 1] != 0);
    for (int i = 0; i < WIDE; i++)
        if (i != LAST)
            cohort_promise_fulfil(promises[i], NULL);
    CHECK_INT(line_of(future)->num, 1);
    CHECK_INT(line_of(future)->what[0], last);
    CHECK_INT(line_of(future)->what[1], 0);
    cohort_promise_fulfil(promises[LAST], NULL);
    CHECK_OK(cohort_await(future));
}

/* A thread that is no worker has places, too. */
TEST(outside_of_workers)
{
    enum { MANY = COHORT__INPUTS_PLACES + 1 };
    cohort_promise *promises[MANY];
    cohort_future *results[MANY];
    for (int i = 0; i < MANY; i++) {
        cohort_future *future;
        promises[i] = new_promise(&future);
        results[i] = cohort_when_all(&future, 1);
    }
    cohort__inputs_tick();
    read_lines();
    CHECK_INT(lines.num, COHORT__INPUTS_PLACES);
    for (int i = 0; i < MANY; i++) {
        cohort_promise_fulfil(promises[i], NULL);
        CHECK_OK(cohort_await(results[i]));
    }
    check_no_lines();
    cohort__inputs_close();
}

/* Ticks -------------------------------------------------------------------------------------- */

static atomic_bool is_over;

static void *tick_always(void *arg)
{
    while (!atomic_load(&is_over))
        cohort__inputs_tick();
    return NULL;
}

static cohort_status yield_once(void *arg)
{
    cohort_yield();
    return COHORT_OK;
}

/* Combinators that end while ticks look at them. */
static cohort_status busy(void *arg)
{
    const uint64_t rounds = test_rounds(3000, 300);
    for (uint64_t i = 0; i < rounds; i++) {
        cohort_future *futures[NUM], *results[NUM];
        for (int k = 0; k < NUM; k++)
            futures[k] = cohort_async(yield_once, NULL);
        futures[0] = cohort_then(futures[0], follow, NULL);
        futures[1] = cohort_dataflow(&futures[1], 1, flow, NULL);
        futures[2] = cohort_when_any(&futures[2], 2, NULL);
        CHECK_OK(cohort_when_each(futures, 3, results, NULL));
        results[2] = cohort_when_some(&results[1], 2, 2, NULL);
        CHECK_OK(cohort_await(cohort_when_all((cohort_future *[]){results[0], results[2]}, 2)));
        cohort_scope *scope = new_scope();
        CHECK_OK(cohort_scope_async(scope, yield_once, NULL));
        CHECK_OK(cohort_scope_await(scope));
    }
    return COHORT_OK;
}

static cohort_status busy_twice(void *arg)
{
    cohort_future *other = cohort_async(busy, NULL);
    cohort_status status = busy(NULL);
    cohort_status other_status = cohort_await(other);
    return status ? status : other_status;
}

TEST(ticks)
{
    pthread_t thread = new_thread(tick_always, NULL);
    CHECK_OK(run_tasks(2, busy_twice, NULL));
    atomic_store(&is_over, true);
    end_thread(thread);
    check_no_lines();
    cohort__inputs_close();
    cohort__ledger_close();
}
