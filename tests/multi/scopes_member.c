/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cohort/cohort.h"
#include "tests/support/new.h"
#include "tests/support/test.h"

/* Each kind of wait and start, in a scope that is cancelled before it begins, while it waits, or by
 * its limit. What is waited for stays away until the await of the scope has returned, so that the
 * await returns at all shows that the scope does not wait for it. Then it comes, and nothing was
 * lost. Nothing here waits for a time, but for the limits. */

enum { TAG = 7, LONG = 4 << 20, MANY = 20, YIELDS = 50 };
#define LIMIT UINT64_C(5000000)
#define HOUR UINT64_C(3600000000000)

enum moment { BEFORE, WHILE, BY_LIMIT, NUM_MOMENTS };

/* What is waited for, made anew for each trial. */
struct things {
    cohort_promise *promise;
    cohort_future *open; /* of the promise */
    cohort_mutex *held;
    cohort_condition *condition;
    cohort_semaphore *semaphore;
    cohort_latch *latch;
    cohort_local_barrier *barrier;
    cohort_queue *empty, *full;
    cohort_tcp_listener *listener;
    cohort_tcp *near, *far; /* ends of a connection */
    cohort_future *get;     /* begun outside of the scope, so that site 0 is not idle */
    char got;
};

struct trial {
    const struct kind *kind;
    enum moment moment;
    struct things things;
    cohort_scope *scope;
    cohort_promise *begun;
    cohort_status status;
    cohort_future *left; /* what the task has started and not awaited, or NULL */
    _Atomic int num_called;
    bool has_begun;
};

struct kind {
    const char *name;
    cohort_status (*wait)(struct trial *trial);
};

static cohort_comm *comms[2]; /* both sites of a communicator; only site 0 calls */
static uint64_t generation;
static char buffer[LONG];

static cohort_status wait_for(cohort_future *future)
{
    enum cohort_wait_end end;
    cohort_status status = cohort_wait(future, COHORT_NO_LIMIT, &end);
    CHECK_OK(status);
    return end == COHORT_WAIT_CANCELLED ? COHORT_ERR_CANCELLED : COHORT_OK;
}

/* --- tasks, and what they wait for --- */

static cohort_status wait_open(struct trial *trial)
{
    return wait_for(trial->things.open);
}

static cohort_status wait_combined(struct trial *trial)
{
    cohort_future *all[] = {cohort_future_ref(trial->things.open), cohort_future_of_value(NULL)};
    cohort_future *both = cohort_when_all(all, 2);
    cohort_future *any[] = {both, cohort_future_ref(trial->things.open)}, *each[2];
    CHECK_OK(cohort_when_each(any, 2, each, NULL));
    cohort_status status = wait_for(each[0]);
    cohort_future_unref(each[0]);
    cohort_future_unref(each[1]);
    return status;
}

static cohort_status count(void *arg)
{
    ((struct trial *)arg)->num_called++;
    return COHORT_OK;
}

static cohort_status count_then(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return count(arg);
}

static cohort_status count_flow(void *const *values, size_t num, void **ret_value, void *arg)
{
    return count(arg);
}

static cohort_status leave_then(struct trial *trial)
{
    trial->left = cohort_then(cohort_future_ref(trial->things.open), count_then, trial);
    return COHORT_ERR_CANCELLED;
}

static cohort_status leave_chain(struct trial *trial)
{
    cohort_future *future = cohort_future_ref(trial->things.open);
    for (int i = 0; i < MANY; i++)
        future = cohort_then(future, count_then, trial);
    trial->left = future;
    return COHORT_ERR_CANCELLED;
}

static cohort_status leave_flow(struct trial *trial)
{
    cohort_future *inputs[] = {cohort_future_of_value(NULL), cohort_future_ref(trial->things.open)};
    trial->left = cohort_dataflow(inputs, 2, count_flow, trial);
    return COHORT_ERR_CANCELLED;
}

static cohort_status await_then(struct trial *trial)
{
    return cohort_await(cohort_then(cohort_future_ref(trial->things.open), count_then, trial));
}

