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
#include "runtime/loop/guest.h"
#include "runtime/loop/loop.h"

/* Only for the files of runtime/loop. */
struct cohort__timer;

/* Timers are in two lock-free stacks, into which any thread may push, and in a pairing heap, which
 * only the holder uses. A holder that polls looks at the clock. One that blocks sets a timerfd for
 * the top of the heap, since libuv's own timers count in milliseconds. */
struct cohort__timers {
    struct cohort__timer *_Atomic incoming;
    struct cohort__timer *_Atomic cancelled;
    struct cohort__timer *root; /* of the heap; NULL: it is empty */
    int fd;                     /* the timerfd */
    uint64_t armed;             /* the deadline for which it is set; 0: none */
    uv_poll_t uv;
};

struct cohort__loop {
    uv_loop_t uv;
    uv_async_t async;
    uv_prepare_t prepare; /* see guest.c */
    struct cohort__batch_queue requests;
    struct cohort__timers timers;
    struct cohort__list pollers; /* struct watched */
    struct cohort__list tickers; /* struct ticker */
    _Atomic bool blocking; /* if true, a thread that queues something has to wake the holder */
    bool stopped;
    bool is_completer;   /* it has been attached to the scheduler */
    bool has_guests;     /* a function of the program has run here, and may have left handles */
    uint64_t timers_at;  /* when poll has last looked at the timers, in ticks */
    uint64_t uv_run_at;  /* when poll has last run libuv, in ticks */
    uint64_t num_events; /* callbacks of libuv that have done something */
    /* How often the descriptor of a poller that is not armed was readable, which it may be for
     * long: only what the poller then finds counts while the loop is polled. */
    uint64_t num_readable;
    uint64_t num_ticks; /* how many of these were ticks */
    unsigned slowness;  /* factor by which ticks are slowed down */
};

/* For timer.c: makes the holder look at the timers. Any thread. */
void cohort__loop_notify(struct cohort__loop *loop);

/* Begins to see to guests. */
void cohort__guests_init(struct cohort__loop *loop);

/* At the end: what is still open is a guest's. Closes it, and says so. Returns whether there was
 * anything. */
bool cohort__guests_close(struct cohort__loop *loop);

cohort_status cohort__timers_init(struct cohort__loop *loop);

/* Closes the handle of libuv. When that is closed, fini does the rest. */
void cohort__timers_close(struct cohort__loop *loop);
/* Calls `expired` of all timers, whose time is not over. No new ones come any more. */
void cohort__timers_end(struct cohort__loop *loop);
void cohort__timers_fini(struct cohort__loop *loop);

/* Whether a new timer or a cancelled one is in the stacks. */
static inline bool cohort__timers_pending(const struct cohort__loop *loop)
{
    return atomic_load(&loop->timers.incoming) || atomic_load(&loop->timers.cancelled);
}

/* Moves new timers to the heap, and handles cancelled ones. Holder only. */
void cohort__timers_absorb(struct cohort__loop *loop);

/* Calls `expired` of the timers whose deadline has passed. Returns whether there were any. Holder
 * only. */
bool cohort__timers_expire(struct cohort__loop *loop);

/* To be called before libuv blocks: makes it wake up at the next deadline, and keeps it running
 * until then. Holder only. */
void cohort__timers_arm(struct cohort__loop *loop);

#endif
