/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/scheduler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/bounds.h"
#include "runtime/base/log.h"
#include "runtime/task/blocking.h"
#include "runtime/task/crash.h"
#include "runtime/task/fork.h"
#include "runtime/base/futex.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scope.h"
#include "runtime/task/worker.h"

enum {
    DEQUE_CAPACITY = 1024,
    SLICE_NANOSECONDS = 500000, /* less than the kernel gives by itself, on any number of cores */
};

struct cohort__scheduler cohort__scheduler = {.chores_lock = PTHREAD_MUTEX_INITIALIZER,
                                              .lanes_lock = PTHREAD_MUTEX_INITIALIZER};

/* True from start until run has ended. There is only one scheduler at a time. */
static atomic_bool is_taken;

/* Of the workers that are no more, since the last start. */
static uint64_t num_past_started, num_past_ended;

/* How a new worker thread reports to thread_start. */
struct launch {
    struct cohort__worker *worker;
    cohort_status status;
    struct cohort__error error;
    _Atomic uint32_t is_ready; /* futex */
};

/* --- use by threads outside --- */

bool cohort__foreign_enter(void)
{
    atomic_fetch_add(&cohort__scheduler.num_foreign, 1);
    return atomic_load(&cohort__scheduler.is_up);
}

void cohort__foreign_leave(void)
{
    atomic_fetch_sub(&cohort__scheduler.num_foreign, 1);
}

/* The calling thread ends the runtime. Functions of the program that it calls meanwhile (callbacks
 * of handles, destructors) must not wait for what it is to complete. */
static _Thread_local bool is_ender;

bool cohort__scheduler_completes(void)
{
    return atomic_load(&cohort__scheduler.num_completers) > 0 && !is_ender;
}

void cohort__scheduler_completer_begin(void)
{
    atomic_fetch_add(&cohort__scheduler.num_completers, 1);
}

void cohort__scheduler_completer_end(void)
{
    if (cohort__fork_is_child())
        return; /* it has none */
    if (atomic_fetch_sub(&cohort__scheduler.num_completers, 1) == 1)
        is_ender = false;
}

static bool is_open_to_this_thread(void)
{
    return !atomic_load(&cohort__scheduler.is_closed) || cohort__worker_self ||
           cohort__progress_is_self() || cohort__blocking_is_self();
}

bool cohort__foreign_enter_to_start(void)
{
    return cohort__foreign_enter() && is_open_to_this_thread();
}

void cohort__scheduler_close(void)
{
    atomic_store(&cohort__scheduler.is_closed, true);
}

bool cohort__scheduler_is_closed(void)
{
    return atomic_load(&cohort__scheduler.is_up) && !is_open_to_this_thread();
}

bool cohort__scheduler_may_start(void)
{
    return atomic_load(&cohort__scheduler.is_up) && is_open_to_this_thread();
}

cohort_status cohort__scheduler_refuse(const char *function)
{
    if (cohort__fork_is_child())
        return cohort__fork_refuse(function);
    if (cohort__scheduler_is_closed())
        return cohort_fail(COHORT_ERR_STATE,
                           "%s: cohort_stop was called, so threads outside of tasks start no tasks "
                           "any more",
                           function);
    return cohort_fail(COHORT_ERR_STATE, "%s: the runtime is not up", function);
}

bool cohort__scheduler_timer(struct cohort__timer *timer, uint64_t deadline)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    bool is_up = cohort__scheduler_hold();
    timer->deadline = deadline;
    if (is_up)
        hooks->timer(hooks->context, timer, deadline);
    cohort__scheduler_release();
    return is_up;
}

void cohort__scheduler_timer_cancel(struct cohort__timer *timer)
{
    const struct cohort__scheduler_hooks *hooks = &cohort__scheduler.hooks;
    if (cohort__scheduler_hold() && hooks->timer_cancel)
        hooks->timer_cancel(hooks->context, timer);
    cohort__scheduler_release();
}

bool cohort__scheduler_count_task(void)
{
    if (cohort__worker_self) {
        cohort__count(&cohort__worker_self->num_spawned);
        return true;
    }
    bool may_start = cohort__foreign_enter_to_start();
    if (may_start)
        atomic_fetch_add(&cohort__scheduler.num_foreign_spawned, 1);
    cohort__foreign_leave();
    return may_start;
}

