/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/scheduler.h"

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/base/clock.h"
#include "runtime/base/futex.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct cohort__timer *timers;                      /* sorted by deadline */
static _Atomic uint64_t next_deadline = UINT64_MAX;
static _Atomic uint32_t is_woken;

static void insert(struct cohort__timer *timer)
{
    struct cohort__timer **link = &timers;
    while (*link && (*link)->deadline <= timer->deadline)
        link = &(*link)->next;
    timer->next = *link;
    *link = timer;
    atomic_store(&next_deadline, timers->deadline);
}

static struct cohort__timer *pop_expired(uint64_t now)
{
    pthread_mutex_lock(&mutex);
    struct cohort__timer *timer = timers;
    if (timer && timer->deadline <= now)
        timers = timer->next;
    else
        timer = NULL;
    atomic_store(&next_deadline, timers ? timers->deadline : UINT64_MAX);
    pthread_mutex_unlock(&mutex);
    return timer;
}

static bool expire(uint64_t now)
{
    struct cohort__timer *timer;
    bool any = false;
    while ((timer = pop_expired(now))) {
        timer->expired(timer);
        any = true;
    }
    return any;
}

static bool poll(void *context)
{
    (void)context;
    if (atomic_load(&next_deadline) == UINT64_MAX)
        return false;
    return expire(cohort__clock_now());
}

static bool park(void *context)
{
    (void)context;
    while (atomic_exchange(&is_woken, 0) == 0) {
        uint64_t deadline = atomic_load(&next_deadline);
        if (deadline == UINT64_MAX)
            cohort__futex_wait(&is_woken, 0);
        else if (!cohort__futex_wait_until(&is_woken, 0, deadline))
            break;
    }
    poll(context);
    return true;
}

static void wake(void *context)
{
    (void)context;
    atomic_store(&is_woken, 1);
    cohort__futex_wake(&is_woken);
}

static void timer_start(void *context, struct cohort__timer *timer, uint64_t deadline)
{
    timer->deadline = deadline;
    pthread_mutex_lock(&mutex);
    insert(timer);
    pthread_mutex_unlock(&mutex);
    wake(context);
}

static void timer_cancel(void *context, struct cohort__timer *timer)
{
    (void)context;
    pthread_mutex_lock(&mutex);
    struct cohort__timer **link = &timers;
    while (*link && *link != timer)
        link = &(*link)->next;
    bool found = *link != NULL;
    if (found)
        *link = timer->next;
    pthread_mutex_unlock(&mutex);
    if (found)
        timer->expired(timer);
}

const struct cohort__scheduler_hooks *cohort__plain_loop_hooks(void)
{
    static const struct cohort__scheduler_hooks hooks = {
        .poll = poll,
        .park = park,
        .wake = wake,
        .timer = timer_start,
        .timer_cancel = timer_cancel,
    };
    return &hooks;
}

void cohort__plain_loop_fini(void)
{
    expire(UINT64_MAX);
    atomic_store(&is_woken, 0);
}
