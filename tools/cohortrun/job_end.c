/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: ends a job, stage by stage, and finds the status to exit with. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/child.h"
#include "runtime/loop/loop.h"
#include "tools/cohortrun/command.h"
#include "tools/cohortrun/far_trace.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/host.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"

static const uint64_t second_ns = 1000000000;
static const uint64_t settle_ns = 100000000;
static const uint64_t tell_ns = 250000000; /* in which most jobs end that fail, and have said it */

static uint64_t timeout_of(const struct job *job, enum stage stage)
{
    return stage == GRACE        ? job->options->grace_ns
           : stage == ABANDONING ? GUARDED_UNKILLABLE_SECONDS * second_ns
                                 : 2 * second_ns;
}

void job_enter_stage(struct job *job, enum stage stage)
{
    job->stage = stage;
    if (job->launcher)
        cohort__launcher_stop_going(job->launcher);
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
        break;
    default:
        break;
    }
    timer_set(&job->next_stage, timeout_of(job, stage));
}

static void stage_over(void *context)
{
    struct job *job = context;
    if (job->stage == ABANDONED)
        cohort__loop_stop(job->loop);
    else
        job_enter_stage(job, job->stage + 1);
}

static void begin_end(struct job *job, int status, bool has_grace)
{
    if (job->status == 0)
        job->status = status;
    bool have_members = job->launcher && cohort__launcher_has_members(job->launcher);
    job_enter_stage(job, have_members && has_grace ? GRACE : TERMINATING);
    job_check_done(job);
}

void job_fail(struct job *job, int status, const char *text)
{
    if (job->stage > RUNNING)
        return;
    if (text)
        output_say(job->output, "%s", text);
    begin_end(job, status, text != NULL);
}

/* Whether all that can be said of LOCALITY is why it has failed: no signal came. */
static bool has_only_failed(const struct locality *locality)
{
    const struct guarded *guarded = &locality->guarded;
    return guarded->end == GUARDED_RUNS ||
           (guarded->end == GUARDED_ENDED && WIFEXITED(guarded->status));
}

/* An error that all localities report is printed once. */
static bool was_said(const struct job *job, const struct locality *locality)
{
    const char *failure = cohort__launcher_failure(job->launcher, locality->rank);
    if (!has_only_failed(locality))
        return false;
    if (locality->is_told)
        return true;
    for (uint32_t rank = 0; failure && rank < job->options->size; rank++) {
        const char *other = cohort__launcher_failure(job->launcher, rank);
        const bool is_said = job->localities[rank].judged || job->localities[rank].is_told;
        if (rank != locality->rank && is_said && other && strcmp(other, failure) == 0)
            return true;
    }
    return false;
}

void job_break(struct job *job, const struct locality *locality, const char *text)
{
    if (job->stage > RUNNING)
        return;
    if (!was_said(job, locality))
        output_say(job->output, "%s", text);
    begin_end(job, job->judged_status ? job->judged_status : JOB_STATUS_FAILED, true);
}

void job_check_done(struct job *job)
{
    bool ended = true, gone = true;
    if (job->stage == GATHERING)
        return;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        ended &= job->localities[rank].guarded.end != GUARDED_RUNS;
        gone &= locality_is_gone(&job->localities[rank]) && job->localities[rank].judged;
    }
    if (gone && !far_trace_fetch(job->far_trace, job->key)) {
        timer_clear(&job->next_stage); /* nothing is left that could be killed */
        return;                        /* it calls again */
    }
    if (gone && job->stage > RUNNING && job->stage < ABANDONED && !timer_is_set(&job->next_stage))
        timer_set(&job->next_stage, timeout_of(job, job->stage));
    if (gone && job->fleet)
        fleet_dismiss(job->fleet);
    if (gone && output_is_drained(job->output) && (!job->fleet || fleet_is_gone(job->fleet)))
        cohort__loop_stop(job->loop);
    else if (ended && !gone && !timer_is_set(&job->stragglers))
        timer_set(&job->stragglers, second_ns);
}

static const char *program_of(const struct job *job, const struct locality *locality)
{
    return command_of(job->options->program, job->options->size, locality->rank).words[0];
}

