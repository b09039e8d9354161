/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_POLLER_H
#define COHORT_RUNTIME_LOOP_POLLER_H

#include <stdbool.h>

/* A source of events besides libuv: a transport. All functions are called by the loop's holder. */
struct cohort__poller {
    void *context;
    /* Handles what has arrived, without blocking. Returns true if there was anything. */
    bool (*progress)(void *context);
    /* From now on, `fd` becomes readable when something arrives. Returns false if something may
     * have arrived already: then the loop must not block, but call progress again. */
    bool (*arm)(void *context);
    void (*disarm)(void *context);
    /* Whether something that is under way is likely to end within a moment, so that who waits had
     * better look on for longer than usual. NULL: never. */
    bool (*expects)(void *context);
    int fd; /* readable when armed and something has arrived; -1: none, so the loop never blocks */
};

#endif
