/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/main.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cohort/job.h"
#include "runtime/base/bounds.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/cores.h"
#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/fault.h"
#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/io/object.h"
#include "runtime/job/contact.h"
#include "runtime/job/settings.h"
#include "runtime/job/stats.h"
#include "runtime/job/tool.h"
#include "runtime/job/transport.h"
#include "runtime/launch/bootstrap.h"
#include "runtime/launch/inheritance.h"
#include "runtime/loop/guest.h"
#include "runtime/loop/loop.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"
#include "runtime/remote/functions.h"
#include "runtime/remote/memory.h"
#include "runtime/remote/tasks.h"
#include "runtime/task/callbacks.h"
#include "runtime/task/fork.h"
#include "runtime/task/inputs.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/stack.h"
#include "runtime/task/task.h"

/* Abort --------------------------------------------------------------------------------------- */

enum { MOST_BYTES = 4000 };

/* Who aborts keeps it locked until the process has ended: a second one waits for that. */
static pthread_mutex_t abort_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cohort__bootstrap *aborted_through;

/* From now on cohort_abort tells the launcher through BOOTSTRAP. NULL: it tells nobody; to be
 * called before the bootstrap is destroyed. Does not return if another thread aborts the job just
 * then. */
static void abort_through(struct cohort__bootstrap *bootstrap)
{
    pthread_mutex_lock(&abort_lock);
    aborted_through = bootstrap;
    pthread_mutex_unlock(&abort_lock);
}

/* A thread that prints just now may never end that. */
static void flush(FILE *file)
{
    if (ftrylockfile(file))
        return;
    fflush(file);
    funlockfile(file);
}

void cohort_abort(int code, const char *reason)
{
    char line[MOST_BYTES + 1];
    int status = code >= 1 && code <= 255 ? code : 1;
    bool is_child = cohort__fork_is_child(); /* its copy of the lock may be taken for ever */
    snprintf(line, sizeof(line), "%s", reason ? reason : "no reason given");
    if (!is_child)
        pthread_mutex_lock(&abort_lock);
    flush(stdout);
    if (is_child || !aborted_through || !cohort__bootstrap_abort(aborted_through, status, line)) {
        char head[300];
        int bytes =
            snprintf(head, sizeof(head),
                     "%.200s: aborted with status %d: ", program_invocation_short_name, status);
        const struct iovec parts[] = {{head, (size_t)bytes}, {line, strlen(line)}, {"\n", 1}};
        (void)!writev(STDERR_FILENO, parts, 3);
    }
    _exit(status);
}

/* Creates the layers from bottom to top, runs the program, and destroys the layers when the job has
 * drained. */

/* So often we look for what is late: calls that stall, links that are quiet or broken. All of that
 * counts in seconds, so a tenth of one is exact enough, and costs an idle job little; it gets rarer
 * where nothing else comes (loop/loop.c). */
enum { TICK_NANOSECONDS = 100000000 };

struct job {
    const struct cohort__run_options *options;
    struct cohort__settings settings;
    struct cohort__loop *loop;
    struct cohort__bootstrap *bootstrap;
    struct cohort__process *process;
    struct cohort__net *net;          /* NULL if the job has only one locality */
    struct cohort__loop_request more; /* of the process */
    _Atomic bool is_more_asked;
    struct cohort__fault fault;
    struct cohort__stats stats;
    char lost[300];       /* why the launcher is; empty: it is not */
    bool has_begun;       /* the program, as a task */
    cohort_status status; /* what the program has returned */
};

/* The program may ask until the process ends, also in callbacks that come when the layers have
 * gone. */
static atomic_uint this_locality, num_localities = 1;

/* Handlers of the bootstrap ------------------------------------------------------------------- */

static void on_count_asked(void *context, uint64_t round)
{
    struct job *job = context;
    struct cohort__process_traffic traffic = cohort__process_traffic(job->process);
    /* Others may call remote tasks here, which may start tasks, after the program has returned. */
    bool busy = traffic.busy || cohort__scheduler_live_tasks() > 0;
    cohort__bootstrap_report_counts(job->bootstrap, round, traffic.sent, traffic.received, busy);
}

static void on_exit_allowed(void *context)
{
    (void)context;
    cohort__scheduler_stop();
}

/* The launcher's text begins with the locality's name. It is removed, since the name is added
 * later. */
