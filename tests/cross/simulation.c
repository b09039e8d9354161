/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cross/simulation.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/error.h"
#include "runtime/base/random.h"
#include "runtime/task/worker.h"
#include "tests/support/scarce.h"

const struct means simulation_means = {
    .has_places = true, .has_deaths = true, .has_shortages = true};

/* The clock ---------------------------------------------------------------------------------- */

enum {
    LOOK_NANOSECONDS = 20,
    IDLE_TURNS = 4,           /* so long time goes on by looks only */
    MOST_IDLE_DOUBLINGS = 10, /* of a microsecond: then a millisecond a turn */
};

/* Later than any time that is 0 for "never yet". */
static uint64_t now = UINT64_C(1000000000);
static uint32_t num_idle;

uint64_t simulation_time(void)
{
    return now;
}

void simulation_turned(bool any)
{
    num_idle = any ? 0 : num_idle + 1;
    if (num_idle <= IDLE_TURNS)
        return;
    uint32_t doublings = num_idle - IDLE_TURNS;
    now += UINT64_C(1000) << (doublings < MOST_IDLE_DOUBLINGS ? doublings : MOST_IDLE_DOUBLINGS);
}

uint64_t __wrap_cohort__clock_now(void)
{
    return now += LOOK_NANOSECONDS;
}

uint64_t __wrap_cohort__clock_cycles(void)
{
    return cohort__clock_cycles_of(__wrap_cohort__clock_now());
}

uint64_t __wrap_cohort__clock_after(uint64_t nanoseconds)
{
    uint64_t begin = __wrap_cohort__clock_now();
    return nanoseconds > UINT64_MAX - begin ? UINT64_MAX : begin + nanoseconds;
}

/* For libuv, and for whoever else asks. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time)
{
    *time = (struct timespec){.tv_sec = (time_t)(now / 1000000000),
                              .tv_nsec = (long)(now % 1000000000)};
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    memset(usage, 0, sizeof(*usage));
    return 0;
}

/* Threads ------------------------------------------------------------------------------------ */

enum { MOST_THREADS = 64, STACK_BYTES = 1 << 18 };

static struct thread {
    ucontext_t context;
    void *(*function)(void *arg);
    void *arg;
    struct cohort__error error;
    bool has_ended;
} threads[MOST_THREADS];
static uint32_t num_threads;
static bool plays_threads;
static struct thread *running;
static struct thread *waiting; /* in the middle of a function: no other one is begun meanwhile */
static ucontext_t outside;

int __real_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                          void *(*function)(void *arg), void *arg);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
long __real_syscall(long number, ...);

static void thread_main(void)
{
    (void)running->function(running->arg);
    cohort__error_fini(&running->error);
    running->has_ended = true;
    swapcontext(&running->context, &outside);
}

static void resume(struct thread *thread)
{
    struct cohort__worker *worker = cohort__worker_self;
    if (thread->has_ended)
        return;
    running = thread;
    cohort__worker_self = NULL;
    struct cohort__error *slot = cohort__error_slot_set(&thread->error);
    swapcontext(&outside, &thread->context);
    cohort__error_slot_set(slot);
    cohort__worker_self = worker;
    running = NULL;
}

/* In the middle of a function. */
static void let_others_run(void)
{
    struct thread *thread = running;
    waiting = thread;
    swapcontext(&thread->context, &outside);
    waiting = NULL;
}

/* Whether the kernel lets others run has nothing to do with this clock, and the worker has nobody
 * to wait for. */
int sched_yield(void)
{
    if (running)
        let_others_run();
    return 0;
}

/* Who waits for a futex looks at its word again. No other call here has more than five arguments,
 * which are in registers, however many there are. */
