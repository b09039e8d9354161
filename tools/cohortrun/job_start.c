/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: starts the localities, and the launcher's half of the control protocol. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "runtime/loop/loop.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"

static void control_arrived(struct locality *locality, const void *message, size_t bytes)
{
    struct job *job = locality->context;
    cohort__launcher_message(job->launcher, locality->rank, message, bytes);
    if (cohort__launcher_failure(job->launcher, locality->rank))
        job_program_failed(job, locality);
    job_check_cut(job);
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
    timer_set(&job->recount, nanoseconds);
}

static void launcher_broken(void *context, uint32_t rank, const char *text)
{
    struct job *job = context;
    job_break(job, &job->localities[rank], text);
}

static void launcher_died(void *context, uint32_t rank, uint32_t num_living, const char *text)
{
    (void)rank;
    struct job *job = context;
    output_say(job->output, "%s; %u %s on", text, (unsigned)num_living,
               num_living == 1 ? "goes" : "go");
}

static void launcher_accused(void *context, uint32_t rank, uint32_t by, bool at_fault,
                             const char *text)
{
    job_accused(context, rank, by, at_fault, text);
}

/* The others are not given time to say what they have missed. */
static void launcher_aborted(void *context, uint32_t rank, int code, const char *reason)
{
    struct job *job = context;
    char name[200];
    locality_name(&job->localities[rank], name, sizeof(name));
    if (job->stage <= RUNNING)
        output_say(job->output, "%s has aborted the job with status %d: %s", name, code, reason);
    job_fail(job, code, NULL);
}

const struct locality_handlers job_locality_handlers = {control_arrived, output_opened,
                                                        job_locality_changed};

void job_find_own_localities(const struct job *job, uint32_t *ret_first, uint32_t *ret_num)
{
    const struct host_list *hosts = &job->options->hosts;
    uint32_t i = 0;
    while (i < hosts->num && hosts->list[i].is_far)
        i++;
    *ret_first = i < hosts->num ? hosts->list[i].first : 0;
    *ret_num = i < hosts->num ? hosts->list[i].num : hosts->num == 0 ? job->options->size : 0;
}

/* Localities that could not be started write nothing. */
static void fail_to_start(struct job *job, uint32_t first, uint32_t num)
{
    job_fail(job, JOB_STATUS_CANNOT_START, cohort_error_message());
    for (uint32_t rank = first; rank < first + num; rank++) {
        if (job->localities[rank].guarded.end != GUARDED_NOT_STARTED)
            continue;
        output_close_source(job->output, rank, OUTPUT_OUT);
        output_close_source(job->output, rank, OUTPUT_ERR);
    }
}

void job_start_localities(struct job *job)
{
    uint32_t first, num;
    job_find_own_localities(job, &first, &num);
    if (num == 0)
        return;
    (void)!cohort__ledger_create(&job->ledger, num); /* the job can do without */
    struct locality_common common = {.loop = job->loop,
                                     .size = job->options->size,
                                     .program = job->options->program,
                                     .input = STDIN_FILENO,
                                     .null = job->null,
                                     .descriptors = job->descriptors,
                                     .files_each = LOCALITY_FILES,
                                     .ledger = job->ledger,
                                     .binding = options_binding(job->options)};
    for (uint32_t rank = first; rank < first + num; rank++)
        job->localities[rank].judged = false;
    if (localities_start(&job->localities[first], num, &common, &job_locality_handlers))
        fail_to_start(job, first, num);
    if (first == 0) /* so that its writer notices when locality 0 closes it */
        dup2(job->null, STDIN_FILENO);
}

/* Lists which localities are on which host, in the launcher's types. */
static cohort_status list_hosts(struct job *job)
{
    const struct host_list *hosts = &job->options->hosts;
    job->hosts = calloc(hosts->num ? hosts->num : 1, sizeof(*job->hosts));
    if (!job->hosts)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < hosts->num; i++)
        job->hosts[i] =
            (struct cohort__launcher_host){hosts->list[i].first, hosts->list[i].num,
                                           job->fleet ? fleet_address(job->fleet, i) : "127.0.0.1"};
    return COHORT_OK;
}

cohort_status job_start_launcher(struct job *job)
{
    struct cohort__launcher_options options = {.size = job->options->size,
                                               .num_hosts = job->options->hosts.num,
                                               .workers = job->options->workers,
                                               .keeps_going = job->options->keeps_going};
    struct cohort__launcher_handlers handlers = {
        job,           launcher_send,    launcher_pause,  launcher_broken,
        launcher_died, launcher_accused, launcher_aborted};
    cohort_status status = list_hosts(job);
    if (status)
        return status;
    options.hosts = job->hosts;
    if (getrandom(&options.key, sizeof(options.key), 0) != sizeof(options.key))
        return cohort_fail(COHORT_ERR_SYSTEM, "random number for the job: %s", strerror(errno));
    job->key = options.key;
    return cohort__launcher_create(&job->launcher, &options, &handlers);
}
