/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/multi/locker.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

pthread_mutex_t *locker_lock(void)
{
    pthread_mutex_lock(&mutex);
    return &mutex;
}

void locker_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}
