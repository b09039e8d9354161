/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/child.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/signals.h"
#include "runtime/net/hub.h"
#include "runtime/proc/launcher.h"
#include "tools/cohortrun_alarm.h"
#include "tools/cohortrun_descendants.h"
#include "tools/cohortrun_locality.h"
#include "tools/cohortrun_output.h"

/* A job runs until all localities have ended by themselves, or until something fails: then it is
 * ended in stages, each given some time. */
enum stage {
    RUNNING,
    GRACE,       /* members have been told of a death, and may report their errors */
    TERMINATING, /* SIGTERM */
    KILLING,     /* SIGKILL, by the guardians */
    ABANDONING,  /* guardians that don't act (stopped, say) are killed themselves */
    ABANDONED,
};

static const uint64_t second_ns = 1000000000;
static const uint64_t settle_ns = 100000000;
enum { STATUS_FAILED = 1, STATUS_TIMEOUT = 124, STATUS_CANNOT_START = 126 };

struct job {
    const struct options *options;
    struct cohort__loop *loop;
    struct cohort__launcher *launcher;
    struct output *output;
    struct cohort__hub *hub;
    struct cohort__signals *interrupt;
    struct cohort__signals *terminate;
    struct alarm timeout;
    struct alarm next_stage;
    struct alarm settle;     /* judge who has ended, though not all of it is known */
    struct alarm abandoned;  /* who closed its connection ought to have ended by now */
    struct alarm stragglers; /* all have ended, and still their pipes are open */
    struct alarm recount;    /* the launcher's pause */
    enum stage stage;
    int status;
    int judged_status; /* of the one that is being judged */
    uint64_t last_interrupt;
    bool owns_children; /* all children of this process are ours */
    int null;
    uint64_t descriptors; /* the limit that the programs get */
    struct locality *localities;
};

static void enter_stage(struct job *job, enum stage stage)
{
    job->stage = stage;
    switch (stage) {
    case TERMINATING:
        for (uint32_t rank = 0; rank < job->options->size; rank++) {
            locality_signal(&job->localities[rank], SIGTERM);
            locality_signal(&job->localities[rank], SIGCONT); /* it may be stopped */
        }
        break;
    case KILLING:
        for (uint32_t rank = 0; rank < job->options->size; rank++)
            locality_signal(&job->localities[rank], SIGKILL);
        break;
    case ABANDONING:
        for (uint32_t rank = 0; rank < job->options->size; rank++)
            locality_kill_guardian(&job->localities[rank]);
        break;
    case ABANDONED:
        output_say(job->output, "some processes can't be killed, giving up");
        cohort__loop_stop(job->loop);
        return;
    default:
        break;
    }
    alarm_set(&job->next_stage, stage == GRACE ? job->options->grace_ns : 2 * second_ns);
}

static void stage_over(void *context)
{
    struct job *job = context;
    enter_stage(job, job->stage + 1);
}

/* TEXT NULL: nothing need be said. */
static void fail(struct job *job, int status, const char *text)
{
    if (job->stage != RUNNING)
        return;
    if (text)
        output_say(job->output, "%s", text);
    if (job->status == 0)
        job->status = status;
    bool have_members = job->launcher && cohort__launcher_has_members(job->launcher);
    enter_stage(job, have_members && text ? GRACE : TERMINATING);
}

static void check_done(struct job *job)
{
    bool ended = true, gone = true;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        ended &= job->localities[rank].ward.end != WARD_RUNS;
        gone &= locality_is_gone(&job->localities[rank]) && job->localities[rank].judged;
    }
    if (gone && output_is_drained(job->output))
        cohort__loop_stop(job->loop);
    else if (ended && !alarm_is_set(&job->stragglers))
        alarm_set(&job->stragglers, second_ns);
}