/* The system's error is the same for a missing file and for one whose interpreter is missing. */
static const char *hint(const struct job *job, const struct locality *locality)
{
    const char *program = program_of(job, locality);
    bool is_there = !locality->host && strchr(program, '/') && access(program, F_OK) == 0;
    return is_there && locality->guarded.status == ENOENT
               ? " (the file is there, what its first line names as its interpreter is not)"
               : "";
}

static void judge(struct job *job, struct locality *locality)
{
    char text[1024];
    uint32_t first, num;
    const char *failure = cohort__launcher_failure(job->launcher, locality->rank);
    int status = guarded_exit_status(&locality->guarded);
    locality->judged = true;
    job_find_own_localities(job, &first, &num);
    if (!locality->host)
        locality_read_words(locality, job->ledger, locality->rank - first);
    if (locality->guarded.end == GUARDED_NOT_STARTED && locality->guarded.status)
        snprintf(text, sizeof(text), "cannot start %s%s%s: %s%s", program_of(job, locality),
                 locality->host_name ? " on host " : "",
                 locality->host_name ? locality->host_name : "",
                 cohort__child_error_text(locality->guarded.status), hint(job, locality));
    else
        locality_describe(locality, text, sizeof(text));
    size_t used = strlen(text);
    if (locality->given_up)
        snprintf(text + used, sizeof(text) - used, ", since %s", locality->given_up);
    else if (status == 0 && cohort__launcher_is_member(job->launcher, locality->rank))
        snprintf(text + used, sizeof(text) - used, " without leaving the job");
    else if (failure && (status != 0 || cohort__launcher_is_failing(job->launcher, locality->rank)))
        snprintf(text + used, sizeof(text) - used, ": %s", failure);
    else if (locality->words)
        snprintf(text + used, sizeof(text) - used, ": %s", locality->words);
    if (status != 0 && job->stage == RUNNING &&
        cohort__launcher_is_released(job->launcher, locality->rank)) {
        if (!was_said(job, locality))
            output_say(job->output, "%s", text);
        if (job->status == 0)
            job->status = status;
    }
    job->judged_status = status ? status : JOB_STATUS_FAILED;
    cohort__launcher_ended(job->launcher, locality->rank, status != 0, text);
}

bool job_goes_on_without(const struct job *job, const struct locality *locality)
{
    return job->options->keeps_going && job->stage == RUNNING &&
           cohort__launcher_is_member(job->launcher, locality->rank);
}

/* Whether it is lost, and may be there for all that. Where the job keeps going, the others wait to
 * be told of its end, and may use its memory afterwards. */
static bool lingers(const struct job *job, const struct locality *locality)
{
    return job->options->keeps_going && locality->guarded.end == GUARDED_LOST &&
           !(locality->guarded.is_gone && locality->control_ended);
}

/* Those who wait for its end don't wait for its output. Its last words may be that it leaves. */
static bool may_be_judged(const struct job *job, const struct locality *locality)
{
    return (job->options->keeps_going ? locality->control_ended : locality_is_settled(locality)) &&
           !lingers(job, locality);
}

/* A script goes on without the program that it has started. */
static void lose_program(struct job *job, struct locality *locality)
{
    char text[300];
    locality_name(locality, text, sizeof(text));
    size_t used = strlen(text);
    snprintf(text + used, sizeof(text) - used,
             " has lost its program (pid %d), which has ended without leaving the job",
             locality->member.lost);
    job->judged_status = JOB_STATUS_FAILED;
    cohort__launcher_program_ended(job->launcher, locality->rank, text);
}

/* It has closed its connection, though its process goes on: it can't join the job any more. */
static void cut(struct job *job, struct locality *locality)
{
    job->has_cut = true;
    if (job_goes_on_without(job, locality))
        job_doom(job, locality, second_ns, "it has closed its connection to cohortrun");
    else if (cohort__launcher_is_awaited(job->launcher, locality->rank))
        timer_set(&job->abandoned, second_ns);
}

void job_check_cut(struct job *job)
{
    if (job->has_cut && cohort__launcher_has_members(job->launcher) &&
        !timer_is_set(&job->abandoned))
        timer_set(&job->abandoned, second_ns);
}

void job_locality_changed(struct locality *locality)
{
    struct job *job = locality->context;
    if (!job->launcher)
        return; /* still starting; the loop does not run yet */
    if (locality->guarded.end == GUARDED_RUNS) {
        if (locality->member.lost)
            lose_program(job, locality);
        if (locality->control_ended)
            cut(job, locality);
        return;
    }
    if (!locality->judged && may_be_judged(job, locality))
        judge(job, locality);
    else if (!locality->judged && !timer_is_set(&job->settle))
        timer_set(&job->settle, settle_ns);
    job_check_done(job);
}

