/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/task_local.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"
#include "tests/support/thread.h"
#include "tests/unit/runtime/task/run_tasks.h"

enum { NUM_KEYS = 40, NUM_TASKS = 200, UNREACHED = 77 };

/* The linker puts this before cohort__slab_alloc (--wrap). */
void *__real_cohort__slab_alloc(size_t bytes);
static _Thread_local bool has_no_memory;

void *__wrap_cohort__slab_alloc(size_t bytes)
{
    return has_no_memory ? NULL : __real_cohort__slab_alloc(bytes);
}

static cohort_task_local *key, *other;
static _Atomic int num_destroyed;

static void count(void *value)
{
    num_destroyed += *(int *)value;
}

static cohort_task_local *create(void (*destroy)(void *value))
{
    cohort_task_local *created;
    CHECK_OK(cohort_task_local_create(destroy, &created));
    return created;
}

/* Each task has its own value, which stays its own across awaits, and however it is run. */
static int ones[NUM_TASKS];

static cohort_status have_none(void *arg)
{
    CHECK(!cohort_task_local_get(arg));
    return COHORT_OK;
}

static cohort_future *start_two(void)
{
    return cohort_when_all(
        (cohort_future *[]){cohort_async(have_none, key), cohort_async(have_none, key)}, 2);
}

static cohort_status keep_own(void *arg)
{
    int *one = arg;
    CHECK(!cohort_task_local_get(key));
    CHECK_OK(cohort_task_local_set(key, one));
    if ((one - ones) % 3 == 0)
        cohort_yield();
    else if ((one - ones) % 3 == 1)
        CHECK_OK(cohort_await(start_two()));
    CHECK(cohort_task_local_get(key) == one);
    return COHORT_OK;
}

static cohort_status start_many(void *arg)
{
    cohort_future *futures[NUM_TASKS];
    CHECK_OK(cohort_task_local_set(key, arg));
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(keep_own, &ones[i]);
    for (int i = 0; i < NUM_TASKS / 2; i++)
        CHECK_OK(cohort_await(futures[i])); /* some in place of the await */
    CHECK_OK(cohort_await(cohort_when_all(futures + NUM_TASKS / 2, NUM_TASKS / 2)));
    CHECK(cohort_task_local_get(key) == arg);
    CHECK_INT(num_destroyed, NUM_TASKS);
    return COHORT_OK;
}

TEST(own)
{
    for (int i = 0; i < NUM_TASKS; i++)
        ones[i] = 1;
    for (unsigned num_workers = 1; num_workers <= 3; num_workers++) {
        int seven = 7;
        key = create(count);
        num_destroyed = 0;
        CHECK_OK(run_tasks(num_workers, start_many, &seven));
        CHECK_INT(num_destroyed, NUM_TASKS + 7);
        CHECK(!cohort_task_local_get(key)); /* of this thread */
        cohort_task_local_unref(key);
    }
}

/* What a destructor sees, and what it may do. */
static int first = 1, second = 2;
static bool is_over;

static void destroy_second(void *value)
{
    CHECK(value == &second && num_destroyed == 0);
    CHECK(!cohort_task_local_get(other));
    CHECK(cohort_task_local_get(key) == &first);
    CHECK_INT(cohort_task_local_set(other, value), COHORT_ERR_STATE);
    CHECK_TEXT(cohort_error_message(),
               "cohort_task_local_set: the values of the task are being destroyed");
    CHECK_OK(cohort_task_local_set(other, NULL));
    num_destroyed++;
}

static void destroy_first(void *value)
{
    CHECK(value == &first && num_destroyed == 1);
    CHECK(!cohort_task_local_get(key) && !cohort_task_local_get(other));
    CHECK(!is_over);
    cohort_yield();
    CHECK(!is_over); /* who awaits the task waits for this, too */
    CHECK_INT(cohort_fail(COHORT_ERR_FAILED, "in a destructor"), COHORT_ERR_FAILED);
    num_destroyed++;
}

static cohort_status set_both(void *arg)
{
    CHECK_OK(cohort_task_local_set(key, &first));
    CHECK_OK(cohort_task_local_set(other, &second));
    return arg ? cohort_fail(COHORT_ERR_FAILED, "%s", (const char *)arg) : COHORT_OK;
}

