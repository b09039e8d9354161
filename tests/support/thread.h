/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_THREAD_H
#define COHORT_TESTS_SUPPORT_THREAD_H

#include <pthread.h>

#include "tests/support/test.h"

static inline pthread_t new_thread(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, run, arg), 0);
    return thread;
}

/* Waits for its end. */
static inline void end_thread(pthread_t thread)
{
    CHECK_INT(pthread_join(thread, NULL), 0);
}

#endif
