/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: makes one trace of what the localities have written with COHORT_TRACE. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/trace.h"
#include "tools/cohortrun/far_trace.h"
#include "tools/cohortrun/fleet.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/trace_part.h"
#include "tools/trace/join.h"

/* NULL: there is no trace. */
static const char *find_file(void)
{
    const char *file = getenv("COHORT_TRACE");
    return file && *file ? file : NULL;
}

/* NULL: there is no trace, or no job. */
static const char *file_of(const struct job *job)
{
    return job->key ? find_file() : NULL;
}

static struct host *far_host(void *context, uint32_t i)
{
    const struct job *job = context;
    return fleet_host(job->fleet, i);
}

static void far_over(void *context)
{
    job_check_done(context);
}

static void far_said(void *context, const char *text)
{
    const struct job *job = context;
    output_say(job->output, "%s", text);
}

cohort_status job_check_trace(void)
{
    const char *file = find_file();
    return file ? cohort__trace_check_file(file) : COHORT_OK;
}

cohort_status job_open_far_trace(struct job *job)
{
    const struct far_trace_handlers handlers = {job, far_host, far_over, far_said};
    const char *file = find_file();
    if (file)
        job->far_trace = far_trace_create(job->loop, file, &handlers);
    return file && !job->far_trace ? cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory") : COHORT_OK;
}

void job_complete_parts(const struct job *job)
{
    const char *file = file_of(job);
    uint32_t first = 0, num = 0;
    if (file && job->localities && job->ledger >= 0)
        job_find_own_localities(job, &first, &num);
    for (uint32_t i = 0; i < num; i++) {
        char *path = trace_part_path(file, first + i);
        if (path && job->localities[first + i].guarded.end != GUARDED_RUNS)
            trace_part_complete(path, job->key, job->ledger, i);
        free(path);
    }
}

void job_join_trace(const struct job *job)
{
    const char *file = file_of(job);
    struct trace_joined joined;
    char clock[COHORT__TRACE_CLOCK_NAME];
    struct trace_pings pings = {.clock = clock};
    if (!file)
        return;
    cohort__trace_clock_name(clock);
    pings.list = far_trace_pings(job->far_trace, &pings.num);
    cohort_status status = trace_join(
        &(struct trace_join_options){
            .file = file, .has_key = true, .key = job->key, .pings = &pings},
        &joined);
    if (status == COHORT_ERR_STATE && job->status)
        return; /* there are no parts, as the program has not come so far */
    if (status) {
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s\n", cohort_error_message());
        return;
    }
    if (joined.num_parts < job->options->size)
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s has only %u of %u localities\n", file,
                (unsigned)joined.num_parts, (unsigned)job->options->size);
    if (joined.lost > 0)
        fprintf(stderr, "cohortrun: COHORT_TRACE: %s: there was no room for %llu records\n", file,
                (unsigned long long)joined.lost);
}
