/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: runs a job: sets it up, and handles all its events. */
#include "tools/cohortrun/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/child.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/signals.h"
#include "tools/cohortrun/descendants.h"
#include "tools/cohortrun/far_fetch.h"
#include "tools/cohortrun/far_trace.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"

static const uint64_t second_ns = 1000000000;

static void recount_over(void *context)
{
    struct job *job = context;
    cohort__launcher_resume(job->launcher);
}

static void output_ended(void *context, uint32_t rank, enum output_stream stream)
{
    (void)stream;
    struct job *job = context;
    job->localities[rank].num_outputs--;
    job_locality_changed(&job->localities[rank]);
}

static void output_taken(void *context, uint32_t rank, enum output_stream stream, size_t bytes)
{
    struct job *job = context;
    job_stall_moved(job);
    locality_output_taken(&job->localities[rank], stream, bytes);
}

static void output_drained(void *context)
{
    job_check_done(context);
}

static void output_failed(void *context, enum output_stream stream, int error)
{
    struct job *job = context;
    char text[128];
    snprintf(text, sizeof(text), "cannot write standard %s: %s",
             stream == OUTPUT_OUT ? "output" : "error", cohort__child_error_text(error));
    if (error == EPIPE)
        job_fail(job, 128 + SIGPIPE, NULL); /* as for a program that writes there itself */
    else
        job_fail(job, JOB_STATUS_FAILED, text);
}

static void forward(void *context, int signal)
{
    struct job *job = context;
    uint64_t now = cohort__clock_now();
    bool twice = signal == SIGINT && job->last_interrupt && now - job->last_interrupt < second_ns;
    if (signal == SIGINT)
        job->last_interrupt = now;
    job_tell_failure(job);
    if (job->launcher)
        cohort__launcher_stop_going(job->launcher); /* it is meant to end */
    if (job->stage == GATHERING) {
        job_fail(job, 128 + signal, NULL);
        return;
    }
    if (twice && far_trace_give_up(job->far_trace))
        return;
    if (twice && job->stage < KILLING) {
        if (job->status == 0)
            job->status = 128 + SIGINT;
        output_say(job->output, "interrupted twice, killing all localities");
        job_enter_stage(job, KILLING);
        return;
    }
    for (uint32_t rank = 0; rank < job->options->size; rank++)
        locality_signal(&job->localities[rank], signal);
}

/* Lists those that run: "0, 2-5". */
static void list_running(const struct job *job, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t rank = 0; rank < job->options->size && used < bytes; rank++) {
        uint32_t last = rank;
        if (job->localities[rank].guarded.end != GUARDED_RUNS)
            continue;
        while (last + 1 < job->options->size &&
               job->localities[last + 1].guarded.end == GUARDED_RUNS)
            last++;
        used += (size_t)snprintf(text + used, bytes - used, last > rank ? "%s%u-%u" : "%s%u",
                                 used > 0 ? ", " : "", (unsigned)rank, (unsigned)last);
        rank = last;
    }
}

/* SIGQUIT, which is Ctrl-\ in a terminal. */
static void show(void *context, int signal)
{
    (void)signal;
    struct job *job = context;
    char who[256];
    if (job->stage == GATHERING) {
        fleet_list_awaited(job->fleet, who, sizeof(who));
        output_say(job->output, "no answer so far from: %s", who);
    } else {
        job_status_show(job, NULL);
    }
}

static void end_late(struct job *job)
{
    job_fail(job, JOB_STATUS_TIMEOUT, NULL);
}

static void timed_out(void *context)
{
    struct job *job = context;
    char who[256];
    double seconds = (double)job->options->timeout_ns / (double)second_ns;
    if (far_trace_give_up(job->far_trace))
        return; /* all have ended in time */
    if (job->stage == GATHERING) {
        fleet_list_awaited(job->fleet, who, sizeof(who));
        output_say(job->output, "timeout after %g s, no answer from: %s", seconds, who);
    } else if (job->stage == RUNNING) {
        list_running(job, who, sizeof(who));
        output_say(job->output, "timeout after %g s, still running: %s %s", seconds,
                   strpbrk(who, ",-") ? "localities" : "locality", who);
        job_tell_failure(job);
        if (job->status == 0)
            job->status = JOB_STATUS_TIMEOUT; /* also if it ends by itself meanwhile */
        job_status_show(job, end_late);
        return;
    }
    end_late(job);
}

/* A job in the background of a terminal must not read what is typed there. The kernel would not
 * stop its localities, since they have left the terminal. */
static void guard_terminal(const struct job *job)
{
    if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp())
        dup2(job->null, STDIN_FILENO);
}

static cohort_status set_up(struct job *job)
{
    struct output_handlers handlers = {job, output_ended, output_taken, output_drained,
                                       output_failed};
    job->owns_children = descendants_are_none();
    descendants_adopt();
    signal(SIGPIPE, SIG_IGN);
    if (access("/proc/self/exe", X_OK))
        return cohort_fail(COHORT_ERR_SYSTEM,
                           "/proc/self/exe: %s; cohortrun needs /proc to start localities",
                           strerror(errno));
    job->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (job->null < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "/dev/null: %s", strerror(errno));
    guard_terminal(job);
    job->localities = calloc(job->options->size, sizeof(*job->localities));
    if (!job->localities)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    job->descriptors = guarded_raise_descriptor_limit();
    for (uint32_t rank = 0; rank < job->options->size; rank++)
        locality_init(&job->localities[rank], job, rank);
    cohort_status status = cohort__loop_create(&job->loop);
    if (!status)
        status = output_create(&job->output, job->loop, job->options->size, job->options->tag,
                               &handlers);
    if (!status)
        status = cohort__signals_open(&job->interrupt, job->loop, SIGINT, forward, job);
    if (!status)
        status = cohort__signals_open(&job->terminate, job->loop, SIGTERM, forward, job);
    if (!status)
        status = cohort__signals_open(&job->quit, job->loop, SIGQUIT, show, job);
    if (!status)
        status = job_check_trace();
    if (!status)
        status = job_stats_open(job);
    if (!status)
        job_status_open(job);
    timer_init(&job->timeout, job->loop, timed_out, job);
    job_init_end(job);
    timer_init(&job->recount, job->loop, recount_over, job);
    return status;
}