static void settle_over(void *context)
{
    struct job *job = context;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        if (locality->guarded.end != GUARDED_RUNS && !locality->judged && !lingers(job, locality))
            judge(job, locality);
    }
    job_check_done(job);
}

static void describe_failure(const struct job *job, const struct locality *locality, char *text,
                             size_t bytes)
{
    locality_name(locality, text, bytes);
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, " has failed: %s",
             cohort__launcher_failure(job->launcher, locality->rank));
}

/* Where it has said that it fails, that is why it has closed the connection. */
static void abandoned_over(void *context)
{
    struct job *job = context;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        if (!locality->control_ended || locality->guarded.end != GUARDED_RUNS ||
            !cohort__launcher_is_awaited(job->launcher, rank) || job_goes_on_without(job, locality))
            continue;
        char text[1024];
        if (cohort__launcher_is_failing(job->launcher, rank))
            describe_failure(job, locality, text, sizeof(text));
        else
            snprintf(text, sizeof(text),
                     "locality %u (pid %d) has closed its connection to cohortrun", (unsigned)rank,
                     locality->guarded.pid);
        job->judged_status = JOB_STATUS_FAILED;
        cohort__launcher_ended(job->launcher, rank, true, text);
    }
}

void job_program_failed(struct job *job, struct locality *locality)
{
    enum { TIMES = 5 }; /* sites wait a second before they ask where the others are */
    if (!timer_is_set(&job->failing))
        timer_set(&job->failing, TIMES * job->options->grace_ns);
    if (job->first_failing)
        return;
    job->first_failing = locality;
    timer_set(&job->telling, tell_ns);
}

void job_tell_failure(struct job *job)
{
    char text[1024];
    struct locality *locality = job->first_failing;
    if (!locality || locality->is_told || locality->judged || job->stage != RUNNING ||
        !cohort__launcher_is_failing(job->launcher, locality->rank))
        return;
    locality->is_told = true;
    describe_failure(job, locality, text, sizeof(text));
    output_say(job->output, "%s", text);
}

static void telling_over(void *context)
{
    job_tell_failure(context);
}

/* The other localities may wait for what the failed one does not do any more, be it that it joins
 * them. They are told of its failure as if it had died. */
static void failing_over(void *context)
{
    struct job *job = context;
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        if (!cohort__launcher_is_failing(job->launcher, rank))
            continue;
        char text[1024];
        describe_failure(job, locality, text, sizeof(text));
        if (job_goes_on_without(job, locality)) {
            job_doom(job, locality, 0, text);
            continue;
        }
        job->judged_status = JOB_STATUS_FAILED;
        cohort__launcher_ended(job->launcher, rank, true, text);
        return;
    }
}

/* A process outside of the job holds ends of pipes that were handed to it. */
static void stragglers_over(void *context)
{
    struct job *job = context;
    if (!output_is_drained(job->output)) {
        timer_set(&job->stragglers, second_ns);
        return;
    }
    for (uint32_t rank = 0; rank < job->options->size; rank++) {
        struct locality *locality = &job->localities[rank];
        locality->control_ended = true;
        output_close_source(job->output, rank, OUTPUT_OUT);
        output_close_source(job->output, rank, OUTPUT_ERR);
        job_locality_changed(locality);
    }
}

void job_init_end(struct job *job)
{
    timer_init(&job->next_stage, job->loop, stage_over, job);
    timer_init(&job->settle, job->loop, settle_over, job);
    timer_init(&job->abandoned, job->loop, abandoned_over, job);
    timer_init(&job->failing, job->loop, failing_over, job);
    timer_init(&job->telling, job->loop, telling_over, job);
    timer_init(&job->stragglers, job->loop, stragglers_over, job);
    job_init_accusations(job);
}

void job_clear_end(struct job *job)
{
    timer_clear(&job->next_stage);
    timer_clear(&job->settle);
    timer_clear(&job->abandoned);
    timer_clear(&job->failing);
    timer_clear(&job->telling);
    timer_clear(&job->stragglers);
    job_clear_accusations(job);
}