static void on_died(void *context, uint32_t rank, uint32_t order, const char *text)
{
    struct job *job = context;
    char name[32];
    int bytes = snprintf(name, sizeof(name), "locality %u ", (unsigned)rank);
    if (strncmp(text, name, (size_t)bytes) == 0)
        text += bytes;
    struct cohort__death death = {.rank = rank, .order = order};
    cohort__death_set_why(&death, text, strlen(text));
    if (job->process)
        cohort__process_death_told(job->process, &death);
}

static void on_returned(void *context, const char *text)
{
    struct job *job = context;
    if (job->process)
        cohort__registry_returned(cohort__process_registry(job->process), text);
}

static bool ask_returned(void *context)
{
    const struct job *job = context;
    return cohort__bootstrap_ask_returned(job->bootstrap);
}

static void on_launcher_lost(void *context, const char *text)
{
    struct job *job = context;
    char why[600];
    if (!job->process)
        return;
    snprintf(job->lost, sizeof(job->lost), "%s", text);
    snprintf(why, sizeof(why), "is out of reach: %s", text);
    for (uint32_t rank = 0; rank < cohort__process_size(job->process); rank++) {
        struct cohort__death death = {.rank = rank}; /* there is nobody left to accuse them */
        cohort__death_set_why(&death, why, strlen(why));
        cohort__process_death_told(job->process, &death);
    }
}

static void on_accused(void *context, uint32_t rank, bool at_fault, const char *why)
{
    const struct job *job = context;
    cohort__bootstrap_accuse(job->bootstrap, rank, at_fault, why);
}

static void on_broken(void *context, const char *why)
{
    const struct job *job = context;
    cohort__bootstrap_broken(job->bootstrap, why);
}

static void on_more(void *context)
{
    struct job *job = context;
    if (!atomic_exchange(&job->is_more_asked, true))
        cohort__loop_request(job->loop, &job->more);
}

/* Also at the very end, where the loop runs what is left over. */
static void do_more(struct cohort__loop *loop, struct cohort__loop_request *request)
{
    struct job *job = COHORT_CONTAINER_OF(request, struct job, more);
    (void)loop;
    atomic_store(&job->is_more_asked, false);
    if (job->process && cohort__process_go_on(job->process))
        on_more(job);
}

static void on_letter_out(void *context, const void *data, size_t bytes)
{
    const struct job *job = context;
    cohort__bootstrap_send_letter(job->bootstrap, data, bytes);
}

static void on_letter_in(void *context, const void *data, size_t bytes)
{
    const struct job *job = context;
    if (job->process)
        cohort__registry_message(cohort__process_registry(job->process), COHORT__HOME_LAUNCHER,
                                 data, bytes);
}

/* Start --------------------------------------------------------------------------------------- */

static void tick(void *context)
{
    struct job *job = context;
    cohort__process_tick(job->process, cohort__clock_now());
    cohort__ledger_tick(cohort__scheduler_moved(), cohort__scheduler_live_tasks(),
                        cohort__loop_has_guests(job->loop));
    cohort__inputs_tick();
    cohort__trace_tick();
    cohort__stats_tick(&job->stats, job->process);
}

static unsigned cores_each(const struct job *job)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(job->bootstrap);
    const struct cohort__binding *binding = &told->binding;
    uint32_t sharing = told->sharing;
    if (binding->sharing == 0)
        return cohort__cores_each(sharing, told->may_bind);
    /* The quota is that of all. */
    unsigned bound = cohort__cores_each(binding->sharing, false);
    unsigned paid = cohort__cores_quota("") / sharing;
    return bound < paid ? bound : paid;
}

/* 0: nobody has said how many. */
static unsigned workers_asked_for(const struct job *job)
{
    unsigned told = cohort__bootstrap_job(job->bootstrap)->workers;
    return told ? told : job->settings.workers ? job->settings.workers : job->options->workers;
}

/* If nobody has said how many, this locality's share of the cores. */
static unsigned num_workers(const struct job *job)
{
    unsigned num = workers_asked_for(job);
    if (num == 0)
        num = cores_each(job);
    return num < 1 ? 1 : num > COHORT__MAX_WORKERS ? COHORT__MAX_WORKERS : num;
}

/* Whether there are more workers and progress threads than cores on this host, so that they take
 * turns. */