/* All hosts are ready: starts the localities everywhere. */
static void run(void *context)
{
    struct job *job = context;
    job->stage = RUNNING;
    job_start_localities(job);
    if (job->fleet && job->stage == RUNNING)
        fleet_order(job->fleet, &job_locality_handlers);
    far_trace_begin(job->far_trace);
    if (job_start_launcher(job))
        job_fail(job, JOB_STATUS_FAILED, cohort_error_message());
    job_stall_open(job);
    job_stats_begin(job);
    for (uint32_t rank = 0; rank < job->options->size; rank++)
        job_locality_changed(&job->localities[rank]); /* some could not be started */
}

static void fleet_failed(void *context, const char *text)
{
    job_fail(context, JOB_STATUS_CANNOT_START, text);
}

static void fleet_changed(void *context)
{
    job_check_done(context);
}

static bool take_fetched(struct job *job, struct host *host, const struct host_message *message)
{
    struct far_piece piece;
    if (!message->locality ||
        !far_fetch_read(&piece, host, message->locality->rank, message->data, message->bytes))
        return false;
    if (!piece.is_late && piece.what == NODE_FETCH_LOOK)
        job_status_take_piece(job, host, &piece);
    else if (!piece.is_late)
        far_trace_take_piece(job->far_trace, host, &piece);
    return true;
}

static bool fleet_message(void *context, struct host *host, const struct host_message *message)
{
    struct job *job = context;
    switch (message->kind) {
    case NODE_LINK_BEAT:
        job_stall_moved(job);
        return true;
    case NODE_LINK_CLOCK:
        return far_trace_take_clock(job->far_trace, host, message->data, message->bytes,
                                    message->arrived);
    case NODE_LINK_COUNTED:
        return message->locality &&
               job_stats_take(job, message->locality->rank, message->data, message->bytes);
    case NODE_LINK_FETCHED:
        return take_fetched(job, host, message);
    default:
        return false;
    }
}

static void fleet_said(void *context, const char *text)
{
    struct job *job = context;
    output_say(job->output, "%s", text);
}

static bool has_far_hosts(const struct options *options)
{
    for (uint32_t i = 0; i < options->hosts.num; i++)
        if (options->hosts.list[i].is_far)
            return true;
    return false;
}

static cohort_status start_fleet(struct job *job, const struct fleet_options *options,
                                 const struct fleet_handlers *handlers)
{
    cohort_status status = fleet_create(&job->fleet, options, handlers);
    if (!status)
        status = job_open_far_trace(job);
    return status;
}

static cohort_status start(struct job *job)
{
    struct fleet_options options = {job->loop,   job->options, job->localities,
                                    job->output, job->null,    job->descriptors};
    const struct fleet_handlers handlers = {
        .context = job,
        .ready = run,
        .failed = fleet_failed,
        .changed = fleet_changed,
        .message = fleet_message,
        .said = fleet_said,
    };
    if (job->options->timeout_ns)
        timer_set(&job->timeout, job->options->timeout_ns);
    if (has_far_hosts(job->options))
        return start_fleet(job, &options, &handlers);
    run(job);
    return COHORT_OK;
}

static void tear_down(struct job *job)
{
    bool lost = false, has_fleet = job->fleet;
    output_close(job->output);
    far_trace_close(job->far_trace);
    fleet_close(job->fleet);
    for (uint32_t rank = 0; job->localities && rank < job->options->size; rank++) {
        lost |= job->localities[rank].guarded.end == GUARDED_LOST && !job->localities[rank].host;
        locality_close(&job->localities[rank]);
    }
    cohort__signals_close(job->interrupt);
    cohort__signals_close(job->terminate);
    cohort__signals_close(job->quit);
    lost |= job_status_close(job);
    job_stall_close(job);
    job_stats_close(job);
    timer_clear(&job->timeout);
    job_clear_end(job);
    timer_clear(&job->recount);
    cohort__loop_destroy(job->loop);
    output_free(job->output);
    job_complete_parts(job);
    job_stats_finish(job);
    job_stats_destroy(job);
    job_status_destroy(job);
    job_stall_destroy(job);
    cohort__launcher_destroy(job->launcher);
    fleet_destroy(job->fleet);
    free(job->hosts);
    free(job->localities);
    if (job->null >= 0)
        close(job->null);
    if (job->ledger >= 0)
        close(job->ledger);
    /* Processes that a killed guardian has left to us, perhaps an agent's, and a child that was
     * killed. */
    if ((lost || has_fleet) && job->owns_children)
        descendants_kill();
    job_join_trace(job);
    far_trace_destroy(job->far_trace);
}

int job_run(const struct options *options)
{
    struct job job = {.options = options, .null = -1, .ledger = -1};
    cohort_status status = set_up(&job);
    if (!status)
        status = start(&job);
    if (status) {
        fprintf(stderr, "cohortrun: %s\n", cohort_error_message());
        job.status = JOB_STATUS_FAILED;
    } else {
        cohort__loop_run(job.loop);
    }
    tear_down(&job);
    return job.status;
}
