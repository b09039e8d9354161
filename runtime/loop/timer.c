/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/private.h"

/* A timer's loop_private is its state. The state decides the race between the deadline and a
 * cancel: the one that changes it from WAITING to something else makes sure that `expired` is
 * called. At the deadline, the holder calls it directly. A cancel passes the timer to the holder,
 * which calls it. */
static char expired_mark, cancelled_mark;
#define WAITING ((void *)0)
#define EXPIRED ((void *)&expired_mark)
#define CANCELLED ((void *)&cancelled_mark)

/* A pairing heap (Fredman, Sedgewick, Sleator and Tarjan, 1986): no timer is earlier than the one
 * of which it is a child. The children of one are linked by `next`; `previous` of the first one is
 * their parent. */

/* The roots of two heaps become one. */
static struct cohort__timer *merge(struct cohort__timer *one, struct cohort__timer *other)
{
    struct cohort__timer *root = other->deadline < one->deadline ? other : one;
    struct cohort__timer *child = root == one ? other : one;
    child->next = root->child;
    if (child->next)
        child->next->previous = child;
    child->previous = root;
    root->child = child;
    return root;
}

/* The children from FIRST on, which may be NULL, become one heap: in pairs, and these from the last
 * one on, which makes the heap flat. */
static struct cohort__timer *merge_all(struct cohort__timer *first)
{
    struct cohort__timer *pairs = NULL, *root = NULL;
    while (first) {
        struct cohort__timer *one = first, *other = one->next;
        first = other ? other->next : NULL;
        one = other ? merge(one, other) : one;
        one->next = pairs;
        pairs = one;
    }
    while (pairs) {
        struct cohort__timer *rest = pairs->next;
        root = root ? merge(root, pairs) : pairs;
        pairs = rest;
    }
    if (root)
        root->next = root->previous = NULL;
    return root;
}

static void insert(struct cohort__timers *timers, struct cohort__timer *timer)
{
    timer->next = timer->previous = timer->child = NULL;
    timers->root = timers->root ? merge(timers->root, timer) : timer;
}

/* TIMER may have been removed already. */
static void remove_timer(struct cohort__timers *timers, struct cohort__timer *timer)
{
    struct cohort__timer *rest = NULL;
    if (timer->previous) {
        struct cohort__timer *previous = timer->previous;
        if (previous->child == timer)
            previous->child = timer->next;
        else
            previous->next = timer->next;
        if (timer->next)
            timer->next->previous = previous;
        rest = timers->root;
    } else if (timers->root != timer) {
        return;
    }
    struct cohort__timer *children = merge_all(timer->child);
    timers->root = rest && children ? merge(rest, children) : rest ? rest : children;
    timer->next = timer->previous = timer->child = NULL;
}

/* Does nothing if TIMER is cancelled: then its cancel leads to the call. */
static void expire(struct cohort__timer *timer)
{
    void *expected = WAITING;
    if (__atomic_compare_exchange_n(&timer->loop_private, &expected, EXPIRED, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        timer->expired(timer);
}

bool cohort__timers_expire(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    struct cohort__timer *timer;
    bool any = false;
    uint64_t now = timers->root ? cohort__clock_now() : 0;
    while ((timer = timers->root) && timer->deadline <= now) {
        remove_timer(timers, timer);
        expire(timer);
        any = true;
    }
    return any;
}

static void rung(uv_poll_t *uv, int status, int events)
{
    (void)status, (void)events;
    struct cohort__loop *loop = uv->data;
    uint64_t count;
    if (read(loop->timers.fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        loop->timers.armed = 0;
    cohort__loop_note(loop);
    cohort__timers_expire(loop);
}

void cohort__timers_arm(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    if (!timers->root) {
        uv_unref((uv_handle_t *)&timers->uv);
        return;
    }
    uv_ref((uv_handle_t *)&timers->uv);
    uint64_t deadline = timers->root->deadline;
    if (deadline == 0)
        deadline = 1; /* 0 would stop the timerfd */
    if (timers->armed == deadline)
        return;
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(deadline / 1000000000),
                                           .tv_nsec = (long)(deadline % 1000000000)}};
    timerfd_settime(timers->fd, TFD_TIMER_ABSTIME, &time, NULL);
    timers->armed = deadline;
}

static void push_incoming(struct cohort__timers *timers, struct cohort__timer *timer)
{
    struct cohort__timer *head = atomic_load(&timers->incoming);
    do
        timer->next = head;
    while (!atomic_compare_exchange_weak(&timers->incoming, &head, timer));
}

void cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer, uint64_t deadline)
{
    timer->deadline = deadline;
    __atomic_store_n(&timer->loop_private, WAITING, __ATOMIC_RELAXED);
    push_incoming(&loop->timers, timer);
    cohort__loop_notify(loop);
}

void cohort__loop_timer_cancel(struct cohort__loop *loop, struct cohort__timer *timer)
{
    if (__atomic_exchange_n(&timer->loop_private, CANCELLED, __ATOMIC_ACQ_REL) == EXPIRED)
        return; /* so the timer may be freed from now on */
    struct cohort__timer *head = atomic_load(&loop->timers.cancelled);
    do
        timer->cancel_next = head;
    while (!atomic_compare_exchange_weak(&loop->timers.cancelled, &head, timer));
    cohort__loop_notify(loop);
}

static void absorb_incoming(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    struct cohort__timer *timer = atomic_exchange(&timers->incoming, NULL);
    while (timer) {
        struct cohort__timer *next = timer->next;
        insert(timers, timer);
        timer = next;
    }
}

void cohort__timers_absorb(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    /* Takes the cancelled ones first. So each of them is among the incoming ones or in the heap,
     * since a timer comes in before it is cancelled. */
    struct cohort__timer *timer = atomic_exchange(&timers->cancelled, NULL);
    absorb_incoming(loop);
    while (timer) {
        struct cohort__timer *next = timer->cancel_next;
        remove_timer(timers, timer);
        timer->expired(timer);
        timer = next;
    }
}

cohort_status cohort__timers_init(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    timers->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int error = timers->fd < 0 ? uv_translate_sys_error(errno)
                               : uv_poll_init(&loop->uv, &timers->uv, timers->fd);
    if (error) {
        if (timers->fd >= 0)
            close(timers->fd);
        return cohort__loop_fail(error, "event loop: timer");
    }
    timers->uv.data = loop;
    uv_poll_start(&timers->uv, UV_READABLE, rung);
    uv_unref((uv_handle_t *)&timers->uv);
    return COHORT_OK;
}

void cohort__timers_close(struct cohort__loop *loop)
{
    uv_close((uv_handle_t *)&loop->timers.uv, NULL);
}

void cohort__timers_end(struct cohort__loop *loop)
{
    struct cohort__timers *timers = &loop->timers;
    struct cohort__timer *timer;
    cohort__timers_absorb(loop);
    while ((timer = timers->root)) {
        remove_timer(timers, timer);
        expire(timer);
    }
}

void cohort__timers_fini(struct cohort__loop *loop)
{
    close(loop->timers.fd);
}