/* An error that all localities agree on is said once. */
static bool was_said(const struct job *job, const struct locality *locality)
{
    const char *failure = cohort__launcher_failure(job->launcher, locality->rank);
    for (uint32_t rank = 0; failure && rank < job->options->size; rank++) {
        const char *other = cohort__launcher_failure(job->launcher, rank);
        if (rank != locality->rank && job->localities[rank].judged && other &&
            strcmp(other, failure) == 0)
            return true;
    }
    return false;
}

static void judge(struct job *job, struct locality *locality)
{
    char text[1024];
    const char *failure = cohort__launcher_failure(job->launcher, locality->rank);
    int status = ward_exit_status(&locality->ward);
    locality->judged = true;
    if (locality->ward.end == WARD_NOT_STARTED)
        snprintf(text, sizeof(text), "cannot start %s: %s", job->options->program[0],
                 cohort__child_error_text(locality->ward.status));
    else
        locality_describe(locality, text, sizeof(text));
    size_t used = strlen(text);
    if (status == 0 && cohort__launcher_is_member(job->launcher, locality->rank))
        snprintf(text + used, sizeof(text) - used, " without leaving the job");
    else if (status != 0 && failure)
        snprintf(text + used, sizeof(text) - used, ": %s", failure);
    if (status != 0 && job->stage == RUNNING &&
        cohort__launcher_is_released(job->launcher, locality->rank)) {
        if (!was_said(job, locality))
            output_say(job->output, "%s", text);
        if (job->status == 0)
            job->status = status;
    }
    job->judged_status = status ? status : STATUS_FAILED;
    cohort__launcher_ended(job->launcher, locality->rank, status != 0, text);
}

static void locality_changed(struct locality *locality)
{
    struct job *job = locality->context;
    if (!job->launcher)
        return; /* still starting; the loop does not turn yet */
    if (locality->ward.end == WARD_RUNS) {
        if (locality->control_ended && cohort__launcher_is_member(job->launcher, locality->rank))
            alarm_set(&job->abandoned, second_ns);
        return;
    }
    if (!locality->judged && locality_is_settled(locality))
        judge(job, locality);
    else if (!locality->judged && !alarm_is_set(&job->settle))
        alarm_set(&job->settle, settle_ns);
    check_done(job);
}

static void settle_over(void *context)
{
    struct job *job = context;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        if (locality->ward.end != WARD_RUNS && !locality->judged)
            judge(job, locality);
    }
    check_done(job);
}

static void abandoned_over(void *context)
{
    struct job *job = context;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        if (!locality->control_ended || locality->ward.end != WARD_RUNS)
            continue;
        char text[96];
        snprintf(text, sizeof(text), "locality %u (pid %d) has closed its connection to cohortrun",
                 (unsigned)rank, locality->ward.pid);
        job->judged_status = STATUS_FAILED;
        cohort__launcher_ended(job->launcher, rank, false, text);
    }
}

/* A process outside of the job holds ends of pipes that were handed to it. */
static void stragglers_over(void *context)
{
    struct job *job = context;
    if (!output_is_drained(job->output)) {
        alarm_set(&job->stragglers, second_ns);
        return;
    }
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        locality->control_ended = true;
        output_close_source(job->output, rank, OUTPUT_OUT);
        output_close_source(job->output, rank, OUTPUT_ERR);
    }
    check_done(job);
}

static void control_arrived(struct locality *locality, const void *message, size_t bytes)
{
    struct job *job = locality->context;
    cohort__launcher_message(job->launcher, locality->rank, message, bytes);
}

static cohort_status output_opened(struct locality *locality, enum output_stream stream, int fd)
{
    struct job *job = locality->context;
    return output_add(job->output, locality->rank, stream, fd);
}

static void launcher_send(void *context, uint32_t rank, const void *message, size_t bytes)
{
    struct job *job = context;
    locality_send_control(&job->localities[rank], message, bytes);
}

static void launcher_pause(void *context, uint64_t nanoseconds)
{
    struct job *job = context;
    alarm_set(&job->recount, nanoseconds);
}

