/* SPDX-License-Identifier: Apache-2.0 */
/* In C: what C++ keeps for each thread is here. tests/multi/exceptions_test.py has the real one. */
#include <string.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/task/run_tasks.h"

/* Of the C++ ABI. */
struct exceptions {
    void *caught;
    unsigned num_uncaught;
};

enum { NUM = 5, ROUNDS = 20 };

struct exceptions *__cxa_get_globals(void);

/* Not inlined: the thread may be another one each time. */
__attribute__((noinline)) struct exceptions *__cxa_get_globals(void)
{
    static _Thread_local struct exceptions here;
    return &here;
}

static cohort_status keep(void *arg)
{
    unsigned number = *(unsigned *)arg;
    struct exceptions *here = __cxa_get_globals();
    CHECK(!here->caught && here->num_uncaught == 0);
    *here = (struct exceptions){.caught = arg, .num_uncaught = number};
    for (int i = 0; i < ROUNDS; i++) {
        cohort_yield();
        here = __cxa_get_globals();
        CHECK(here->caught == arg);
        CHECK_INT(here->num_uncaught, number);
    }
    memset(here, 0, sizeof(*here));
    return COHORT_OK;
}

TEST_TASK(each_its_own, run_on(1, 3, task, NULL))
{
    static unsigned numbers[NUM]; /* 0: only caught */
    cohort_future *futures[NUM];
    for (unsigned i = 0; i < NUM; i++) {
        numbers[i] = i;
        futures[i] = cohort_async(keep, &numbers[i]);
    }
    cohort_status status = cohort_await(cohort_when_all(futures, NUM));
    CHECK(!__cxa_get_globals()->caught);
    CHECK_OK(status);
}
