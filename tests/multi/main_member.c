/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cohort/cohort.h"

/* What cohort_main does around a program: its output, children that it forks, and tasks that it
 * leaves behind. */

static cohort_status print_and_die(void *arg)
{
    for (int i = 0; i < 3; i++)
        printf("line %d\n", i);
    if (strcmp(arg, "kill") == 0)
        raise(SIGKILL);
    abort();
}

/* The last line has no end. */
static cohort_status print_half(void *arg)
{
    (void)arg;
    printf("line\nhalf a line");
    return COHORT_OK;
}

static cohort_status talk(cohort_comm *comm, uint64_t generation)
{
    int64_t in = 1, out = 0;
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_INT64, COHORT_SUM, generation));
    if (!status && out != (int64_t)cohort_num_localities())
        status = cohort_fail(COHORT_ERR_FAILED, "the sum is %d", (int)out);
    return status;
}

/* A child may not wait, and returns. */
static cohort_status be_child(void)
{
    cohort_promise *promise;
    cohort_future *future;
    if (cohort_promise_create(&promise, &future) || cohort_await(future) != COHORT_ERR_STATE)
        return COHORT_ERR_FAILED;
    printf("child: %s\n", cohort_error_message());
    return COHORT_OK;
}

static cohort_status fork_one(void *arg)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        return arg ? COHORT_ERR_FAILED : be_child();
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return cohort_fail(COHORT_ERR_FAILED, "no child that has exited");
    if (WEXITSTATUS(status) != (arg ? 1 : 0))
        return cohort_fail(COHORT_ERR_FAILED, "the child's status is %d", WEXITSTATUS(status));
    return COHORT_OK;
}

/* Children of the program itself and of another task, whose calls go on as if nothing were. */
static cohort_status fork_children(void *arg)
{
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "main", &options));
    if (!status)
        status = talk(comm, 1);
    pid_t pid = status ? -1 : fork();
    if (pid == 0)
        return COHORT_OK;
    if (!status && (pid < 0 || waitpid(pid, NULL, 0) != pid))
        status = cohort_fail(COHORT_ERR_FAILED, "no child");
    if (!status)
        status = talk(comm, 2);
    if (!status)
        status = cohort_await(cohort_async(fork_one, NULL));
    if (!status)
        status = cohort_await(cohort_async(fork_one, arg));
    if (!status)
        status = talk(comm, 3);
    cohort_comm_unref(comm);
    if (!status)
        printf("done\n");
    return status;
}

/* Asks the other localities, of which each is the home of some names, long after all programs have
 * returned: nothing is under way before. */
static cohort_status create_late(void *arg)
{
    enum { NUM_NAMES = 16, FIFTH_OF_A_SECOND = 200000000 };
    (void)arg;
    cohort_status status = cohort_await(cohort_sleep(FIFTH_OF_A_SECOND));
    for (int i = 0; !status && i < NUM_NAMES; i++) {
        char name[16];
        cohort_comm *comm = NULL;
        cohort_comm_options options = {.num_sites = 1};
        snprintf(name, sizeof(name), "late %d", i);
        status = cohort_await(cohort_comm_create(&comm, name, &options));
        cohort_comm_unref(comm);
    }
    printf("late: %s\n", status ? cohort_error_message() : "done");
    return status;
}

static cohort_status leave_task(void *arg)
{
    (void)arg;
    if (cohort_locality() == 0)
        cohort_future_unref(cohort_async(create_late, NULL));
    return COHORT_OK;
}

int main(int argc, char **argv)
{
    char *mode = argc > 1 ? argv[1] : "";
    cohort_task_function *program = strcmp(mode, "fork") == 0    ? fork_children
                                    : strcmp(mode, "half") == 0  ? print_half
                                    : strcmp(mode, "leave") == 0 ? leave_task
                                                                 : print_and_die;
    printf("before");
    return cohort_main(argc, argv, program, mode);
}