static cohort_status await_both(void *arg)
{
    cohort_status status = cohort_await(arg);
    is_over = true;
    CHECK_INT(num_destroyed, 2);
    return status;
}

static cohort_status destroy_in_order(void *arg)
{
    cohort_scope *scope;
    for (int i = 0; i < 3; i++) {
        num_destroyed = 0;
        is_over = false;
        if (i == 0) {
            cohort_future *task = cohort_async(set_both, arg);
            CHECK_INT(cohort_await(cohort_async(await_both, task)), COHORT_ERR_FAILED);
        } else if (i == 1) { /* in place of the await */
            CHECK_INT(cohort_await(cohort_async(set_both, arg)), COHORT_ERR_FAILED);
        } else {
            scope = new_scope();
            CHECK_OK(cohort_scope_async(scope, set_both, arg));
            CHECK_INT(cohort_scope_await(scope), COHORT_ERR_FAILED);
        }
        CHECK_INT(num_destroyed, 2);
        CHECK_TEXT(cohort_error_message(), arg);
    }
    return COHORT_OK;
}

TEST(destroy)
{
    key = create(destroy_first);
    other = create(destroy_second);
    CHECK_OK(run_tasks(1, destroy_in_order, "out of paper"));
    cohort_task_local_unref(other);
    cohort_task_local_unref(key);
}

/* A value that is replaced, or set to NULL, is the caller's. A key may go before its values. */
static cohort_status replace(void *arg)
{
    int *values = arg;
    CHECK_OK(cohort_task_local_set(key, &values[0]));
    CHECK_OK(cohort_task_local_set(key, &values[1]));
    CHECK_OK(cohort_task_local_set(other, &values[2]));
    CHECK_OK(cohort_task_local_set(other, NULL));
    CHECK(!cohort_task_local_get(other));
    CHECK_INT(num_destroyed, 0);
    cohort_task_local_unref(key);
    cohort_task_local_unref(other);
    return COHORT_OK;
}

TEST(replace)
{
    int values[] = {1, 10, 100};
    num_destroyed = 0;
    key = create(count);
    other = create(count);
    CHECK_OK(run_tasks(1, replace, values));
    CHECK_INT(num_destroyed, 10);
}

static cohort_status set_many(void *arg)
{
    cohort_task_local **keys = arg;
    static int values[NUM_KEYS];
    for (int i = 0; i < NUM_KEYS; i++) {
        values[i] = 1;
        CHECK_OK(cohort_task_local_set(keys[i], &values[i]));
    }
    cohort_task_local *more[NUM_KEYS];
    cohort_status status = COHORT_OK;
    for (int i = 0; i < NUM_KEYS; i++)
        more[i] = create(count);
    has_no_memory = true; /* there is room for a few, at most */
    for (int i = 0; !status && i < NUM_KEYS; i++)
        status = cohort_task_local_set(more[i], &values[i]);
    CHECK_INT(status, COHORT_ERR_NO_MEMORY);
    CHECK_OK(cohort_task_local_set(keys[0], NULL));
    CHECK_OK(cohort_task_local_set(keys[0], &values[0]));
    has_no_memory = false;
    for (int i = 0; i < NUM_KEYS; i++)
        CHECK(cohort_task_local_get(keys[i]) == &values[i]);
    for (int i = 0; i < NUM_KEYS; i++) {
        CHECK_OK(cohort_task_local_set(more[i], NULL));
        cohort_task_local_unref(more[i]);
    }
    return COHORT_OK;
}

TEST(many_keys)
{
    cohort_task_local *keys[NUM_KEYS];
    for (int i = 0; i < NUM_KEYS; i++)
        keys[i] = create(count);
    num_destroyed = 0;
    CHECK_OK(run_tasks(1, set_many, keys));
    CHECK_INT(num_destroyed, NUM_KEYS);
    for (int i = 0; i < NUM_KEYS; i++)
        cohort_task_local_unref(keys[i]);
}

/* A thread outside has its own values; it destroys them when it ends. */
static void *be_thread(void *arg)
{
    CHECK(!cohort_task_local_get(key));
    CHECK_OK(cohort_task_local_set(key, arg));
    CHECK(cohort_task_local_get(key) == arg);
    has_no_memory = true;
    CHECK_OK(cohort_task_local_set(key, arg));
    has_no_memory = false;
    return NULL;
}

