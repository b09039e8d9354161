/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "runtime/task/future.h"
#include "runtime/task/worker.h"

atomic_uchar cohort__unusual;

/* In the child, in the only thread that it has. */
static void note(void)
{
    if (!cohort__worker_self && atomic_load(&cohort__scheduler.num_completers) == 0)
        return; /* it may start a runtime of its own */
    atomic_fetch_or(&cohort__unusual, COHORT__UNUSUAL_CHILD);
    atomic_store(&cohort__scheduler.is_up, false);
    atomic_store(&cohort__scheduler.num_completers, 0);
    cohort__worker_self = NULL;
}

cohort_status cohort__fork_watch(void)
{
    static atomic_bool is_watched;
    if (!atomic_exchange(&is_watched, true) && pthread_atfork(NULL, NULL, note) != 0)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "scheduler: no memory for a look at forks");
    return COHORT_OK;
}

cohort_status cohort__fork_refuse(const char *function)
{
    return cohort_fail(COHORT_ERR_STATE, "%s: in a process that was forked, which has no runtime",
                       function);
}

cohort_future *cohort__fork_refused(const char *function)
{
    return cohort__future_of_status(cohort__fork_refuse(function), cohort__error_slot());
}

void cohort__fork_end(cohort_status status)
{
    fflush(NULL); /* as a return from main would */
    _exit(status == COHORT_OK ? 0 : 1);
}
