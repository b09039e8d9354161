/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/lock.h"

#include <sched.h>

#include "tests/support/test.h"
#include "tests/support/thread.h"

enum { NUM_THREADS = 4, ROUNDS = 20000, LONG_ROUNDS = 1000 };

static struct cohort__lock lock;
static uint64_t count; /* guarded by it */

TEST(try)
{
    struct cohort__lock one = {0};
    CHECK(cohort__lock_try(&one));
    CHECK(!cohort__lock_try(&one));
    cohort__lock_give(&one);
    cohort__lock_take(&one);
    CHECK(!cohort__lock_try(&one));
    cohort__lock_give(&one);
    CHECK_INT(one.word, COHORT__LOCK_FREE);
}

/* Now and then for so long that the others sleep. */
static void *add(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        cohort__lock_take(&lock);
        const uint64_t before = count;
        for (int yields = 0; i % LONG_ROUNDS == 0 && yields < 100; yields++)
            sched_yield();
        count = before + 1;
        cohort__lock_give(&lock);
    }
    return NULL;
}

TEST(excludes_and_wakes)
{
    pthread_t threads[NUM_THREADS];
    for (int i = 0; i < NUM_THREADS; i++)
        threads[i] = new_thread(add, NULL);
    for (int i = 0; i < NUM_THREADS; i++)
        end_thread(threads[i]);
    CHECK_INT(count, NUM_THREADS * ROUNDS);
    CHECK_INT(lock.word, COHORT__LOCK_FREE);
}
