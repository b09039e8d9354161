/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_RUNTIME_TASK_RUN_CHILD_H
#define COHORT_TESTS_UNIT_RUNTIME_TASK_RUN_CHILD_H

#include <sys/wait.h>

#include "tests/unit/runtime/task/run_tasks.h"

/* What a child says on standard error that runs FUNCTION(ARG) as a task, with LIMIT on RESOURCE
 * (setrlimit) of its own. Returns how it ends. */
static inline int run_child(cohort_task_function *function, void *arg, int resource, rlim_t limit,
                            char *text, size_t capacity)
{
    int ends[2], status;
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        CHECK_INT(setrlimit((__rlimit_resource_t)resource, &(struct rlimit){limit, limit}), 0);
        alarm(60); /* rather than hang */
        _exit(run_tasks(1, function, arg) == COHORT_OK ? 0 : 1);
    }
    close(ends[1]);
    size_t bytes = 0;
    ssize_t got;
    while ((got = read(ends[0], text + bytes, capacity - 1 - bytes)) > 0)
        bytes += (size_t)got;
    text[bytes] = 0;
    close(ends[0]);
    CHECK_INT(waitpid(child, &status, 0), child);
    return status;
}

#endif
