/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_FARM_WATCH_H
#define COHORT_EXAMPLES_FARM_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <cohort/uv.h>

#include <cohort/cohort.h>

/* Two handles of libuv on the locality's loop: a timer that prints how far the farm is, and a
 * watcher that ends it at Ctrl-C. */
struct farm_watch {
    cohort_scope *scope; /* which Ctrl-C lets fail; has to be there until the close */
    const _Atomic uint32_t *num_written;
    uint32_t num_strips;
    uint32_t milliseconds; /* from one print to the next; 0: none */

    /* Private. */
    uv_signal_t interrupt;
    uv_timer_t timer;
    bool is_open;
    int num_open; /* handles; only the thread of the loop */
    cohort_promise *closed;
};

/* The first part is the caller's to fill in, and the rest is zero. Suspends, as the close does,
 * which is to be called in any case, and is not cancelled. */
cohort_status farm_watch_open(struct farm_watch *watch);
cohort_status farm_watch_close(struct farm_watch *watch);

#endif
