/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>

#include "cohort/cohort.h"
#include "tests/multi/locker.h"

/* A task waits three times: with a mutex of the program's, with one that another library has
 * locked, and with none. It prints which mutexes these are. */

static cohort_status empty(void *arg)
{
    (void)arg;
    return COHORT_OK;
}

/* An await of it suspends. */
static cohort_future *start_two(void)
{
    cohort_future *two[] = {cohort_async(empty, NULL), cohort_async(empty, NULL)};
    return cohort_when_all(two, 2);
}

static cohort_status hold(void *arg)
{
    pthread_mutex_t *own = arg;
    pthread_mutex_lock(own);
    cohort_status status = cohort_await(start_two());
    pthread_mutex_unlock(own);
    if (status)
        return status;
    pthread_mutex_t *other = locker_lock();
    status = cohort_await(start_two());
    locker_unlock();
    if (status)
        return status;
    status = cohort_await(start_two());
    printf("%p %p\n", (void *)own, (void *)other);
    return status;
}

static cohort_status run(void *arg)
{
    return cohort_await(cohort_async(hold, arg));
}

int main(int argc, char **argv)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    return cohort_main(argc, argv, run, &own);
}