static bool shares_cores(const struct job *job)
{
    return num_workers(job) + job->settings.progress_thread > cores_each(job);
}

static struct cohort__word levels_said(const struct job *job)
{
    return (struct cohort__word){job->settings.levels, strlen(job->settings.levels)};
}

/* Creates the transport, and learns where the others are. */
static cohort_status connect_peers(struct job *job)
{
    struct cohort__net_handlers handlers = cohort__process_net_handlers(job->process);
    cohort_status status = cohort__transport_create(&job->net, job->bootstrap, &job->settings,
                                                    shares_cores(job), &handlers);
    if (status)
        return status;
    cohort__process_attach_net(job->process, job->net);
    struct cohort__position position;
    status = cohort__position_find(job->bootstrap, &job->settings.topology, &position);
    if (!status)
        status = cohort__contacts_exchange(job->bootstrap, &position, levels_said(job),
                                           job->process, job->net);
    return status ? status : cohort__loop_add_poller(job->loop, &job->net->poller);
}

/* A job of one locality. */
static cohort_status stay_alone(struct job *job)
{
    struct cohort__word levels = levels_said(job);
    cohort_status status = cohort__bootstrap_exchange(job->bootstrap, "", 0);
    return status ? status : cohort__positions_name_levels(job->process, &levels);
}

static void scheduler_options(const struct job *job, struct cohort__scheduler_options *options)
{
    cohort__scheduler_options_init(options);
    options->num_workers = num_workers(job);
    options->fewer_will_do = workers_asked_for(job) == 0;
    options->stack_bytes = job->settings.stack;
    options->tasks_move = job->settings.tasks_move;
    options->progress_thread = job->settings.progress_thread;
    options->blocking_threads = job->settings.blocking_threads;
    /* If another locality or thread needs the core, spinning only delays the work that this worker
     * waits for. */
    if (job->settings.spin >= 0)
        options->spin_ns = (uint64_t)job->settings.spin;
    else if (shares_cores(job))
        options->spin_ns = 0;
    cohort__log(COHORT__LOG_DEBUG, "locality %u: %u workers%s, cores each: %u, spinning: %llu us",
                (unsigned)cohort__bootstrap_job(job->bootstrap)->rank, options->num_workers,
                options->progress_thread ? " and a progress thread" : "", cores_each(job),
                (unsigned long long)options->spin_ns / 1000);
}

/* Only now is it known that this process is the locality, and not one that the locality's command
 * has started before. */
static void begin_ledger(const struct job *job)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(job->bootstrap);
    if (told->has_launcher && cohort__ledger_inherit())
        cohort__log(COHORT__LOG_WARN, "%s; its launcher can't show what it waits for",
                    cohort_error_message());
    cohort__ledger_introduce(told->rank, told->size, told->key, told->epoch);
}

/* The trace and the counters, which use the same hooks. Jobs that the program starts would write
 * the same files. */
static cohort_status begin_trace(struct job *job)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(job->bootstrap);
    unsetenv("COHORT_TRACE");
    unsetenv("COHORT_STATS");
    if (!*job->settings.trace && !*job->settings.stats)
        return COHORT_OK;
    cohort_status status = cohort__trace_begin(&(struct cohort__trace_options){
        .file = *job->settings.trace ? job->settings.trace : NULL,
        .most_bytes = job->settings.trace_bytes,
        .key = told->key,
        .epoch = told->epoch,
        .rank = told->rank,
        .size = told->size,
    });
    if (status)
        return status;
    return cohort__stats_begin(&job->stats, &(struct cohort__stats_options){
                                                .setting = job->settings.stats,
                                                .loop = job->loop,
                                                .rank = told->rank,
                                                .size = told->size,
                                                .has_launcher = told->has_launcher,
                                            });
}

/* The last locality that ends makes the trace: each asks for it. */
static void join_trace(char *file)
{
    char command[PATH_MAX];
    if (!cohort__tool_find("cohort-trace", getenv("PATH"), command)) {
        fprintf(stderr,
                "cohort: COHORT_TRACE: cohort-trace is neither beside libcohort nor in PATH; "
                "'cohort-trace join %s' makes the trace\n",
                file);
        return;
    }
    char join[] = "join", closed[] = "--closed";
    char *arguments[] = {command, join, closed, file, NULL};
    cohort__tool_run(command, arguments);
}

