/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/timer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/private.h"

/* A timer's loop_private is its state. The state decides the race between the deadline and a
 * cancel: the one that changes it from WAITING to something else makes sure that `expired` is
 * called. At the deadline, the holder calls it directly. A cancel passes the timer to the holder,
 * which calls it. When a timer is in the heap, `next` holds its place there, plus one. */
static char expired_mark, cancelled_mark;
#define WAITING ((void *)0)
#define EXPIRED ((void *)&expired_mark)
#define CANCELLED ((void *)&cancelled_mark)

static void place(struct cohort__timers *timers, size_t index, struct cohort__timer *timer)
{
    timers->heap[index] = timer;
    timer->next = (struct cohort__timer *)(uintptr_t)(index + 1);
}

static void sift_up(struct cohort__timers *timers, size_t index, struct cohort__timer *timer)
{
    while (index > 0 && timers->heap[(index - 1) / 2]->deadline > timer->deadline) {
        place(timers, index, timers->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    place(timers, index, timer);
}

static void sift_down(struct cohort__timers *timers, size_t index, struct cohort__timer *timer)
{
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= timers->num)
            break;
        if (child + 1 < timers->num &&
            timers->heap[child + 1]->deadline < timers->heap[child]->deadline)
            child++;
        if (timers->heap[child]->deadline >= timer->deadline)
            break;
        place(timers, index, timers->heap[child]);
        index = child;
    }
    place(timers, index, timer);
}

static bool heap_insert(struct cohort__timers *timers, struct cohort__timer *timer)
{
    if (timers->num == timers->capacity) {
        size_t capacity = timers->capacity ? 2 * timers->capacity : 64;
        struct cohort__timer **heap = realloc(timers->heap, capacity * sizeof(*heap));
        if (!heap)
            return false;
        timers->heap = heap;
        timers->capacity = capacity;
    }
    sift_up(timers, timers->num++, timer);
    return true;
}

static void heap_remove(struct cohort__timers *timers, struct cohort__timer *timer)
{
    if (!timer->next)
        return; /* has left the heap already */
    size_t index = (uintptr_t)timer->next - 1;
    struct cohort__timer *last = timers->heap[--timers->num];
    timer->next = NULL;
    if (last == timer)
        return;
    if (index > 0 && timers->heap[(index - 1) / 2]->deadline > last->deadline)
        sift_up(timers, index, last);
    else
        sift_down(timers, index, last);
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
    if (timers->num == 0)
        return false;
    bool any = false;
    uint64_t now = cohort__clock_now();
    while (timers->num > 0 && timers->heap[0]->deadline <= now) {
        struct cohort__timer *timer = timers->heap[0];
        heap_remove(timers, timer);
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
    if (timers->num == 0) {
        uv_unref((uv_handle_t *)&timers->uv);
        return;
    }
    uv_ref((uv_handle_t *)&timers->uv);
    uint64_t deadline = timers->heap[0]->deadline;
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
        timer->next = NULL;
        if (!heap_insert(timers, timer))
            expire(timer); /* out of memory: too early is better than never */
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
        heap_remove(timers, timer);
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
    struct cohort__timer *timer = atomic_exchange(&timers->cancelled, NULL);
    absorb_incoming(loop);
    while (timer) {
        struct cohort__timer *next = timer->cancel_next;
        heap_remove(timers, timer);
        timer->expired(timer);
        timer = next;
    }
    while (timers->num > 0) {
        timer = timers->heap[0];
        heap_remove(timers, timer);
        expire(timer);
    }
}

void cohort__timers_fini(struct cohort__loop *loop)
{
    free(loop->timers.heap);
    close(loop->timers.fd);
}