static cohort_status await_flow(struct trial *trial)
{
    cohort_future *open = cohort_future_ref(trial->things.open);
    return cohort_await(cohort_dataflow(&open, 1, count_flow, trial));
}

static cohort_status wait_in_task(void *arg)
{
    return wait_open(arg);
}

static cohort_status await_task(struct trial *trial)
{
    return cohort_await(cohort_async(wait_in_task, trial));
}

static cohort_status leave_task(struct trial *trial)
{
    trial->left = cohort_async(wait_in_task, trial);
    return COHORT_ERR_CANCELLED;
}

static cohort_status wait_at(size_t index, void *arg)
{
    return wait_open(arg);
}

static cohort_status await_range(struct trial *trial)
{
    return cohort_await(cohort_parallel_for(0, MANY, NULL, wait_at, trial));
}

static cohort_status call_blocking(struct trial *trial)
{
    return cohort_blocking(wait_in_task, trial);
}

static cohort_status leave_in_blocking(void *arg)
{
    struct trial *trial = arg;
    trial->left = cohort_async(wait_in_task, trial);
    return COHORT_ERR_CANCELLED;
}

static cohort_status start_in_blocking(struct trial *trial)
{
    return cohort_blocking(leave_in_blocking, trial);
}

static cohort_status await_inside(struct trial *trial)
{
    cohort_scope *inside = new_scope();
    cohort_status status = cohort_scope_async(inside, wait_in_task, trial);
    cohort_status end = cohort_scope_await(inside);
    return status ? status : end;
}

static cohort_status await_sleep(struct trial *trial)
{
    return cohort_await(cohort_sleep(HOUR));
}

/* --- other localities --- */

/* It waits for nothing that the caller could send: until it is cancelled. */
static cohort_status wait_remotely(const cohort_object *in, cohort_object *ret_out, void *context)
{
    return cohort_await(cohort_sleep(HOUR));
}

static cohort_status await_remote(struct trial *trial)
{
    return cohort_await(cohort_async_at(cohort_num_localities() - 1, "wait", NULL, NULL));
}

static cohort_status leave_remote(struct trial *trial)
{
    for (int i = 0; i < MANY; i++)
        cohort_future_unref(
            cohort_async_at((uint32_t)i % cohort_num_localities(), "wait", NULL, NULL));
    trial->left = cohort_async_at(cohort_num_localities() - 1, "wait", NULL, NULL);
    return COHORT_ERR_CANCELLED;
}

static cohort_status await_everywhere(struct trial *trial)
{
    return cohort_await(cohort_async_everywhere("wait", NULL, NULL));
}

/* --- communicators --- */

static cohort_status await_collective(struct trial *trial)
{
    int64_t in = 1, sum;
    return cohort_await(
        cohort_all_reduce(comms[0], &in, &sum, 1, COHORT_INT64, COHORT_SUM, ++generation));
}

static cohort_status await_split(struct trial *trial)
{
    cohort_comm *part = NULL;
    return cohort_await(cohort_comm_split(&part, comms[0], 0, 0, ++generation));
}

static cohort_status wait_at_site(cohort_comm *comm, void *arg)
{
    return wait_open(arg);
}

static cohort_status await_sites(struct trial *trial)
{
    return cohort_await(cohort_sites("sites", NULL, wait_at_site, trial));
}

static cohort_status await_get(struct trial *trial)
{
    return cohort_await(cohort_channel_get(comms[0], 1, TAG, buffer, LONG, NULL));
}

static cohort_status await_get_any(struct trial *trial)
{
    return cohort_await(cohort_channel_get_any(comms[0], TAG, buffer, LONG, NULL, NULL));
}

static cohort_status await_probe(struct trial *trial)
{
    return cohort_await(cohort_channel_probe(comms[0], 1, TAG, NULL, NULL));
}

static cohort_status await_set(struct trial *trial)
{
    return cohort_await(cohort_channel_set(comms[0], 1, TAG, buffer, LONG));
}

static cohort_status await_idle(struct trial *trial)
{
    return cohort_await(cohort_comm_idle(comms[0]));
}

/* --- connections --- */