static bool inject(struct cohort__work *work, bool count)
{
    bool is_queued = count ? cohort__foreign_enter_to_start() : cohort__foreign_enter();
    if (is_queued) {
        if (count)
            atomic_fetch_add(&cohort__scheduler.num_foreign_spawned, 1);
        cohort__batch_queue_push(&cohort__scheduler.injected, &work->node);
        cohort__idle_wake_one();
    }
    cohort__foreign_leave();
    return is_queued;
}

bool cohort__scheduler_submit(struct cohort__work *work, bool count)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (!worker)
        return inject(work, count);
    if (count)
        cohort__count(&worker->num_spawned);
    cohort__worker_push(worker, work);
    return true;
}

void cohort__work_post(struct cohort__work *work)
{
    if (!cohort__scheduler_submit(work, false))
        cohort__log(COHORT__LOG_ERROR, "scheduler: work was posted while it was not up");
}

uint64_t cohort__scheduler_live_tasks(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    bool is_foreign = !cohort__worker_self;
    uint64_t finished = 0;
    uint64_t spawned = 0;
    if (!is_foreign || cohort__foreign_enter()) {
        /* Reads the ends first. So for each end that is counted, the start is counted, too. */
        for (unsigned i = 0; i < s->num_workers; i++)
            finished += atomic_load(&s->workers[i]->num_finished);
        for (unsigned i = 0; i < s->num_workers; i++)
            spawned += atomic_load(&s->workers[i]->num_spawned);
        spawned += atomic_load(&s->num_foreign_spawned);
    }
    if (is_foreign)
        cohort__foreign_leave();
    return spawned - finished;
}

/* Before a worker that has ended a task sleeps, it looks whether somebody waits for that. Of those
 * who end the last two tasks, or one of them and the caller of when_alone, the second one to come
 * to its fence sees what the first has done. */
bool cohort__scheduler_tell_alone(void)
{
    cohort_future *_Atomic *place = &cohort__scheduler.alone;
    atomic_thread_fence(memory_order_seq_cst);
    cohort_future *future = atomic_load(place);
    if (!future || cohort__scheduler_live_tasks() > 1 ||
        !atomic_compare_exchange_strong(place, &future, NULL))
        return false;
    cohort__future_fulfil(future, NULL);
    return true;
}

cohort_future *cohort__scheduler_when_alone(void)
{
    cohort_future *future = cohort__future_create_about(COHORT__WAIT_OUTSIDE);
    if (!future)
        return cohort__future_no_memory();
    atomic_store(&cohort__scheduler.alone, future);
    (void)cohort__scheduler_tell_alone();
    return future;
}

uint64_t cohort__scheduler_moved(void)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    const struct cohort__worker_line *progress = s->progress.line;
    uint64_t sum = atomic_load_explicit(&s->num_foreign_spawned, memory_order_relaxed);
    if (progress)
        sum += atomic_load_explicit(&progress->event_bytes, memory_order_relaxed);
    for (unsigned i = 0; i < s->num_workers; i++) {
        const struct cohort__worker *worker = s->workers[i];
        sum += atomic_load_explicit(&worker->num_spawned, memory_order_relaxed) +
               atomic_load_explicit(&worker->num_finished, memory_order_relaxed) +
               atomic_load_explicit(&worker->line->event_bytes, memory_order_relaxed);
    }
    return sum;
}

void cohort__scheduler_num_tasks(uint64_t *ret_started, uint64_t *ret_ended)
{
    const struct cohort__scheduler *s = &cohort__scheduler;
    uint64_t started =
        num_past_started + atomic_load_explicit(&s->num_foreign_spawned, memory_order_relaxed);
    uint64_t ended = num_past_ended;
    for (unsigned i = 0; i < s->num_workers; i++) {
        started += atomic_load_explicit(&s->workers[i]->num_spawned, memory_order_relaxed);
        ended += atomic_load_explicit(&s->workers[i]->num_finished, memory_order_relaxed);
    }
    *ret_started = started;
    *ret_ended = ended;
}

unsigned cohort__scheduler_num_workers(void)
{
    return cohort__scheduler.num_workers;
}

