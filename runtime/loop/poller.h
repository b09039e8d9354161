/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_POLLER_H
#define COHORT_RUNTIME_LOOP_POLLER_H

#include <stdbool.h>

/* Something besides libuv that the loop turns: a transport. All functions are called by the thread
 * that holds the loop's token, one at a time. */
struct cohort__poller {
    void *context;
    /* Handles what is there without blocking; true if anything was. */
    bool (*progress)(void *context);
    /* Makes `fd` readable for what comes from now on. False: something may be there already, so
     * do not block but call progress again. */
    bool (*arm)(void *context);
    void (*disarm)(void *context);
    int fd; /* readable when armed and something is there; -1: none, so the loop never blocks */
};

#endif
