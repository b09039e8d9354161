/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_GRACE_H
#define COHORT_RUNTIME_PROC_GRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A last delay, which runs out even while all of the program's threads are busy: it has a thread of
 * its own, from begin on. */
struct cohort__grace {
    uint64_t nanoseconds; /* once it has begun */
    /* In the grace's thread, once. */
    void (*expired)(void *context);
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool running;
    bool cancelled;
};

void cohort__grace_init(struct cohort__grace *grace, void (*expired)(void *context), void *context);

/* Any thread, any number of times: the first one counts. Where no thread can be made, it expires at
 * once. */
void cohort__grace_begin(struct cohort__grace *grace, uint64_t nanoseconds);

/* It does not expire any more, or has; no thread is left. One thread, and no begin afterwards. */
void cohort__grace_fini(struct cohort__grace *grace);

#endif
