/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/grace.h"

#include <semaphore.h>

#include "runtime/base/clock.h"
#include "tests/support/test.h"

struct expiry {
    sem_t sem;
    unsigned num;
};

static void expired(void *context)
{
    struct expiry *expiry = context;
    expiry->num++;
    sem_post(&expiry->sem);
}

TEST(expires_once)
{
    enum { NANOSECONDS = 2000000 };
    struct expiry expiry = {0};
    struct cohort__grace grace;
    CHECK(sem_init(&expiry.sem, 0, 0) == 0);
    uint64_t start = cohort__clock_now();
    cohort__grace_init(&grace, expired, &expiry);
    CHECK(cohort__grace_begin(&grace, NANOSECONDS));
    CHECK(cohort__grace_begin(&grace, 3600ull * 1000000000));
    sem_wait(&expiry.sem);
    CHECK(cohort__clock_now() - start >= NANOSECONDS);
    CHECK(cohort__grace_begin(&grace, 1));
    cohort__grace_fini(&grace);
    CHECK_INT(expiry.num, 1);
    sem_destroy(&expiry.sem);
}

TEST(cancelled)
{
    struct expiry expiry = {0};
    struct cohort__grace grace;
    CHECK(sem_init(&expiry.sem, 0, 0) == 0);
    cohort__grace_init(&grace, expired, &expiry);
    CHECK(cohort__grace_begin(&grace, 3600ull * 1000000000));
    cohort__grace_fini(&grace);
    CHECK_INT(expiry.num, 0);
    cohort__grace_init(&grace, expired, &expiry); /* never begun */
    cohort__grace_fini(&grace);
    CHECK_INT(expiry.num, 0);
    sem_destroy(&expiry.sem);
}
