/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun_job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/child.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/signals.h"
#include "runtime/net/hub.h"
#include "runtime/proc/launcher.h"
#include "tools/cohortrun_alarm.h"
#include "tools/cohortrun_descendants.h"
#include "tools/cohortrun_fleet.h"
#include "tools/cohortrun_locality.h"
#include "tools/cohortrun_output.h"

/* A job runs until all localities have ended by themselves, or until something fails: then it is
 * ended in stages, each given some time. */
enum stage {
    GATHERING, /* the daemons of other hosts have not all come; nothing is started before */
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
    struct cohort__hub *hub; /* of this host's localities; NULL: not yet, or there are none */
    struct fleet *fleet;     /* other hosts; NULL: there are none */
    struct cohort__launcher_host *hosts;
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

static void check_done(struct job *job);

/* TEXT NULL: nothing need be said. */
static void fail(struct job *job, int status, const char *text)
{
    if (job->stage > RUNNING)
        return;
    if (text)
        output_say(job->output, "%s", text);
    if (job->status == 0)
        job->status = status;
    bool have_members = job->launcher && cohort__launcher_has_members(job->launcher);
    enter_stage(job, have_members && text ? GRACE : TERMINATING);
    check_done(job);
}

static void check_done(struct job *job)
{
    bool ended = true, gone = true;
    if (job->stage == GATHERING)
        return;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        ended &= job->localities[rank].ward.end != WARD_RUNS;
        gone &= locality_is_gone(&job->localities[rank]) && job->localities[rank].judged;
    }
    if (gone && job->fleet)
        fleet_dismiss(job->fleet);
    if (gone && output_is_drained(job->output) && (!job->fleet || fleet_is_gone(job->fleet)))
        cohort__loop_stop(job->loop);
    else if (ended && !gone && !alarm_is_set(&job->stragglers))
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

static void output_taken(void *context, uint32_t rank, enum output_stream stream, size_t bytes)
{
    struct job *job = context;
    locality_output_taken(&job->localities[rank], stream, bytes);
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
    if (job->stage == GATHERING) {
        fail(job, 128 + signal, NULL);
        return;
    }
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
    char who[256];
    double seconds = (double)job->options->timeout_ns / (double)second_ns;
    if (job->stage == GATHERING) {
        fleet_list_awaited(job->fleet, who, sizeof(who));
        output_say(job->output, "timeout after %g s, no answer from: %s", seconds, who);
    } else if (job->stage == RUNNING) {
        list_running(job, who, sizeof(who));
        output_say(job->output, "timeout after %g s, still running: %s %s", seconds,
                   strpbrk(who, ",-") ? "localities" : "locality", who);
    }
    fail(job, STATUS_TIMEOUT, NULL);
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
    struct output_handlers handlers = {job, output_ended, output_taken, output_drained,
                                       output_failed};
    job->owns_children = descendants_are_none();
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
    /* Until they are started, they count as if they had ended. */
    for (uint32_t rank = 0; rank < job->options->size; rank++)
        job->localities[rank] = (struct locality){
            .context = job,
            .rank = rank,
            .ward = {.end = WARD_NOT_STARTED, .guardian_ended = true},
            .control_ended = true,
            .judged = true,
        };
    cohort_status status = cohort__loop_create(&job->loop);
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

static const struct locality_handlers locality_handlers = {control_arrived, output_opened,
                                                           locality_changed};

/* Those of this host, whose ranks follow each other. */
static void find_own_localities(const struct job *job, uint32_t *ret_first, uint32_t *ret_num)
{
    const struct hosts *hosts = &job->options->hosts;
    uint32_t i = 0;
    while (i < hosts->num && hosts->list[i].is_far)
        i++;
    *ret_first = i < hosts->num ? hosts->list[i].first : 0;
    *ret_num = i < hosts->num ? hosts->list[i].num : hosts->num == 0 ? job->options->size : 0;
}

static void fail_to_start(struct job *job, uint32_t rank)
{
    char text[256];
    snprintf(text, sizeof(text), "cannot start locality %u: %s", (unsigned)rank,
             cohort_error_message());
    fail(job, STATUS_CANNOT_START, text);
}

/* Where one can't be started, no further ones are; the job then fails. */
static void start_localities(struct job *job)
{
    uint32_t first, num;
    find_own_localities(job, &first, &num);
    if (num == 0)
        return;
    if (cohort__hub_create(&job->hub, num)) {
        fail_to_start(job, first);
        return;
    }
    struct locality_common common = {.loop = job->loop,
                                     .size = job->options->size,
                                     .program = job->options->program,
                                     .hub = job->hub,
                                     .input = STDIN_FILENO,
                                     .null = job->null,
                                     .descriptors = job->descriptors};
    for (uint32_t rank = first; rank < first + num; rank++) {
        struct locality *locality = &job->localities[rank];
        *locality = (struct locality){.context = job, .rank = rank};
        if (locality_start(locality, &common, &locality_handlers) == COHORT_OK)
            continue;
        fail_to_start(job, rank);
        output_close_source(job->output, rank, OUTPUT_OUT);
        output_close_source(job->output, rank, OUTPUT_ERR);
        locality->judged = true;
        break;
    }
    if (first == 0) /* so that who writes there sees it when locality 0 closes it */
        dup2(job->null, STDIN_FILENO);
}

/* Who is where, in the launcher's words. */
static cohort_status list_hosts(struct job *job)
{
    const struct hosts *hosts = &job->options->hosts;
    job->hosts = calloc(hosts->num ? hosts->num : 1, sizeof(*job->hosts));
    if (!job->hosts)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < hosts->num; i++)
        job->hosts[i] =
            (struct cohort__launcher_host){hosts->list[i].first, hosts->list[i].num,
                                           job->fleet ? fleet_address(job->fleet, i) : "127.0.0.1"};
    return COHORT_OK;
}

static cohort_status start_launcher(struct job *job)
{
    struct cohort__launcher_options options = {.size = job->options->size,
                                               .num_hosts = job->options->hosts.num,
                                               .workers = job->options->workers};
    struct cohort__launcher_handlers handlers = {job, launcher_send, launcher_pause,
                                                 launcher_broken};
    cohort_status status = list_hosts(job);
    if (status)
        return status;
    options.hosts = job->hosts;
    if (getrandom(&options.key, sizeof(options.key), 0) != sizeof(options.key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    return cohort__launcher_create(&job->launcher, &options, &handlers);
}

/* All hosts are there: the localities are started everywhere. */
static void run(void *context)
{
    struct job *job = context;
    job->stage = RUNNING;
    start_localities(job);
    if (job->fleet && job->stage == RUNNING)
        fleet_order(job->fleet, &locality_handlers);
    if (start_launcher(job))
        fail(job, STATUS_FAILED, cohort_error_message());
    check_done(job);
}

static void fleet_failed(void *context, const char *text)
{
    fail(context, STATUS_CANNOT_START, text);
}

static void fleet_changed(void *context)
{
    check_done(context);
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

static cohort_status start(struct job *job)
{
    struct fleet_options options = {job->loop,   job->options, job->localities,
                                    job->output, job->null,    job->descriptors};
    struct fleet_handlers handlers = {job, run, fleet_failed, fleet_changed, fleet_said};
    if (job->options->timeout_ns)
        alarm_set(&job->timeout, job->options->timeout_ns);
    if (has_far_hosts(job->options))
        return fleet_create(&job->fleet, &options, &handlers);
    run(job);
    return COHORT_OK;
}

static void tear_down(struct job *job)
{
    bool lost = false, has_fleet = job->fleet;
    output_close(job->output);
    fleet_close(job->fleet);
    for (uint32_t rank = 0; job->localities && rank < job->options->size; rank++) {
        lost |= job->localities[rank].ward.end == WARD_LOST && !job->localities[rank].host;
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
    fleet_destroy(job->fleet);
    free(job->hosts);
    free(job->localities);
    if (job->null >= 0)
        close(job->null);
    /* What a guardian that was killed has left to us, that of an agent perhaps. */
    if ((lost || has_fleet) && job->owns_children)
        descendants_kill();
}

int job_run(const struct options *options)
{
    struct job job = {.options = options, .null = -1};
    cohort_status status = set_up(&job);
    if (!status)
        status = start(&job);
    if (status) {
        fprintf(stderr, "cohortrun: %s\n", cohort_error_message());
        job.status = STATUS_FAILED;
    } else {
        cohort__loop_run(job.loop);
    }
    tear_down(&job);
    return job.status;
}
