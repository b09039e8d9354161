/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cohort/job.h"
#include "runtime/base/error.h"
#include "runtime/base/options.h"
#include "runtime/job/main.h"
#include "runtime/task/blocking.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/worker.h"

/* The runtime in a program that keeps its thread. A thread of ours does what a call of cohort_main
 * does. Its program awaits a future that cohort_stop completes, and so the rest, the start, the
 * drain and the end, is that of cohort_main. */

enum stage { OUTSIDE, STARTING, UP, STOPPING };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum stage stage;
    bool has_begun; /* the run that was started: its program */
    bool is_over;   /* it has returned */
    pthread_t thread;
    uint32_t workers;
    cohort_promise *stop;
    cohort_future *stopped;
    cohort_status status;       /* what the run has returned */
    struct cohort__error error; /* its message */
} embedded = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* --- the thread --- */

/* As the program of the run. */
static cohort_status wait_for_stop(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&embedded.lock);
    embedded.has_begun = true;
    cohort_future *stopped = embedded.stopped;
    pthread_cond_signal(&embedded.changed);
    pthread_mutex_unlock(&embedded.lock);
    return cohort_await(stopped);
}

static void *thread_main(void *arg)
{
    bool is_launched;
    cohort_status status = cohort__run(
        &(struct cohort__run_options){.program = wait_for_stop,
                                      .shown = (cohort__any_function *)cohort_start_sized,
                                      .workers = embedded.workers,
                                      .may_return = true},
        &is_launched);
    pthread_mutex_lock(&embedded.lock);
    embedded.status = status;
    if (status)
        cohort__error_copy(&embedded.error, cohort__error_slot());
    embedded.is_over = true;
    pthread_cond_signal(&embedded.changed);
    pthread_mutex_unlock(&embedded.lock);
    return arg;
}

/* It takes the signals that the calling thread takes, and those that a thread of ours causes. The
 * threads that this one starts inherit that, and so do the programs that tasks start. */
static int start_thread(void)
{
    static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t caused, before;
    sigemptyset(&caused);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigaddset(&caused, own[i]);
    pthread_sigmask(SIG_UNBLOCK, &caused, &before);
    int error = pthread_create(&embedded.thread, NULL, thread_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* --- start --- */

/* The status of the run that is over, with its message. */
static cohort_status take_result(void)
{
    pthread_join(embedded.thread, NULL);
    cohort_status status = embedded.status;
    if (status)
        cohort__error_copy(cohort__error_slot(), &embedded.error);
    cohort__error_fini(&embedded.error);
    return status;
}

static void set_stage(enum stage stage)
{
    pthread_mutex_lock(&embedded.lock);
    embedded.stage = stage;
    pthread_mutex_unlock(&embedded.lock);
}

/* Another start may come. */
static void end(void)
{
    set_stage(OUTSIDE);
    cohort__run_release();
}

/* Nobody is to stop it any more. */
static void drop_promise(void)
{
    cohort_promise_fulfil(embedded.stop, NULL);
    cohort_future_unref(embedded.stopped);
}

static cohort_status begin(void)
{
    embedded.has_begun = embedded.is_over = false;
    cohort_status status = cohort_promise_create(&embedded.stop, &embedded.stopped);
    if (status) {
        cohort__run_refuse();
        return status;
    }
    embedded.stopped->about = COHORT__WAIT_OUTSIDE; /* the job goes on by itself */
    int error = start_thread();
    if (error) {
        drop_promise();
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_start: no thread: %s", strerror(error));
        cohort__run_refuse();
        return status;
    }
    pthread_mutex_lock(&embedded.lock);
    while (!embedded.has_begun && !embedded.is_over)
        pthread_cond_wait(&embedded.changed, &embedded.lock);
    bool has_begun = embedded.has_begun;
    pthread_mutex_unlock(&embedded.lock);
    if (has_begun)
        return COHORT_OK;
    drop_promise();
    return take_result();
}

cohort_status cohort_start_sized(const cohort_start_options *options, size_t options_bytes)
{
    cohort_start_options read = {0};
    cohort_status status = COHORT_OK;
    if (options)
        status = cohort__options_read(&read, sizeof(read), options, options_bytes, "cohort_start");
    if (!status && read.workers > COHORT__MAX_WORKERS)
        status = cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_start: %u workers, not at most %d",
                             (unsigned)read.workers, COHORT__MAX_WORKERS);
    if (!status)
        status = cohort__run_claim("cohort_start");
    if (status)
        return status;
    embedded.workers = read.workers;
    set_stage(STARTING);
    status = begin();
    if (status)
        end();
    else
        set_stage(UP);
    return status;
}

/* --- stop --- */

/* Those that the end waits for. */
static bool is_runtimes_own_thread(void)
{
    return cohort__worker_self || cohort__progress_is_self() || cohort__blocking_is_self();
}

static cohort_status enter_stop(void)
{
    static const char *const why[] = {
        [OUTSIDE] = "cohort_start has not started the runtime, or it was stopped already",
        [STARTING] = "cohort_start has not returned yet",
        [STOPPING] = "it was called already, and has not returned yet",
    };
    if (cohort__fork_is_child())
        return cohort__fork_refuse("cohort_stop");
    if (is_runtimes_own_thread())
        return cohort_fail(COHORT_ERR_STATE,
                           "cohort_stop: called by a thread of the runtime (a task, a function of "
                           "cohort_blocking or of the loop), for whose end it waits");
    pthread_mutex_lock(&embedded.lock);
    enum stage stage = embedded.stage;
    if (stage == UP)
        embedded.stage = STOPPING;
    pthread_mutex_unlock(&embedded.lock);
    return stage == UP ? COHORT_OK : cohort_fail(COHORT_ERR_STATE, "cohort_stop: %s", why[stage]);
}

cohort_status cohort_stop(cohort_status status)
{
    struct cohort__error error = {0};
    if (status && cohort__error_slot()->status == status)
        cohort__error_copy(&error, cohort__error_slot());
    cohort_status refused = enter_stop();
    if (refused) {
        cohort__error_fini(&error);
        return refused;
    }
    cohort__scheduler_close();
    if (status)
        cohort_promise_fail(embedded.stop, status, "%s",
                            error.status ? cohort__error_message(&error)
                                         : "the program has failed");
    else
        cohort_promise_fulfil(embedded.stop, NULL);
    cohort__error_fini(&error);
    status = take_result();
    end();
    return status;
}
