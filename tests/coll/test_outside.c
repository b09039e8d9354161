/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cohort/cohort.h"
#include "runtime/proc/process.h"
#include "runtime/task/worker.h"
#include "tests/support/test.h"

/* A thread outside of tasks makes a call that ends what the last task has waited for, so that the
 * runtime has no reason to go on before the call has returned. */

enum { SITES = 2 };
static atomic_bool has_called, is_inside, has_waited, has_stopped;
static cohort_future *_Atomic awaited; /* the task's */

void __real_cohort__foreign_leave(void);
void __wrap_cohort__foreign_leave(void);
void __real_cohort__process_stop(struct cohort__process *process);
void __wrap_cohort__process_stop(struct cohort__process *process);

/* The call has completed the task's future. It goes on as late as it may. */
void __wrap_cohort__foreign_leave(void)
{
    __real_cohort__foreign_leave();
    if (!is_inside || !cohort_future_ready(awaited) || atomic_exchange(&has_waited, true))
        return;
    while (cohort__scheduler.is_up)
        sched_yield();
    while (!cohort__scheduler.num_foreign && !has_stopped)
        sched_yield();
}

void __wrap_cohort__process_stop(struct cohort__process *process)
{
    has_stopped = true;
    CHECK(!is_inside);
    __real_cohort__process_stop(process);
}

static cohort_comm *create(uint32_t site)
{
    cohort_comm *comm;
    const cohort_comm_options options = {.num_sites = SITES, .this_site = site};
    CHECK_INT(cohort_await(cohort_comm_create(&comm, "outside", &options)), COHORT_OK);
    return comm;
}

static cohort_status inside(void *arg)
{
    (void)arg;
    cohort_comm *comm = create(0);
    cohort_future *future = cohort_barrier(comm, 1);
    awaited = future;
    has_called = true;
    CHECK_INT(cohort_await(cohort_future_ref(future)), COHORT_OK);
    cohort_comm_unref(comm);
    return COHORT_OK;
}

static void *outside(void *arg)
{
    (void)arg;
    cohort_comm *comm = create(1);
    while (!has_called)
        sched_yield();
    is_inside = true;
    cohort_future *future = cohort_barrier(comm, 1);
    is_inside = false;
    CHECK_INT(cohort_await(future), COHORT_OK);
    cohort_comm_unref(comm);
    return NULL;
}

static void test_last_call(void)
{
    pthread_t thread;
    CHECK_INT(cohort_start(&(cohort_start_options){.workers = 2}), COHORT_OK);
    cohort_future *future = cohort_async(inside, NULL);
    CHECK_INT(pthread_create(&thread, NULL, outside, NULL), 0);
    CHECK_INT(cohort_await(future), COHORT_OK);
    CHECK_INT(cohort_stop(COHORT_OK), COHORT_OK);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(has_waited);
    cohort_future_unref(awaited);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"last_call", test_last_call}};
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