/* cohortrun makes the trace when all have ended. Without it (PMIx, or a program that was started
 * alone) the program has to. */
static void end_trace(struct job *job)
{
    if (cohort__trace_end() && !cohort__bootstrap_job(job->bootstrap)->joins_traces)
        join_trace(job->settings.trace);
}

/* What COHORT_FAULT wants of this locality. *RET_FAULT is NULL if it wants nothing of anybody. */
static cohort_status draw_faults(struct job *job, const struct cohort__fault **ret_fault)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(job->bootstrap);
    job->fault.rank = told->rank;
    job->fault.plan = job->settings.fault;
    if (cohort__fault_plan_is_empty(&job->fault.plan))
        return COHORT_OK;
    cohort_status status = cohort__fault_plan_draw(&job->fault.plan, told->size);
    if (status)
        return cohort_fail(status, "environment variable COHORT_FAULT: %s", cohort_error_message());
    if (cohort__alloc_fault_is_wanted(&job->fault)) {
        if (!cohort__alloc_can_fail)
            return cohort_fail(COHORT_ERR_NOT_SUPPORTED,
                               "environment variable COHORT_FAULT: allocations can't fail in a "
                               "program that is linked with libcohort.a instead of libcohort.so");
        cohort__slab_use_malloc();
    }
    *ret_fault = &job->fault;
    return COHORT_OK;
}

/* Who is who, and what the user wants. */
static cohort_status begin(struct job *job, const struct cohort__fault **ret_fault)
{
    job->more.run = do_more;
    cohort_status status = cohort__inheritance_renew();
    if (!status && job->options->may_return)
        cohort__inheritance_keep();
    if (!status)
        status = cohort__loop_create(&job->loop);
    if (!status)
        status = cohort__bootstrap_create(&job->bootstrap, job->loop,
                                          &(struct cohort__bootstrap_handlers){
                                              .context = job,
                                              .count_asked = on_count_asked,
                                              .exit_allowed = on_exit_allowed,
                                              .died = on_died,
                                              .returned = on_returned,
                                              .letter = on_letter_in,
                                              .launcher_lost = on_launcher_lost,
                                          });
    abort_through(status ? NULL : job->bootstrap);
    if (!status)
        status = cohort__settings_read(&job->settings); /* a launcher can report errors now */
    if (!status)
        status = draw_faults(job, ret_fault);
    return status;
}

/* The others, and messages from and to them. */
static cohort_status connect_process(struct job *job, const struct cohort__fault *fault)
{
    const struct cohort__bootstrap_job *told = cohort__bootstrap_job(job->bootstrap);
    struct cohort__process_options options = {
        .rank = told->rank,
        .size = told->size,
        .job_key = told->key,
        .epoch = told->epoch,
        .eager_budget = job->settings.eager_budget,
        .accuse = told->tells_deaths ? on_accused : NULL,
        .letter = told->keeps_going ? on_letter_out : NULL,
        .broken = on_broken,
        .more = on_more,
        .launcher = job,
        .fault = fault,
    };
    cohort_status status = cohort__process_create(&job->process, &options);
    if (!status)
        cohort__registry_set_ask_returned(cohort__process_registry(job->process), ask_returned,
                                          job);
    if (!status)
        status = cohort__remote_tasks_create(job->process);
    if (!status)
        status = cohort__remote_memory_register();
    if (!status)
        status = options.size > 1 ? connect_peers(job) : stay_alone(job);
    if (!status)
        status = cohort__loop_every(job->loop, TICK_NANOSECONDS, tick, job);
    return status;
}

static cohort_status start_scheduler(struct job *job)
{
    struct cohort__scheduler_options options;
    struct cohort__scheduler_hooks hooks;
    scheduler_options(job, &options);
    cohort__loop_scheduler_hooks(job->loop, &hooks);
    return cohort__scheduler_start(&options, &hooks);
}