bool cohort__scheduler_has_idle(void)
{
    return cohort__idle_is_any();
}

bool cohort__scheduler_in_task(void)
{
    return cohort__worker_self && cohort__worker_self->context;
}

/* --- start --- */

void cohort__scheduler_options_init(struct cohort__scheduler_options *options)
{
    *options = (struct cohort__scheduler_options){
        .num_workers = 1,
        .stack_bytes = 256 * 1024,
        .spin_ns = COHORT__SPIN_NS,
        .yield_polls = 20,
        .pin = false,
        .blocking_threads = COHORT__BLOCKING_THREADS,
    };
}

static void pin(struct cohort__worker *worker)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (s->pinning && cohort__pinning_apply(s->pinning, worker->index) != COHORT_OK)
        cohort__log(COHORT__LOG_WARN, "%s", cohort_error_message());
}

/* The calling thread is WORKER's from now on. */
static void become(struct cohort__worker *worker)
{
    pin(worker);
    worker->former_slice = cohort__core_set_slice(SLICE_NANOSECONDS);
    cohort__worker_self = worker;
    cohort__ledger_thread = worker->line;
    atomic_store_explicit(&worker->line->thread, (uint64_t)syscall(SYS_gettid),
                          memory_order_relaxed);
}

static void cease(struct cohort__worker *worker)
{
    cohort__ledger_thread = NULL;
    cohort__worker_self = NULL;
    cohort__core_set_slice(worker->former_slice);
    cohort__fiber_unadopt(&worker->own_fiber);
}

static void *thread_main(void *arg)
{
    struct launch *launch = arg;
    struct cohort__worker *worker = launch->worker;
    cohort_status status = cohort__fiber_adopt(&worker->own_fiber);
    launch->status = status;
    if (status != COHORT_OK)
        cohort__error_copy(&launch->error, cohort__error_slot());
    _Atomic uint32_t *is_ready = &launch->is_ready;
    atomic_store(is_ready, 1);
    cohort__futex_wake(is_ready);
    if (status != COHORT_OK)
        return NULL;
    while (atomic_load(&cohort__scheduler.may_go) == 0)
        cohort__futex_wait(&cohort__scheduler.may_go, 0);
    become(worker);
    cohort__worker_run(worker);
    cease(worker);
    return NULL;
}

static cohort_status thread_start(struct cohort__worker *worker)
{
    struct launch launch = {.worker = worker};
    int error = pthread_create(&worker->thread, NULL, thread_main, &launch);
    if (error != 0)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "scheduler: thread of worker %u: %s",
                           worker->index, strerror(error));
    while (atomic_load(&launch.is_ready) == 0)
        cohort__futex_wait(&launch.is_ready, 0);
    if (launch.status != COHORT_OK) {
        pthread_join(worker->thread, NULL);
        cohort__error_copy(cohort__error_slot(), &launch.error);
        cohort__error_fini(&launch.error);
    }
    return launch.status;
}

static void join_threads(unsigned num_threads)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    atomic_store(&s->may_go, 1);
    cohort__futex_wake(&s->may_go);
    for (unsigned i = 1; i <= num_threads; i++)
        pthread_join(s->workers[i]->thread, NULL);
}

static cohort_status worker_create(struct cohort__worker **ret_worker, unsigned index)
{
    struct cohort__worker *worker = NULL;
    if (posix_memalign((void **)&worker, _Alignof(struct cohort__worker), sizeof(*worker)) != 0)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "scheduler: no memory for worker %u", index);
    memset(worker, 0, sizeof(*worker));
    worker->index = index;
    worker->usual_picks = COHORT__USUAL_PICKS;
    worker->inputs = cohort__inputs_table(index);
    atomic_init(&worker->core, -1);
    cohort__batch_queue_init(&worker->inbox);
    cohort__batch_queue_init(&worker->returned);
    worker->random = cohort__random_seeded(index);
    cohort_status status = cohort__deque_init(&worker->deque, DEQUE_CAPACITY,
                                              cohort__scheduler.options.num_workers > 1);
    if (status != COHORT_OK)
        goto fail;
    worker->line = cohort__ledger_take(COHORT__LEDGER_WORKERS);
    if (!worker->line) {
        status = cohort_fail(COHORT_ERR_NO_MEMORY,
                             "scheduler: no memory for the events of worker %u", index);
        goto fail_line;
    }
    atomic_store_explicit(&worker->line->index, index, memory_order_relaxed);
    status = cohort__worker_create_stacks(worker);
    if (status != COHORT_OK)
        goto fail_stacks;
    *ret_worker = worker;
    return COHORT_OK;
