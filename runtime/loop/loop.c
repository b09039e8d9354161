/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/loop/private.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/uncaught.h"

/* Why no wake-up is lost: a thread that queues something pushes it first, and then looks at
 * `blocking`. The holder sets `blocking` first, and then looks at the queues. All of this is
 * sequentially consistent. An async that is sent while the holder is about to block makes libuv's
 * descriptor readable, so the holder doesn't block. */

/* Ticks get so many times rarer while a locality is parked and nothing else comes: below a second,
 * within which a stall is to be noticed. */
enum { MAX_SLOWNESS = 8 };

enum {
    /* While the holder polls, libuv has its turn so often. It asks the kernel, during which a
     * message has to wait, and what libuv watches is never as urgent. Every 25 us instead of after
     * 64 polls took 1 us off 3 of a message over a channel (docs/measurements.md,
     * "A message over a channel"). */
    UV_RUN_INTERVAL_NS = 25 * 1000,
    /* And the timers, which cost a look at the clock, so often: they may be so late. */
    TIMERS_INTERVAL_NS = 5 * 1000,
};

struct watched {
    struct cohort__list link;
    struct cohort__loop *loop;
    const struct cohort__poller *poller;
    uv_poll_t uv;
    int fd; /* our own duplicate, since libuv accepts each descriptor only once */
};

struct ticker {
    struct cohort__list link;
    struct cohort__loop *loop;
    uv_timer_t uv;
    uint64_t milliseconds;
    void (*function)(void *context);
    void *context;
};

static struct watched *watched_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct watched, link);
}

static bool is_want_of_room(int uv_error)
{
    return uv_error == UV_ENOMEM || uv_error == UV_EMFILE || uv_error == UV_ENFILE ||
           uv_error == UV_ENOBUFS || uv_error == UV_EAI_MEMORY;
}

cohort_status cohort__loop_fail(int uv_error, const char *format, ...)
{
    char what[400]; /* less than a message has, so that there is room for the reason */
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return cohort_fail(is_want_of_room(uv_error) ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM,
                       "%s: %s (%s)", what, uv_strerror(uv_error), uv_err_name(uv_error));
}

/* Callbacks of the program may throw. */
static bool run_uv(uv_loop_t *uv, uv_run_mode mode)
{
    bool more = uv_run(uv, mode) != 0;
    COHORT__STOPS_EXCEPTIONS;
    return more;
}

void cohort__loop_note(struct cohort__loop *loop)
{
    loop->num_events++;
    uv_stop(&loop->uv); /* works until uv_run returns, and makes it poll with timeout 0 */
}

bool cohort__loop_run_requests(struct cohort__loop *loop)
{
    bool any = false;
    for (struct cohort__batch_queue_node *node = cohort__batch_queue_take(&loop->requests), *next;
         node; node = next) {
        next = node->next;
        struct cohort__loop_request *request =
            COHORT_CONTAINER_OF(node, struct cohort__loop_request, node);
        request->run(loop, request);
        any = true;
    }
    if (cohort__timers_pending(loop))
        cohort__timers_absorb(loop);
    return any;
}

static bool is_pending(const struct cohort__loop *loop)
{
    return !cohort__batch_queue_is_empty(&loop->requests) || cohort__timers_pending(loop);
}

static void async_arrived(uv_async_t *async)
{
    struct cohort__loop *loop = async->data;
    cohort__loop_note(loop);
    cohort__loop_run_requests(loop);
}

/* At its start, libuv opens a descriptor for epoll, from 1.45 on another for io_uring, and a pipe
 * for signals. If it can't open the pipe, it aborts the process. So this tries to open as many
 * descriptors before. */
static int try_descriptors(void)
{
    enum { NUM = 4 };
    int fds[NUM], num = 0, error = 0;
    while (num < NUM && (fds[num] = epoll_create1(EPOLL_CLOEXEC)) >= 0)
        num++;
    if (num < NUM)
        error = uv_translate_sys_error(errno);
    while (num > 0)
        close(fds[--num]);
    return error;
}