static cohort_status start(struct job *job)
{
    const struct cohort__fault *fault = NULL;
    cohort_status status = begin(job, &fault);
    if (status)
        return status;
    begin_ledger(job);
    status = begin_trace(job);
    if (status)
        return status;
    cohort__status_signal_watch(getenv("PATH"));
    cohort__bootstrap_set_grace(job->bootstrap, job->settings.grace);
    cohort__stack_use_guard(job->settings.stack_guard);
    status = connect_process(job, fault);
    if (!status)
        status = start_scheduler(job);
    if (status)
        return status;
    cohort__loop_attach(job->loop);
    cohort__process_set_current(job->process);
    atomic_store(&this_locality, cohort__bootstrap_job(job->bootstrap)->rank);
    atomic_store(&num_localities, cohort__bootstrap_job(job->bootstrap)->size);
    if (fault && cohort__alloc_fault_is_wanted(fault))
        cohort__alloc_fault_begin(fault);
    return COHORT_OK;
}

/* The program, and the end -------------------------------------------------------------------- */

/* Waits until all tasks that the program has left running have ended. Those that others start by
 * then may begin more. */
static void await_tasks(void)
{
    while (cohort__scheduler_live_tasks() > 1)
        if (cohort_await(cohort__scheduler_when_alone()))
            return;
}

static cohort_status run_program(void *context)
{
    struct job *job = context;
    struct cohort__error error = {0};
    cohort__ledger_enter_stage(COHORT__LEDGER_RUNNING, COHORT_OK);
    job->has_begun = true;
    job->status = job->options->program(job->options->arg);
    if (cohort__fork_is_child())
        return job->status; /* of a child process, which is no locality */
    if (job->status) {
        cohort__error_copy(&error, cohort__error_slot());
        if (error.status != job->status)
            cohort__error_set(&error, job->status, "the program returned %s (%d)",
                              cohort_status_name(job->status), (int)job->status);
        cohort__ledger_say(cohort__error_message(&error));
    }
    cohort__ledger_enter_stage(COHORT__LEDGER_RETURNED, job->status);
    if (job->status) {
        cohort__bootstrap_report_failure(job->bootstrap, cohort__error_message(&error));
    }
    await_tasks();
    if (!cohort__bootstrap_job(job->bootstrap)->tells_deaths)
        cohort__process_watch(job->process);
    cohort__bootstrap_finished(job->bootstrap);
    if (job->status)
        cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
    return job->status;
}

static void report_failure(struct job *job)
{
    cohort__ledger_say(cohort_error_message());
    if (job->bootstrap)
        cohort__bootstrap_report_failure(job->bootstrap, cohort_error_message());
    else
        cohort__bootstrap_refuse(cohort_error_message());
}

/* Makes output to the launcher's pipe appear line by line, as on a terminal, so that lines before
 * an abort are not lost. Where something was printed before, glibc from 2.37 on fills the buffer
 * that it has, without a look at lines, so it gets another. */
static void line_buffer_output(void)
{
    static char buffer[BUFSIZ];
    fflush(stdout);
    setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
}

/* Runs the workers until the job has drained. */
static cohort_status run(struct job *job)
{
    cohort_future *done = cohort__task_start_outside(run_program, job, job->options->shown);
    if (cohort_future_ready(done) && !job->has_begun) { /* no memory for the task */
        (void)!cohort_await(cohort_future_ref(done));
        report_failure(job);
        cohort__scheduler_stop();
    }
    cohort_status status = cohort__scheduler_run();
    if (status) {
        report_failure(job);
        cohort_future_unref(done);
        return status;
    }
    status = cohort_await(done); /* it is complete, so this only fetches status and message */
    if (!status && *job->lost) {
        status = cohort_fail(COHORT_ERR_NETWORK, "its launcher is out of reach: %s", job->lost);
        report_failure(job);
    }
    return status;
}

static void stop(struct job *job)
{
    cohort__status_signal_unwatch();
    cohort__alloc_fault_end();
    cohort__process_set_current(NULL);
    cohort__loop_attach(NULL);
    cohort__io_end();
    if (job->process)
        cohort__process_stop(job->process);
    if (job->net)
        cohort__loop_remove_poller(job->loop, &job->net->poller);
    cohort__net_destroy(job->net);
    cohort__stats_end(&job->stats, job->process);
    cohort__process_destroy(job->process);
    job->process = NULL;
    end_trace(job);
    abort_through(NULL);
    cohort__bootstrap_destroy(job->bootstrap);
    cohort__loop_destroy(job->loop);
}

/* --- one run at a time --- */

/* GONE: it has left a launcher's job, for good. FAILED: its start in such a job has failed. The
 * launcher, which has been told, ends the job. */