fail_stacks:
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, worker->line);
fail_line:
    cohort__deque_fini(&worker->deque);
fail:
    free(worker);
    return status;
}

static void worker_destroy(struct cohort__worker *worker)
{
    cohort__worker_destroy_stacks(worker);
    cohort__ledger_give_back(COHORT__LEDGER_WORKERS, worker->line);
    cohort__deque_fini(&worker->deque);
    free(worker);
}

/* To be called when the threads have ended. */
static void fini(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    for (unsigned i = 0; i < s->num_workers; i++) {
        num_past_started += atomic_load(&s->workers[i]->num_spawned);
        num_past_ended += atomic_load(&s->workers[i]->num_finished);
        worker_destroy(s->workers[i]);
    }
    free(s->workers);
    s->workers = NULL;
    s->num_workers = 0;
    s->num_threads = 0;
    cohort__pinning_destroy(s->pinning);
    s->pinning = NULL;
    cohort__crash_unwatch();
    atomic_store(&is_taken, false);
}

static cohort_status check_options(const struct cohort__scheduler_options *options)
{
    if (options->num_workers < 1 || options->num_workers > COHORT__MAX_WORKERS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "scheduler: %u workers, not 1 to %d",
                           options->num_workers, COHORT__MAX_WORKERS);
    if (options->stack_bytes < COHORT__MIN_STACK_BYTES)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "scheduler: stacks of %zu bytes, not of at least %d",
                           options->stack_bytes, COHORT__MIN_STACK_BYTES);
    if (options->spin_ns > COHORT__SPIN_MAX_NS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "scheduler: %llu ns of spinning, not at most %d",
                           (unsigned long long)options->spin_ns, COHORT__SPIN_MAX_NS);
    if (options->blocking_threads < 1 || options->blocking_threads > COHORT__MAX_BLOCKING_THREADS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "scheduler: %u blocking threads, not 1 to %d",
                           options->blocking_threads, COHORT__MAX_BLOCKING_THREADS);
    return COHORT_OK;
}

static void reset(const struct cohort__scheduler_options *options,
                  const struct cohort__scheduler_hooks *hooks)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    s->options = *options;
    s->hooks = hooks ? *hooks : *cohort__plain_loop_hooks();
    s->num_workers = 0;
    s->num_threads = 0;
    atomic_store(&s->tasks_move, options->tasks_move);
    atomic_store(&s->is_closed, false);
    atomic_store(&s->is_stopping, false);
    atomic_store(&s->may_go, 0);
    atomic_store(&s->num_foreign_spawned, 0);
    atomic_store(&s->alone, NULL);
    num_past_started = num_past_ended = 0;
    atomic_store(&s->token, 0);
    atomic_store(&s->num_searching, 0);
    atomic_store(&s->num_sleeping, 0);
    atomic_store(&s->num_chores, 0);
    s->chores = (struct cohort__fifo){0};
    atomic_store(&s->uses_lanes, false);
}

static cohort_status create_workers(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    s->workers = calloc(s->options.num_workers, sizeof(struct cohort__worker *));
    if (!s->workers)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "scheduler: no memory for %u workers",
                           s->options.num_workers);
    for (unsigned i = 0; i < s->options.num_workers; i++) {
        cohort_status status = worker_create(&s->workers[i], i);
        if (status != COHORT_OK)
            return status;
        s->num_workers++;
    }
    return COHORT_OK;
}

static cohort_status start_threads(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    for (unsigned i = 1; i < s->num_workers; i++) {
        cohort_status status = thread_start(s->workers[i]);
        if (status == COHORT_OK)
            continue;
        if (s->options.fewer_will_do) {
            cohort__log(COHORT__LOG_WARN, "%s; going on with %u of %u workers",
                        cohort_error_message(), i, s->num_workers);
            while (s->num_workers > i)
                worker_destroy(s->workers[--s->num_workers]);
            break;
        }
        atomic_store(&s->is_stopping, true);
        join_threads(i - 1);
        return status;
    }
    s->num_threads = s->num_workers;
    return COHORT_OK;
}

