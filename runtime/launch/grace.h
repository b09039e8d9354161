/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_GRACE_H
#define COHORT_RUNTIME_LAUNCH_GRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A last delay before the end. It expires even if all of the program's threads are busy, since from
 * begin on it has a thread of its own. */
struct cohort__grace {
    uint64_t nanoseconds;           /* set by begin */
    void (*expired)(void *context); /* called once, in the grace's thread */
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool running;
    bool cancelled;
};

void cohort__grace_init(struct cohort__grace *grace, void (*expired)(void *context), void *context);

/* Any thread, any number of times. Only the first call has an effect. False: no thread can be
 * created, and it does not run. */
bool cohort__grace_begin(struct cohort__grace *grace, uint64_t nanoseconds);

/* When this returns, the grace has expired or never will, and its thread has ended. Only from one
 * thread. begin must not be called afterwards. */
void cohort__grace_fini(struct cohort__grace *grace);

#endif