cohort_status cohort__loop_create(struct cohort__loop **ret_loop)
{
    cohort_status status;
    struct cohort__loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "event loop: out of memory");
    cohort__batch_queue_init(&loop->requests);
    cohort__list_init(&loop->pollers);
    cohort__list_init(&loop->tickers);
    loop->slowness = 1;
    int error = try_descriptors();
    if (!error)
        error = uv_loop_init(&loop->uv);
    if (error) {
        status = cohort__loop_fail(error, "event loop");
        goto fail;
    }
    error = uv_async_init(&loop->uv, &loop->async, async_arrived);
    if (error) {
        status = cohort__loop_fail(error, "event loop: wake-up");
        goto fail_loop;
    }
    loop->async.data = loop;
    status = cohort__timers_init(loop);
    if (status) {
        uv_close((uv_handle_t *)&loop->async, NULL);
        goto fail_loop;
    }
    cohort__guests_init(loop);
    *ret_loop = loop;
    return COHORT_OK;
fail_loop:
    run_uv(&loop->uv, UV_RUN_DEFAULT);
    uv_loop_close(&loop->uv);
fail:
    free(loop);
    return status;
}

static void ticker_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void cohort__loop_destroy(struct cohort__loop *loop)
{
    if (!loop)
        return;
    for (struct cohort__list *link; (link = cohort__list_pop_front(&loop->tickers));) {
        struct ticker *ticker = COHORT_CONTAINER_OF(link, struct ticker, link);
        uv_close((uv_handle_t *)&ticker->uv, ticker_closed);
    }
    cohort__timers_close(loop);
    uv_close((uv_handle_t *)&loop->async, NULL);
    uv_close((uv_handle_t *)&loop->prepare, NULL);
    cohort__guests_close(loop);
    /* Before libuv, which waits for functions of the program (uv_queue_work) that may wait for
     * these. */
    cohort__timers_end(loop);
    /* A callback may make more handles, which would keep the loop alive, so turn by turn. */
    for (bool more = true; more;) {
        more = run_uv(&loop->uv, UV_RUN_ONCE);
        more |= cohort__guests_close(loop);
    }
    uv_loop_close(&loop->uv);
    cohort__timers_fini(loop);
    if (loop->is_completer)
        cohort__scheduler_completer_end();
    free(loop);
}

static void poller_readable(uv_poll_t *handle, int status, int events)
{
    (void)status, (void)events; /* poll and block call progress of all pollers afterwards */
    struct watched *watched = handle->data;
    watched->loop->num_readable++;
    uv_stop(&watched->loop->uv);
}

cohort_status cohort__loop_add_poller(struct cohort__loop *loop,
                                      const struct cohort__poller *poller)
{
    struct watched *watched = calloc(1, sizeof(*watched));
    if (!watched)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "event loop: out of memory");
    *watched = (struct watched){.loop = loop, .poller = poller, .fd = -1};
    if (poller->fd >= 0) {
        int error = UV_EMFILE;
        watched->fd = fcntl(poller->fd, F_DUPFD_CLOEXEC, 0);
        if (watched->fd >= 0)
            error = uv_poll_init(&loop->uv, &watched->uv, watched->fd);
        if (error) {
            if (watched->fd >= 0)
                close(watched->fd);
            free(watched);
            return cohort__loop_fail(error, "event loop: a transport's descriptor");
        }
        watched->uv.data = watched;
        uv_poll_start(&watched->uv, UV_READABLE, poller_readable);
    }
    cohort__list_push_back(&loop->pollers, &watched->link);
    return COHORT_OK;
}

static void watched_closed(uv_handle_t *handle)
{
    struct watched *watched = handle->data;
    close(watched->fd);
    free(watched);
}

void cohort__loop_remove_poller(struct cohort__loop *loop, const struct cohort__poller *poller)
{
    for (struct cohort__list *link = loop->pollers.next; link != &loop->pollers;
         link = link->next) {
        struct watched *watched = watched_of(link);
        if (watched->poller != poller)
            continue;
        cohort__list_remove(link);
        if (watched->fd >= 0)
            uv_close((uv_handle_t *)&watched->uv, watched_closed);
        else
            free(watched);
        return;
    }
}

void cohort__loop_wake(struct cohort__loop *loop)
{
    uv_async_send(&loop->async);
}