long __wrap_syscall(long number, ...)
{
    long args[6] = {0};
    va_list list;
    va_start(list, number);
    for (int i = 0; i < (number == SYS_futex ? 6 : 5); i++)
        args[i] = va_arg(list, long);
    va_end(list);
    if (!running || number != SYS_futex || (args[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
        return __real_syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
    const struct timespec *until = (const struct timespec *)args[3];
    let_others_run();
    if (!until || now < (uint64_t)until->tv_sec * 1000000000 + (uint64_t)until->tv_nsec)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

/* Only the test's own program does so before. */
int __wrap_pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                          void *(*function)(void *arg), void *arg)
{
    if (!plays_threads)
        return __real_pthread_create(ret_thread, attributes, function, arg);
    struct thread *thread = &threads[num_threads];
    if (num_threads == MOST_THREADS)
        return EAGAIN;
    scarce_pause();
    void *stack = malloc(STACK_BYTES);
    scarce_go_on();
    if (!stack)
        return EAGAIN;
    *thread = (struct thread){.function = function, .arg = arg};
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = stack;
    thread->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&thread->context, thread_main, 0);
    *ret_thread = (pthread_t)num_threads++;
    return 0;
}

/* Of those above. */
int __wrap_pthread_join(pthread_t number, void **ret_value)
{
    struct thread *thread = &threads[number];
    while (!thread->has_ended)
        resume(thread);
    free(thread->context.uc_stack.ss_sp);
    return 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!running)
        return __real_pthread_cond_wait(condition, mutex);
    pthread_mutex_unlock(mutex);
    swapcontext(&running->context, &outside);
    return pthread_mutex_lock(mutex);
}

bool __wrap_cohort__blocking_is_self(void)
{
    return running != NULL;
}

/* The order ---------------------------------------------------------------------------------- */

/* What a task does next, and what comes of a message, is decided by when they run. Any worker may
 * take any work, at any time: so whatever order is drawn here may come about with several. */

enum { MOST_HELD = 8, HOLD_ONE_IN = 3, POLL_ONE_IN = 4 };

static struct cohort__work *held[MOST_HELD];
static uint32_t num_held;
static struct cohort__random draws; /* of the order */
static bool is_on;

struct cohort__work *__real_cohort__worker_next(struct cohort__worker *worker);
struct cohort__work *__real_cohort__worker_next_if(struct cohort__worker *worker,
                                                   void (*run)(struct cohort__work *work));

void simulation_begin(uint64_t seed)
{
    is_on = seed > 0;
    plays_threads = true;
    draws = cohort__random_seeded(seed);
}

void simulation_end(void)
{
    is_on = false;
}

uint64_t simulation_draw(uint64_t limit)
{
    return is_on ? cohort__random_below(&draws, limit) : 0;
}

static struct cohort__work *take_held(void)
{
    uint32_t at = (uint32_t)cohort__random_below(&draws, num_held);
    struct cohort__work *work = held[at];
    held[at] = held[--num_held];
    return work;
}

struct cohort__work *__wrap_cohort__worker_next(struct cohort__worker *worker)
{
    if (num_threads > 0 && !running)
        resume(waiting ? waiting : &threads[cohort__random_below(&draws, num_threads)]);
    if (is_on && cohort__random_below(&draws, POLL_ONE_IN) == 0)
        cohort__scheduler_poll_next();
    if (!is_on && num_held > 0)
        return take_held();
    for (;;) {
        struct cohort__work *work = __real_cohort__worker_next(worker);
        if (!is_on || (!work && num_held == 0))
            return work;
        if (!work || num_held == MOST_HELD) {
            struct cohort__work *other = take_held();
            if (work)
                held[num_held++] = work;
            return other;
        }
        if (cohort__random_below(&draws, HOLD_ONE_IN) > 0)
            return work;
        held[num_held++] = work;
    }
}

/* What is ready is taken by the loop, too, and so may be held back. */
struct cohort__work *__wrap_cohort__worker_next_if(struct cohort__worker *worker,
                                                   void (*run)(struct cohort__work *work))
{
    return is_on && cohort__random_below(&draws, 2) ? NULL
                                                    : __real_cohort__worker_next_if(worker, run);
}
