/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"

/* Localities that fork: by the program itself, in a task, in a user's operation, or in a thread
 * outside the runtime. The child tries everything that would act on behalf of its parent, and
 * returns. Its calls must not be mistaken for the parent's calls, which continue as if there were
 * no child. */

enum { NUM_CALLS = 20, TAG = 7, CHILDS_VALUE = 100 };

static cohort_comm *comm;
static uint64_t generation; /* of the last call */

/* The child ------------------------------------------------------------------------------------ */

static cohort_status no_task(void *arg)
{
    return COHORT_OK;
}

static cohort_status no_continuation(cohort_future *future, void *arg)
{
    cohort_future_unref(future);
    return COHORT_OK;
}

/* Prints the result, which has to be an error that names the function. */
static void try(cohort_future *future)
{
    printf("child: %s\n", cohort_await(future) ? cohort_error_message() : "no error");
}

static uint32_t neighbour(uint32_t distance)
{
    return (cohort_locality() + distance) % cohort_num_localities();
}

static void be_child(void)
{
    int64_t in = CHILDS_VALUE, out = 0;
    cohort_object object;
    cohort_promise *promise;
    cohort_future *future;
    cohort_comm *other = NULL;
    cohort_comm_options alone = {.num_sites = 1};
    alarm(60); /* so that an endless wait is noticed, too */
    try(cohort_async(no_task, NULL));
    try(cohort_then(cohort_future_of_value(NULL), no_continuation, NULL));
    try(cohort_sleep(1000000));
    if (!cohort_promise_create(&promise, &future)) {
        try(future);
        cohort_promise_fulfil(promise, NULL);
    }
    cohort_yield();
    try(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, COHORT_SUM, generation + 1));
    try(cohort_barrier(comm, generation + 1));
    try(cohort_channel_set(comm, neighbour(1), TAG, &in, sizeof(in)));
    try(cohort_channel_get(comm, neighbour(1), TAG, &out, sizeof(out), NULL));
    try(cohort_channel_get_object(comm, neighbour(1), TAG, &object));
    try(cohort_comm_idle(comm));
    try(cohort_comm_roll_call(comm));
    try(cohort_comm_create(&other, "child", &alone));
    cohort_comm_unref(comm);
    fflush(stdout);
}

/* The parent ----------------------------------------------------------------------------------- */

/* Returns false in the child, which has to return. */
static bool fork_and_wait(void)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        be_child();
        return false;
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
        printf("parent: the child's status is %d\n", WEXITSTATUS(status));
    return true;
}

static cohort_status fork_in_task(void *arg)
{
    return fork_and_wait() || !arg ? COHORT_OK : COHORT_ERR_FAILED;
}

static void *fork_in_thread(void *arg)
{
    if (!fork_and_wait())
        _exit(0); /* a return would call exit, in which a sanitizer reports errors */
    return arg;
}

static cohort_status start_thread(void *arg)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fork_in_thread, NULL))
        return COHORT_ERR_FAILED;
    pthread_join(thread, NULL);
    return COHORT_OK;
}

/* Forks in its first call. */
static cohort_status sum_and_fork(void *result, const void *left, const void *right, size_t count,
                                  cohort_datatype datatype, void *arg)
{
    bool *has_forked = arg;
    *(int64_t *)result = *(const int64_t *)left + *(const int64_t *)right;
    if (!*has_forked) {
        *has_forked = true;
        fork_and_wait();
    }
    return COHORT_OK;
}

static cohort_status reduce(const cohort_op *op)
{
    int64_t in = 1, out = 0;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, op, ++generation));
    if (!status && out != (int64_t)cohort_num_localities())
        status = cohort_fail(COHORT_ERR_FAILED, "the sum is %d", (int)out);
    return status;
}

static cohort_status reduce_and_fork(void *arg)
{
    bool has_forked = false;
    cohort_op *op;
    struct cohort_op_options options = {
        .name = "sum and fork", .function = sum_and_fork, .arg = &has_forked, .commutative = true};
    cohort_status status = cohort_op_create(&op, &options);
    if (!status)
        status = reduce(op);
    cohort_op_unref(op);
    return status;
}

static cohort_status pass_on(void)
{
    int64_t in = cohort_locality(), out = -1;
    cohort_future *set = cohort_channel_set(comm, neighbour(1), TAG, &in, sizeof(in));
    uint32_t source = neighbour(cohort_num_localities() - 1);
    cohort_status status =
        cohort_await(cohort_channel_get(comm, source, TAG, &out, sizeof(out), NULL));
    cohort_status set_status = cohort_await(set);
    if (!status && out != (int64_t)source)
        status = cohort_fail(COHORT_ERR_FAILED, "%d came from site %u", (int)out, source);
    return status ? status : set_status;
}

static cohort_status go_on(void)
{
    cohort_status status = COHORT_OK;
    for (int i = 0; !status && i < NUM_CALLS; i++)
        status = reduce(COHORT_SUM);
    if (!status)
        status = pass_on();
    return status;
}

static cohort_status program(void *arg)
{
    const char *who = arg;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "fork", &options));
    if (!status)
        status = go_on();
    if (!status && strcmp(who, "program") == 0 && !fork_and_wait())
        return COHORT_OK;
    if (!status && strcmp(who, "task") == 0)
        status = cohort_await(cohort_async(fork_in_task, NULL));
    if (!status && strcmp(who, "failing_task") == 0)
        status = cohort_await(cohort_async(fork_in_task, arg));
    if (!status && strcmp(who, "operation") == 0)
        status = cohort_await(cohort_async(reduce_and_fork, NULL));
    if (!status && strcmp(who, "thread") == 0)
        status = cohort_await(cohort_async(start_thread, NULL));
    if (!status)
        status = go_on();
    cohort_comm_unref(comm);
    if (!status)
        printf("done\n");
    return status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, argc > 1 ? argv[1] : "");
}