void cohort__loop_notify(struct cohort__loop *loop)
{
    if (atomic_load(&loop->blocking))
        uv_async_send(&loop->async);
}

void cohort__loop_request(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    cohort__batch_queue_push(&loop->requests, &request->node);
    cohort__loop_notify(loop);
}

static bool progress(struct cohort__loop *loop)
{
    bool any = false;
    for (struct cohort__list *link = loop->pollers.next; link != &loop->pollers;
         link = link->next) {
        const struct cohort__poller *poller = watched_of(link)->poller;
        any |= poller->progress(poller->context);
    }
    return any;
}

static bool expects(struct cohort__loop *loop)
{
    bool any = false;
    for (struct cohort__list *link = loop->pollers.next; link != &loop->pollers && !any;
         link = link->next) {
        const struct cohort__poller *poller = watched_of(link)->poller;
        any = poller->expects && poller->expects(poller->context);
    }
    return any;
}

void cohort__loop_num_events(const struct cohort__loop *loop, uint64_t *ret_events,
                             uint64_t *ret_ticks)
{
    *ret_events = loop->num_events;
    *ret_ticks = loop->num_ticks;
}

static void ticker_fired(uv_timer_t *timer)
{
    struct ticker *ticker = timer->data;
    cohort__loop_note(ticker->loop);
    ticker->loop->num_ticks++;
    ticker->function(ticker->context);
}

static void start_ticker(struct ticker *ticker)
{
    uint64_t milliseconds = ticker->milliseconds * ticker->loop->slowness;
    uv_timer_start(&ticker->uv, ticker_fired, milliseconds, milliseconds);
}

/* While nothing else happens, ticks come less often: otherwise they alone would keep an idle job
 * busy. The normal rate returns when anything else comes in, or when the loop is polled, since that
 * shows that a worker is busy. */
static void set_slowness(struct cohort__loop *loop, unsigned slowness)
{
    if (loop->slowness == slowness)
        return;
    loop->slowness = slowness;
    uv_update_time(&loop->uv);
    for (struct cohort__list *link = loop->tickers.next; link != &loop->tickers; link = link->next)
        start_ticker(COHORT_CONTAINER_OF(link, struct ticker, link));
}

/* Whether NANOSECONDS have passed since *LAST, which then becomes NOW. Both are in ticks. */
static bool is_turn(uint64_t *last, uint64_t now, uint64_t nanoseconds)
{
    if (now - *last < cohort__clock_cycles_of(nanoseconds))
        return false;
    *last = now;
    return true;
}

/* The pollers come last, so that the tasks that wait for their messages go on without delay. */
bool cohort__loop_poll(struct cohort__loop *loop)
{
    set_slowness(loop, 1);
    bool any = is_pending(loop) && cohort__loop_run_requests(loop);
    uint64_t now = cohort__clock_cycles();
    if (is_turn(&loop->uv_run_at, now, UV_RUN_INTERVAL_NS) || any) {
        uint64_t before = loop->num_events;
        run_uv(&loop->uv, UV_RUN_NOWAIT);
        any |= loop->num_events != before;
    }
    if (loop->timers.root && is_turn(&loop->timers_at, now, TIMERS_INTERVAL_NS))
        any |= cohort__timers_expire(loop);
    any |= progress(loop);
    return any;
}

static void disarm(struct cohort__loop *loop, struct cohort__list *end)
{
    for (struct cohort__list *link = loop->pollers.next; link != end; link = link->next) {
        const struct cohort__poller *poller = watched_of(link)->poller;
        poller->disarm(poller->context);
    }
}

/* Arms all pollers or none. Returns whether they are armed. */
static bool arm(struct cohort__loop *loop)
{
    for (struct cohort__list *link = loop->pollers.next; link != &loop->pollers;
         link = link->next) {
        const struct cohort__poller *poller = watched_of(link)->poller;
        if (poller->fd < 0 || !poller->arm(poller->context)) {
            disarm(loop, link);
            return false;
        }
    }
    return true;
}

