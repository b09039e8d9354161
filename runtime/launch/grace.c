/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/grace.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static void *wait_for_end(void *context)
{
    struct cohort__grace *grace = context;
    struct timespec end;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t nanoseconds = (uint64_t)end.tv_nsec + grace->nanoseconds;
    end.tv_sec += (time_t)(nanoseconds / 1000000000);
    end.tv_nsec = (long)(nanoseconds % 1000000000);
    pthread_mutex_lock(&grace->lock);
    while (!grace->cancelled && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&grace->ended, &grace->lock, &end);
    bool expired = !grace->cancelled;
    pthread_mutex_unlock(&grace->lock);
    if (expired)
        grace->expired(grace->context);
    return NULL;
}

void cohort__grace_init(struct cohort__grace *grace, void (*expired)(void *context), void *context)
{
    pthread_condattr_t attributes;
    *grace = (struct cohort__grace){.expired = expired, .context = context};
    pthread_mutex_init(&grace->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&grace->ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool cohort__grace_begin(struct cohort__grace *grace, uint64_t nanoseconds)
{
    sigset_t all, mask;
    pthread_mutex_lock(&grace->lock);
    if (!grace->running && !grace->cancelled) {
        grace->nanoseconds = nanoseconds;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &mask); /* signals are for the program's threads */
        grace->running = pthread_create(&grace->thread, NULL, wait_for_end, grace) == 0;
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    bool running = grace->running;
    pthread_mutex_unlock(&grace->lock);
    return running;
}

void cohort__grace_fini(struct cohort__grace *grace)
{
    pthread_mutex_lock(&grace->lock);
    grace->cancelled = true;
    pthread_cond_signal(&grace->ended);
    pthread_mutex_unlock(&grace->lock);
    if (grace->running)
        pthread_join(grace->thread, NULL);
    pthread_cond_destroy(&grace->ended);
    pthread_mutex_destroy(&grace->lock);
}