static cohort_status await_accept(struct trial *trial)
{
    cohort_tcp *tcp = NULL;
    return cohort_await(cohort_tcp_accept(trial->things.listener, &tcp));
}

static cohort_status await_read(struct trial *trial)
{
    size_t bytes;
    return cohort_await(cohort_tcp_read(trial->things.near, buffer, 1, &bytes));
}

/* The system has no room for so much, and nobody reads it. */
static cohort_status await_write(struct trial *trial)
{
    cohort_status status = COHORT_OK;
    while (!status)
        status = cohort_await(cohort_tcp_write(trial->things.near, buffer, LONG));
    return status;
}

/* --- sync.h --- */

static cohort_status lock(struct trial *trial)
{
    return cohort_mutex_lock(trial->things.held, COHORT_NO_LIMIT);
}

static cohort_status wait_condition(struct trial *trial)
{
    cohort_mutex *mutex = NULL;
    CHECK_OK(cohort_mutex_create(&mutex));
    CHECK_OK(cohort_mutex_lock(mutex, COHORT_NO_LIMIT));
    cohort_status status = cohort_condition_wait(trial->things.condition, mutex, COHORT_NO_LIMIT);
    CHECK_OK(cohort_mutex_unlock(mutex));
    cohort_mutex_unref(mutex);
    return status;
}

static cohort_status acquire(struct trial *trial)
{
    return cohort_semaphore_acquire(trial->things.semaphore, COHORT_NO_LIMIT);
}

static cohort_status wait_latch(struct trial *trial)
{
    return cohort_latch_wait(trial->things.latch, COHORT_NO_LIMIT);
}

static cohort_status wait_barrier(struct trial *trial)
{
    return cohort_local_barrier_wait(trial->things.barrier, COHORT_NO_LIMIT, NULL);
}

static cohort_status get(struct trial *trial)
{
    void *item;
    return cohort_queue_get(trial->things.empty, &item, COHORT_NO_LIMIT);
}

static cohort_status put(struct trial *trial)
{
    return cohort_queue_put(trial->things.full, trial, COHORT_NO_LIMIT);
}

static const struct kind kinds[] = {
    {"cohort_wait", wait_open},
    {"cohort_wait for combinators", wait_combined},
    {"cohort_then, left", leave_then},
    {"a chain of cohort_then, left", leave_chain},
    {"cohort_dataflow, left", leave_flow},
    {"cohort_then, awaited", await_then},
    {"cohort_dataflow, awaited", await_flow},
    {"cohort_async, awaited", await_task},
    {"cohort_async, left", leave_task},
    {"cohort_parallel_for", await_range},
    {"cohort_blocking", call_blocking},
    {"cohort_async in cohort_blocking", start_in_blocking},
    {"a scope inside", await_inside},
    {"cohort_sleep", await_sleep},
    {"cohort_async_at, awaited", await_remote},
    {"cohort_async_at, left", leave_remote},
    {"cohort_async_everywhere", await_everywhere},
    {"cohort_all_reduce", await_collective},
    {"cohort_comm_split", await_split},
    {"cohort_sites", await_sites},
    {"cohort_channel_get", await_get},
    {"cohort_channel_get_any", await_get_any},
    {"cohort_channel_probe", await_probe},
    {"cohort_channel_set", await_set},
    {"cohort_comm_idle", await_idle},
    {"cohort_tcp_accept", await_accept},
    {"cohort_tcp_read", await_read},
    {"cohort_tcp_write", await_write},
    {"cohort_mutex_lock", lock},
    {"cohort_condition_wait", wait_condition},
    {"cohort_semaphore_acquire", acquire},
    {"cohort_latch_wait", wait_latch},
    {"cohort_local_barrier_wait", wait_barrier},
    {"cohort_queue_get", get},
    {"cohort_queue_put", put},
};

/* --- a trial --- */

