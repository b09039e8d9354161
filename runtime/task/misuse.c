/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/misuse.h"

#include <stdio.h>
#include <string.h>

#include "runtime/task/task.h"

static const char *const texts[] = {
    [COHORT__MISUSE_GONE] = COHORT__MISUSE_UNREF,
    [COHORT__MISUSE_SHARED] = "another await or combinator waits for it with the same reference",
    [COHORT__MISUSE_COMPLETE] = "the promise was fulfilled, or failed, before",
};

/* ": the task site (./heat)", or nothing if FUTURE is not a task's. */
static void name_task(const cohort_future *future, char *text, size_t bytes)
{
    char name[480];
    *text = 0;
    if (!future->is_task)
        return;
    cohort__task_name(cohort__task_shown((const struct cohort__task *)future), name, sizeof(name));
    snprintf(text, bytes, ": the task %s", name);
}

void cohort__misuse(enum cohort__misuse_kind kind, const cohort_future *future,
                    const char *function, const void *caller)
{
    char task[512];
    name_task(future, task, sizeof(task));
    cohort__misuse_of("future", future, task, texts[kind], function, caller);
}