static void recount_over(void *context)
{
    struct job *job = context;
    cohort__launcher_resume(job->launcher);
}

static void launcher_broken(void *context, uint32_t rank, const char *text)
{
    (void)rank;
    struct job *job = context;
    fail(job, job->judged_status ? job->judged_status : STATUS_FAILED, text);
}

static void output_ended(void *context, uint32_t rank, enum output_stream stream)
{
    (void)stream;
    struct job *job = context;
    job->localities[rank].num_outputs--;
    locality_changed(&job->localities[rank]);
}

static void output_drained(void *context)
{
    check_done(context);
}

static void output_failed(void *context, enum output_stream stream, int error)
{
    struct job *job = context;
    char text[128];
    snprintf(text, sizeof(text), "cannot write standard %s: %s",
             stream == OUTPUT_OUT ? "output" : "error", cohort__child_error_text(error));
    if (error == EPIPE)
        fail(job, 128 + SIGPIPE, NULL); /* as a program that writes there itself */
    else
        fail(job, STATUS_FAILED, text);
}

static void forward(void *context, int signal)
{
    struct job *job = context;
    uint64_t now = cohort__clock_now();
    bool twice = signal == SIGINT && job->last_interrupt && now - job->last_interrupt < second_ns;
    if (signal == SIGINT)
        job->last_interrupt = now;
    if (twice && job->stage < KILLING) {
        if (job->status == 0)
            job->status = 128 + SIGINT;
        output_say(job->output, "interrupted twice, killing all localities");
        enter_stage(job, KILLING);
        return;
    }
    for (uint32_t rank = 0; rank < job->options->size; rank++)
        locality_signal(&job->localities[rank], signal);
}

/* "0, 2-5" of those that run. */
static void list_running(const struct job *job, char *text, size_t bytes)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t rank = 0; rank < job->options->size && used < bytes; rank++) {
        uint32_t last = rank;
        if (job->localities[rank].ward.end != WARD_RUNS)
            continue;
        while (last + 1 < job->options->size && job->localities[last + 1].ward.end == WARD_RUNS)
            last++;
        used += (size_t)snprintf(text + used, bytes - used, last > rank ? "%s%u-%u" : "%s%u",
                                 used > 0 ? ", " : "", (unsigned)rank, (unsigned)last);
        rank = last;
    }
}

static void timed_out(void *context)
{
    struct job *job = context;
    char running[256];
    if (job->stage != RUNNING)
        return;
    list_running(job, running, sizeof(running));
    output_say(job->output, "timeout after %g s, still running: %s %s",
               (double)job->options->timeout_ns / (double)second_ns,
               strpbrk(running, ",-") ? "localities" : "locality", running);
    job->status = STATUS_TIMEOUT;
    enter_stage(job, TERMINATING);
}

/* A job in the background of a terminal must not take what is typed there: its localities are in
 * sessions of their own, so the terminal would let them. */
static void guard_terminal(const struct job *job)
{
    if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp())
        dup2(job->null, STDIN_FILENO);
}

static cohort_status set_up(struct job *job)
{
    struct output_handlers handlers = {job, output_ended, output_drained, output_failed};
    siginfo_t info;
    job->owns_children = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && errno == ECHILD;
    descendants_adopt();
    signal(SIGPIPE, SIG_IGN);
    job->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (job->null < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "/dev/null: %s", strerror(errno));
    guard_terminal(job);
    job->localities = calloc(job->options->size, sizeof(*job->localities));
    if (!job->localities)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    job->descriptors = ward_raise_descriptor_limit();
    cohort_status status = cohort__loop_create(&job->loop);
    if (!status)
        status = cohort__hub_create(&job->hub, job->options->size);
    if (!status)
        status = output_create(&job->output, job->loop, job->options->size, job->options->tag,
                               &handlers);
    if (!status)
        status = cohort__signals_open(&job->interrupt, job->loop, SIGINT, forward, job);
    if (!status)
        status = cohort__signals_open(&job->terminate, job->loop, SIGTERM, forward, job);
    alarm_init(&job->timeout, job->loop, timed_out, job);
    alarm_init(&job->next_stage, job->loop, stage_over, job);
    alarm_init(&job->settle, job->loop, settle_over, job);
    alarm_init(&job->abandoned, job->loop, abandoned_over, job);
    alarm_init(&job->stragglers, job->loop, stragglers_over, job);
    alarm_init(&job->recount, job->loop, recount_over, job);
    return status;
}

