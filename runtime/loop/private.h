/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_PRIVATE_H
#define COHORT_RUNTIME_LOOP_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "runtime/base/list.h"
#include "runtime/base/batch_queue.h"
#include "runtime/loop/loop.h"

/* For the files of runtime/loop only. */
struct cohort__timer;

/* Timers: two lock-free stacks into which any thread pushes, and a binary heap of the holder's. One
 * libuv timer runs, for the heap's top. */
struct cohort__timers {
    struct cohort__timer *_Atomic incoming;
    struct cohort__timer *_Atomic cancelled;
    struct cohort__timer **heap;
    size_t num;
    size_t capacity;
    uv_timer_t uv;
};

struct cohort__loop {
    uv_loop_t uv;
    uv_async_t async;
    struct cohort__batch_queue requests;
    struct cohort__timers timers;
    struct cohort__list pollers; /* struct watched */
    struct cohort__list tickers; /* struct ticker */
    _Atomic bool blocking;       /* what is queued now needs a wake-up */
    bool stopped;
    unsigned num_polls;  /* since the holder has looked at the clock */
    uint64_t uv_run_at;  /* while polling; the clock's ticks */
    unsigned num_events; /* callbacks of libuv that did something; */
    unsigned num_ticks;  /* those of them that were ticks */
    unsigned slowness;   /* of ticks: a factor */
};

/* Takes libuv's error UV_ERROR (negative errno): "WHAT: no such file or directory". Returns the
 * status. */
cohort_status cohort__loop_fail(int uv_error, const char *what);

/* Said by every callback of libuv: something has happened, so don't block any more. (uv_run calls
 * the timers first, and then would block for what comes after them.) */
void cohort__loop_note(struct cohort__loop *loop);

/* For timer.c: makes the holder look at the timers. Any thread. */
void cohort__loop_notify(struct cohort__loop *loop);

cohort_status cohort__timers_init(struct cohort__loop *loop);

/* Closes the libuv timer; the rest is fini's. */
void cohort__timers_close(struct cohort__loop *loop);
void cohort__timers_fini(struct cohort__loop *loop);

/* Whether another thread has brought a timer, or cancelled one. */
static inline bool cohort__timers_pending(const struct cohort__loop *loop)
{
    return atomic_load(&loop->timers.incoming) || atomic_load(&loop->timers.cancelled);
}

/* Takes over what other threads have brought. Holder only. */
void cohort__timers_absorb(struct cohort__loop *loop);

#endif