/* Returns true if anything other than ticks has come. */
static bool block(struct cohort__loop *loop)
{
    bool armed = arm(loop);
    cohort__timers_arm(loop);
    uint64_t events = loop->num_events + loop->num_readable, ticks = loop->num_ticks;
    atomic_store(&loop->blocking, true);
    run_uv(&loop->uv, armed && !is_pending(loop) ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    atomic_store(&loop->blocking, false);
    if (armed)
        disarm(loop, &loop->pollers);
    ticks = loop->num_ticks - ticks;
    bool any = !armed || loop->num_events + loop->num_readable - events != ticks;
    any |= progress(loop);
    any |= cohort__loop_run_requests(loop);
    if (any)
        set_slowness(loop, 1);
    else if (ticks > 0 && loop->slowness < MAX_SLOWNESS)
        set_slowness(loop, 2 * loop->slowness);
    return any;
}

bool cohort__loop_park(struct cohort__loop *loop)
{
    return progress(loop) || block(loop);
}

void cohort__loop_run(struct cohort__loop *loop)
{
    /* The async alone must not keep uv_run from ending. */
    uv_unref((uv_handle_t *)&loop->async);
    atomic_store(&loop->blocking, true);
    for (bool more = true; more && !loop->stopped;) {
        bool asked = cohort__loop_run_requests(loop);
        if (loop->stopped)
            break;
        cohort__timers_arm(loop);
        more = run_uv(&loop->uv, asked ? UV_RUN_NOWAIT : UV_RUN_ONCE) || is_pending(loop) ||
               loop->timers.root;
    }
    atomic_store(&loop->blocking, false);
    uv_ref((uv_handle_t *)&loop->async);
    loop->stopped = false;
}

void cohort__loop_stop(struct cohort__loop *loop)
{
    loop->stopped = true;
}

cohort_status cohort__loop_every(struct cohort__loop *loop, uint64_t nanoseconds,
                                 void (*function)(void *context), void *context)
{
    struct ticker *ticker = calloc(1, sizeof(*ticker));
    if (!ticker)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "event loop: out of memory");
    *ticker = (struct ticker){.loop = loop, .function = function, .context = context};
    ticker->milliseconds = nanoseconds / 1000000 + (nanoseconds % 1000000 != 0);
    if (ticker->milliseconds == 0)
        ticker->milliseconds = 1;
    uv_timer_init(&loop->uv, &ticker->uv);
    ticker->uv.data = ticker;
    start_ticker(ticker);
    uv_unref((uv_handle_t *)&ticker->uv);
    cohort__list_push_back(&loop->tickers, &ticker->link);
    return COHORT_OK;
}

static bool hook_poll(void *context)
{
    return cohort__loop_poll(context);
}

static bool hook_park(void *context)
{
    return cohort__loop_park(context);
}

static void hook_wake(void *context)
{
    cohort__loop_wake(context);
}

static void hook_timer(void *context, struct cohort__timer *timer, uint64_t deadline)
{
    cohort__loop_timer(context, timer, deadline);
}

static void hook_timer_cancel(void *context, struct cohort__timer *timer)
{
    cohort__loop_timer_cancel(context, timer);
}

static bool hook_look(void *context)
{
    const struct cohort__loop *loop = context;
    bool any = false;
    for (struct cohort__list *link = loop->pollers.next; link != &loop->pollers;
         link = link->next) {
        const struct cohort__poller *poller = watched_of(link)->poller;
        if (poller->look)
            (void)poller->look(poller->context);
        any |= poller->look != NULL;
    }
    return any;
}

static bool hook_expects(void *context)
{
    return expects(context);
}

bool cohort__loop_has_ready_tasks(void)
{
    return cohort__scheduler_has_ready();
}

void cohort__loop_turn_next(void)
{
    cohort__scheduler_poll_next();
}

void cohort__loop_scheduler_hooks(struct cohort__loop *loop,
                                  struct cohort__scheduler_hooks *ret_hooks)
{
    *ret_hooks = (struct cohort__scheduler_hooks){
        .context = loop,
        .poll = hook_poll,
        .look = hook_look,
        .expects = hook_expects,
        .park = hook_park,
        .wake = hook_wake,
        .timer = hook_timer,
        .timer_cancel = hook_timer_cancel,
    };
}