/* Where one can't be started, no further ones are; the job then fails. */
static void start_localities(struct job *job)
{
    static const struct locality_handlers handlers = {control_arrived, output_opened,
                                                      locality_changed};
    struct locality_common common = {.loop = job->loop,
                                     .size = job->options->size,
                                     .program = job->options->program,
                                     .hub = job->hub,
                                     .input = STDIN_FILENO,
                                     .null = job->null,
                                     .descriptors = job->descriptors};
    bool failed = false;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        *locality = (struct locality){.context = job, .rank = rank};
        if (!failed && locality_start(locality, &common, &handlers) == COHORT_OK)
            continue;
        if (!failed) {
            char text[256];
            snprintf(text, sizeof(text), "cannot start locality %u: %s", (unsigned)rank,
                     cohort_error_message());
            fail(job, STATUS_CANNOT_START, text);
        }
        failed = true;
        output_close_source(job->output, rank, OUTPUT_OUT);
        output_close_source(job->output, rank, OUTPUT_ERR);
        locality->ward.end = WARD_NOT_STARTED;
        locality->ward.guardian_ended = locality->control_ended = locality->judged = true;
    }
    dup2(job->null, STDIN_FILENO); /* so that who writes there sees it when locality 0 closes it */
}

static cohort_status start_launcher(struct job *job)
{
    struct cohort__launcher_options options = {.size = job->options->size,
                                               .workers = job->options->workers};
    struct cohort__launcher_handlers handlers = {job, launcher_send, launcher_pause,
                                                 launcher_broken};
    if (getrandom(&options.key, sizeof(options.key), 0) != sizeof(options.key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    return cohort__launcher_create(&job->launcher, &options, &handlers);
}

static void tear_down(struct job *job)
{
    bool lost = false;
    output_close(job->output);
    for (uint32_t rank = 0; job->localities && rank < job->options->size; rank++) {
        lost |= job->localities[rank].ward.end == WARD_LOST;
        locality_close(&job->localities[rank]);
    }
    cohort__signals_close(job->interrupt);
    cohort__signals_close(job->terminate);
    alarm_clear(&job->timeout);
    alarm_clear(&job->next_stage);
    alarm_clear(&job->settle);
    alarm_clear(&job->abandoned);
    alarm_clear(&job->stragglers);
    alarm_clear(&job->recount);
    cohort__loop_destroy(job->loop);
    output_free(job->output);
    cohort__hub_destroy(job->hub);
    cohort__launcher_destroy(job->launcher);
    free(job->localities);
    if (job->null >= 0)
        close(job->null);
    if (lost && job->owns_children) {
        sigset_t chld;
        sigemptyset(&chld);
        sigaddset(&chld, SIGCHLD);
        sigprocmask(SIG_BLOCK, &chld, NULL);
        descendants_kill();
    }
}

int job_run(const struct options *options)
{
    struct job job = {.options = options, .null = -1};
    cohort_status status = set_up(&job);
    if (!status) {
        start_localities(&job);
        status = start_launcher(&job);
    }
    if (status) {
        fprintf(stderr, "cohortrun: %s\n", cohort_error_message());
        job.status = STATUS_FAILED;
    } else {
        if (options->timeout_ns)
            alarm_set(&job.timeout, options->timeout_ns);
        check_done(&job);
        cohort__loop_run(job.loop);
    }
    tear_down(&job);
    return job.status;
}