static void make(struct things *things)
{
    things->promise = new_promise(&things->open);
    CHECK_OK(cohort_mutex_create(&things->held));
    CHECK_OK(cohort_mutex_lock(things->held, COHORT_NO_LIMIT));
    CHECK_OK(cohort_condition_create(&things->condition));
    CHECK_OK(cohort_semaphore_create(0, &things->semaphore));
    CHECK_OK(cohort_latch_create(1, &things->latch));
    CHECK_OK(cohort_local_barrier_create(2, &things->barrier));
    CHECK_OK(cohort_queue_create(1, &things->empty));
    CHECK_OK(cohort_queue_create(1, &things->full));
    CHECK_OK(cohort_queue_put(things->full, things, COHORT_NO_LIMIT));
    CHECK_OK(cohort_await(cohort_tcp_listen("127.0.0.1", 0, &things->listener)));
    cohort_future *accepted = cohort_tcp_accept(things->listener, &things->far);
    CHECK_OK(cohort_await(cohort_tcp_connect(
        "127.0.0.1", cohort_tcp_listener_port(things->listener), &things->near)));
    CHECK_OK(cohort_await(accepted));
    things->get = cohort_channel_get(comms[0], 1, TAG + 1, &things->got, 1, NULL);
}

/* What one more wait for each of them finds when it comes: nobody else has taken it. */
static void use(struct things *things)
{
    void *item = NULL;
    cohort_promise_fulfil(things->promise, NULL);
    CHECK_OK(cohort_await(things->open));
    CHECK_OK(cohort_mutex_unlock(things->held));
    CHECK_OK(cohort_mutex_lock(things->held, 0));
    CHECK_OK(cohort_mutex_unlock(things->held));
    CHECK_OK(cohort_semaphore_release(things->semaphore, 1));
    CHECK_OK(cohort_semaphore_acquire(things->semaphore, 0));
    CHECK_OK(cohort_latch_count_down(things->latch, 1));
    CHECK_OK(cohort_latch_wait(things->latch, 0));
    CHECK_OK(cohort_queue_put(things->empty, things, 0));
    CHECK_OK(cohort_queue_get(things->empty, &item, 0));
    CHECK(item == things);
    CHECK_OK(cohort_queue_get(things->full, &item, 0));
    CHECK(item == things);
    CHECK_INT(cohort_queue_get(things->full, &item, 0), COHORT_ERR_TIMEOUT);
}

static void use_connections(struct trial *trial)
{
    struct things *things = &trial->things;
    cohort_tcp *near = NULL, *far = NULL;
    char byte = 0;
    size_t bytes;
    cohort_future *accepted = cohort_tcp_accept(things->listener, &far);
    CHECK_OK(cohort_await(
        cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(things->listener), &near)));
    CHECK_OK(cohort_await(accepted));
    if (trial->kind->wait != await_write) { /* which closes it */
        CHECK_OK(cohort_await(cohort_tcp_write(things->far, "x", 1)));
        CHECK_OK(cohort_await(cohort_tcp_read(things->near, &byte, 1, &bytes)));
        CHECK_INT(byte, 'x');
    }
    cohort_tcp_unref(near);
    cohort_tcp_unref(far);
}

/* The generation that was taken back is over for both sites, and no get has stayed. A get of a set
 * that was taken back learns of that. */
static void use_comms(const struct kind *kind)
{
    int64_t in = 1, sums[2] = {0};
    char got = 0;
    cohort_future *both[2];
    for (int i = 0; i < 2; i++)
        both[i] =
            cohort_all_reduce(comms[i], &in, &sums[i], 1, COHORT_INT64, COHORT_SUM, generation + 1);
    generation++;
    CHECK_OK(cohort_await(cohort_when_all(both, 2)));
    CHECK_INT(sums[0] + sums[1], 4);
    both[0] = cohort_channel_set(comms[1], 0, TAG, "y", 1);
    both[1] = cohort_channel_get(comms[0], 1, TAG, &got, 1, NULL);
    CHECK_OK(cohort_await(cohort_when_all(both, 2)));
    CHECK_INT(got, 'y');
    if (kind->wait == await_set)
        CHECK_INT(cohort_await(cohort_channel_get(comms[1], 0, TAG, &got, 1, NULL)),
                  COHORT_ERR_CANCELLED);
    both[0] = cohort_channel_get(comms[1], 0, TAG, &got, 1, NULL);
    both[1] = cohort_channel_set(comms[0], 1, TAG, "z", 1);
    CHECK_OK(cohort_await(cohort_when_all(both, 2)));
    CHECK_INT(got, 'z');
}