/* After the workers' threads. */
static cohort_status start_progress(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    cohort_status status = cohort__progress_start();
    if (status != COHORT_OK) {
        atomic_store(&s->is_stopping, true);
        join_threads(s->num_workers - 1);
    }
    return status;
}

cohort_status cohort__scheduler_start(const struct cohort__scheduler_options *options,
                                      const struct cohort__scheduler_hooks *hooks)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    cohort_status status = check_options(options);
    if (status == COHORT_OK)
        status = cohort__fork_watch();
    if (status != COHORT_OK)
        return status;
    if (atomic_exchange(&is_taken, true))
        return cohort_fail(COHORT_ERR_STATE, "scheduler: one is up already");
    reset(options, hooks);
    status = create_workers();
    if (status == COHORT_OK && options->pin)
        status = cohort__pinning_create(&s->pinning);
    if (status == COHORT_OK)
        status = start_threads();
    if (status == COHORT_OK && options->progress_thread)
        status = start_progress();
    if (status != COHORT_OK) {
        fini();
        return status;
    }
    cohort__crash_watch();
    cohort__scheduler_completer_begin();
    atomic_store(&s->is_up, true);
    return COHORT_OK;
}

/* --- run and stop --- */

/* WORK was submitted from outside at the last moment, and will not run as usual. A task is
 * cancelled; other work is run now. */
static void cancel(struct cohort__work *work)
{
    if (work->run == cohort__task_run)
        cohort__task_cancel(work);
    else
        work->run(work);
}

static void cancel_list(struct cohort__batch_queue_node *node)
{
    while (node) {
        struct cohort__batch_queue_node *next = node->next;
        cancel(cohort__work_of(node));
        node = next;
    }
}

static void cancel_what_is_left(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    cancel_list(cohort__batch_queue_take(&s->injected));
    cancel_list(s->chores.first);
    for (int i = 0; i < COHORT__NUM_PRIORITIES; i++) {
        cancel_list(s->lanes[i].works.first);
        s->lanes[i].works = (struct cohort__fifo){0};
        atomic_store(&s->lanes[i].num, 0);
    }
    for (unsigned i = 0; i < s->num_workers; i++) {
        struct cohort__work *work;
        while ((work = cohort__deque_pop(&s->workers[i]->deque)))
            cancel(work);
        cancel_list(cohort__batch_queue_take(&s->workers[i]->inbox));
        cancel_list(s->workers[i]->ready.first);
    }
}

cohort_status cohort__scheduler_run(void)
{
    struct cohort__scheduler *s = &cohort__scheduler;
    if (!atomic_load(&s->is_up) || cohort__worker_self)
        return cohort_fail(COHORT_ERR_STATE, "scheduler: run before start, or in a task");
    struct cohort__worker *worker = s->workers[0];
    cohort_status status = cohort__fiber_adopt(&worker->own_fiber);
    if (status != COHORT_OK)
        cohort__scheduler_stop();
    atomic_store(&s->may_go, 1);
    cohort__futex_wake(&s->may_go);
    if (status == COHORT_OK) {
        become(worker);
        cohort__worker_run(worker);
        cease(worker);
    }
    join_threads(s->num_workers - 1);
    cohort__blocking_end();
    if (cohort__progress_is_on())
        cohort__progress_end();
    is_ender = true;
    atomic_store(&s->is_up, false);
    unsigned num_yields = 0;
    while (atomic_load(&s->num_foreign) != 0)
        cohort__core_yield(&num_yields);
    cancel_what_is_left();
    if (s->hooks.poll == cohort__plain_loop_hooks()->poll)
        cohort__plain_loop_fini();
    cohort__scopes_tell_lost();
    cohort__scheduler_completer_end();
    fini();
    return status;
}

void cohort__scheduler_stop(void)
{
    bool is_foreign = !cohort__worker_self;
    if (!is_foreign || cohort__foreign_enter()) {
        atomic_store(&cohort__scheduler.is_stopping, true);
        cohort__idle_wake_all();
    }
    if (is_foreign)
        cohort__foreign_leave();
}