static void run_thread(void *arg)
{
    pthread_t thread = new_thread(be_thread, arg);
    end_thread(thread);
}

static cohort_status run_thread_in_task(void *arg)
{
    int one = 1;
    CHECK_OK(cohort_task_local_set(key, &one));
    run_thread(arg);
    CHECK(cohort_task_local_get(key) == &one);
    CHECK_INT(num_destroyed, 20);
    CHECK_OK(cohort_task_local_set(key, NULL));
    return COHORT_OK;
}

TEST(threads)
{
    int ten = 10;
    key = create(count);
    num_destroyed = 0;
    run_thread(&ten);
    CHECK_INT(num_destroyed, 10);
    CHECK_OK(run_tasks(1, run_thread_in_task, &ten));
    cohort_task_local_unref(key);
}

/* A function of cohort_blocking has the values of its task, whatever its thread ran before. */
static cohort_status block(void *arg)
{
    CHECK_INT(cohort_worker_index(), -1);
    CHECK(cohort_task_local_get(key) == arg);
    CHECK_OK(cohort_task_local_set(other, arg));
    return COHORT_OK;
}

static cohort_status call_blocking(void *arg)
{
    CHECK_OK(cohort_task_local_set(key, arg));
    CHECK_OK(cohort_blocking(block, arg));
    CHECK(cohort_task_local_get(other) == arg);
    return COHORT_OK;
}

static cohort_status block_without(void *arg)
{
    CHECK(!cohort_task_local_get(key) && !cohort_task_local_get(other));
    return COHORT_OK;
}

static cohort_status call_some(void *arg)
{
    cohort_future *futures[NUM_TASKS];
    for (int i = 0; i < NUM_TASKS; i++)
        futures[i] = cohort_async(call_blocking, arg);
    CHECK_OK(cohort_await(cohort_when_all(futures, NUM_TASKS)));
    return cohort_blocking(block_without, NULL);
}

TEST(blocking)
{
    int one = 1;
    struct cohort__scheduler_options options;
    cohort__scheduler_options_init(&options);
    options.num_workers = 2;
    options.blocking_threads = 2;
    key = create(count);
    other = create(NULL);
    num_destroyed = 0;
    CHECK_OK(run_tasks_with(&options, call_some, &one));
    CHECK_INT(num_destroyed, NUM_TASKS);
    cohort_task_local_unref(other);
    cohort_task_local_unref(key);
}

/* A child has none of it, and destroys nothing. */
static void check_child(pid_t child)
{
    int status;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void must_not_run(void *value)
{
    CHECK(value == NULL);
}

static cohort_status fork_with_value(void *arg)
{
    cohort_task_local *forbidden = create(must_not_run);
    CHECK_OK(cohort_task_local_set(forbidden, arg));
    CHECK_OK(cohort_task_local_set(key, arg));
    pid_t child = fork();
    if (child == 0) {
        CHECK(!cohort_task_local_get(key));
        return COHORT_OK;
    }
    check_child(child);
    CHECK_OK(cohort_task_local_set(forbidden, NULL));
    cohort_task_local_unref(forbidden);
    return COHORT_OK;
}

static void fork_away(void *value)
{
    pid_t child = fork();
    if (child > 0)
        check_child(child);
}

TEST(fork)
{
    int one = 1;
    pid_t parent = getpid();
    key = create(fork_away);
    CHECK_OK(run_tasks(1, fork_with_value, &one));
    if (getpid() != parent)
        _exit(UNREACHED);
    cohort_task_local_unref(key);
}

TEST(errors)
{
    int value;
    CHECK_INT(cohort_task_local_create(NULL, NULL), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "cohort_task_local_create: ret_key is NULL");
    CHECK_INT(cohort_task_local_set(NULL, &value), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "cohort_task_local_set: key is NULL");
    CHECK(!cohort_task_local_get(NULL));
    cohort_task_local_unref(NULL);
    has_no_memory = true;
    CHECK_INT(cohort_task_local_create(NULL, &key), COHORT_ERR_NO_MEMORY);
    has_no_memory = false;
}