static void give_back(struct things *things)
{
    CHECK_OK(cohort_await(cohort_channel_set(comms[1], 0, TAG + 1, "i", 1)));
    CHECK_OK(cohort_await(things->get));
    cohort_mutex_unref(things->held);
    cohort_condition_unref(things->condition);
    cohort_semaphore_unref(things->semaphore);
    cohort_latch_unref(things->latch);
    cohort_local_barrier_unref(things->barrier);
    cohort_queue_unref(things->empty);
    cohort_queue_unref(things->full);
    cohort_tcp_listener_unref(things->listener);
    cohort_tcp_unref(things->near);
    cohort_tcp_unref(things->far);
}

static cohort_status begin(void *arg)
{
    struct trial *trial = arg;
    if (trial->moment == BEFORE)
        cohort_scope_cancel(trial->scope);
    trial->has_begun = true;
    cohort_promise_fulfil(trial->begun, NULL);
    trial->status = trial->kind->wait(trial);
    return COHORT_OK;
}

static void try(const struct kind *kind, enum moment moment)
{
    if (kind->wait == await_sites && cohort_num_localities() > 1)
        return; /* all of them would have to call it */
    struct trial trial = {.kind = kind, .moment = moment};
    cohort_future *begun;
    make(&trial.things);
    trial.begun = new_promise(&begun);
    CHECK_OK(cohort_scope_create(
        &(cohort_scope_options){.limit_nanoseconds = moment == BY_LIMIT ? LIMIT : 0},
        &trial.scope));
    cohort_status status = cohort_scope_async(trial.scope, begin, &trial);
    CHECK(status == COHORT_OK || (moment == BY_LIMIT && status == COHORT_ERR_CANCELLED));
    if (moment != BY_LIMIT)
        CHECK_OK(cohort_await(cohort_future_ref(begun)));
    if (moment == WHILE) {
        for (int i = 0; i < YIELDS; i++)
            cohort_yield();
        cohort_scope_cancel(trial.scope);
    }
    status = cohort_scope_await(trial.scope);
    if (!trial.has_begun) { /* the limit has come before the task's turn */
        cohort_promise_fulfil(trial.begun, NULL);
        trial.status = COHORT_ERR_CANCELLED;
    }
    cohort_future_unref(begun);
    if (status != (moment == BY_LIMIT ? COHORT_ERR_TIMEOUT : COHORT_ERR_CANCELLED) ||
        trial.status != COHORT_ERR_CANCELLED)
        FAIL("%s: the scope has ended with %d, and the wait with %d", kind->name, (int)status,
             (int)trial.status);
    CHECK_INT(trial.num_called, 0);
    if (trial.left)
        CHECK_INT(cohort_await(trial.left), COHORT_ERR_CANCELLED);
    use(&trial.things);
    use_connections(&trial);
    use_comms(kind);
    CHECK_INT(trial.num_called, 0);
    give_back(&trial.things);
}

static cohort_status program(void *arg)
{
    cohort_future *made[2];
    const char *only = arg;
    if (cohort_locality() > 0)
        return COHORT_OK; /* remote functions run here until the job ends */
    for (uint32_t i = 0; i < 2; i++)
        made[i] = cohort_comm_create(&comms[i], "pair",
                                     &(cohort_comm_options){.num_sites = 2, .this_site = i});
    CHECK_OK(cohort_await(cohort_when_all(made, 2)));
    for (size_t i = 0; i < NUM_OF(kinds); i++)
        for (enum moment moment = BEFORE; moment < NUM_MOMENTS; moment++)
            if (!only || strcmp(only, kinds[i].name) == 0) {
                printf("%s %d\n", kinds[i].name, (int)moment);
                fflush(stdout);
                try(&kinds[i], moment);
            }
    for (int i = 0; i < 2; i++)
        cohort_comm_unref(comms[i]);
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    CHECK_OK(cohort_remote_register("wait", wait_remotely, NULL));
    return cohort_main(argc, argv, program, argc > 1 ? argv[1] : NULL);
}