enum standing { OUTSIDE, INSIDE, GONE, FAILED };

static atomic_int standing = OUTSIDE;
static enum standing next_standing;

cohort_status cohort__run_claim(const char *function)
{
    static const char *const why[] = {
        [INSIDE] = "the runtime of this process is up already",
        [GONE] = "this process has left the job for which its launcher had started it, and can't "
                 "join another one",
        [FAILED] = "a start of this process has failed, with which its launcher ends the job",
    };
    int before = OUTSIDE;
    if (cohort__fork_is_child())
        return cohort__fork_refuse(function);
    if (atomic_compare_exchange_strong(&standing, &before, INSIDE))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_STATE, "%s: %s", function, why[before]);
}

/* Before a start: whether cohortrun waits for it. */
static bool has_cohortrun(void)
{
    return getenv("COHORT_CONTROL_FD") || cohort__inheritance_is_kept();
}

/* A start that has failed is not taken back: its welcome is used up, and the launcher knows. */
static enum standing standing_afterwards(const struct job *job, bool was_started, bool has_control)
{
    if (job->bootstrap ? cohort__bootstrap_job(job->bootstrap)->may_begin_again : !has_control)
        return OUTSIDE;
    if (was_started)
        return cohort__inheritance_is_kept() ? OUTSIDE : GONE;
    cohort__inheritance_drop();
    return FAILED;
}

void cohort__run_refuse(void)
{
    bool has_control = has_cohortrun();
    cohort__bootstrap_refuse(cohort_error_message());
    next_standing = standing_afterwards(&(struct job){0}, false, has_control);
}

void cohort__run_release(void)
{
    atomic_store(&standing, next_standing);
}

cohort_status cohort__run(const struct cohort__run_options *options, bool *ret_is_launched)
{
    cohort__descriptors_open_standard();
    cohort__remote_functions_seal();
    static struct job job; /* large; there is one at a time */
    memset(&job, 0, sizeof(job));
    job.options = options;
    bool has_control = has_cohortrun();
    cohort_status status = start(&job);
    bool was_started = !status;
    if (status)
        report_failure(&job);
    *ret_is_launched = job.bootstrap && cohort__bootstrap_job(job.bootstrap)->has_launcher;
    if (!status && *ret_is_launched && options->owns_output)
        line_buffer_output();
    if (!status)
        status = run(&job);
    struct cohort__error error = {0};
    if (status)
        cohort__error_copy(&error, cohort__error_slot());
    next_standing = standing_afterwards(&job, was_started, has_control);
    stop(&job);
    cohort__callbacks_cancel_all();
    cohort__remote_functions_unseal();
    cohort__ledger_enter_stage(COHORT__LEDGER_OVER, job.status);
    cohort__inputs_close();
    cohort__ledger_close();
    cohort__error_copy(cohort__error_slot(), &error);
    cohort__error_fini(&error);
    return status;
}

static void complain(char **argv)
{
    fprintf(stderr, "%s: %s\n", argv && argv[0] ? argv[0] : "cohort", cohort_error_message());
}

int cohort_main(int argc, char **argv, cohort_task_function *program, void *arg)
{
    (void)argc;
    bool is_launched = false; /* if it is not even begun, no launcher is told */
    cohort_status status = program
                               ? cohort__run_claim("cohort_main")
                               : cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_main: no program");
    if (!status) {
        status = cohort__run(&(struct cohort__run_options){.program = program,
                                                           .shown = (cohort__any_function *)program,
                                                           .arg = arg,
                                                           .owns_output = true},
                             &is_launched);
        cohort__run_release();
    }
    /* With a launcher, the launcher prints the message, once for the whole job. */
    if (status && !is_launched)
        complain(argv);
    return status ? 1 : 0;
}

uint32_t cohort_locality(void)
{
    return atomic_load(&this_locality);
}

uint32_t cohort_num_localities(void)
{
    return atomic_load(&num_localities);
}

uint32_t cohort_failed_localities(uint32_t *ret_ranks, uint32_t capacity)
{
    struct cohort__process *process = cohort__process_current();
    return process ? cohort__process_deaths(process, ret_ranks, capacity) : 0;
}

uint32_t cohort_num_workers(void)
{
    return cohort__scheduler_num_workers();
}
