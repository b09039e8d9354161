/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: prints or writes what the localities have counted with COHORT_STATS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/counters.h"
#include "runtime/base/error.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"
#include "tools/cohortrun/stats_watch.h"

struct job_stats {
    int file;                          /* -1: a table at the end */
    struct stats_watch *watch;         /* of this host; NULL: none was started */
    struct cohort__counters *counters; /* what each locality of the job has said last */
    bool has_failed;                   /* to write a line, and said so */
};

static void append(struct job_stats *stats, const struct cohort__counters *counters)
{
    if (cohort__counters_append(stats->file, counters) || stats->has_failed)
        return;
    stats->has_failed = true;
    fprintf(stderr, "cohortrun: COHORT_STATS: a line can't be written: %s\n", strerror(errno));
}

static void counted(void *context, const struct cohort__counters *counters)
{
    struct job_stats *stats = context;
    stats->counters[counters->rank] = *counters;
    if (stats->file >= 0)
        append(stats, counters);
}

bool job_stats_take(struct job *job, uint32_t rank, const unsigned char *data, size_t bytes)
{
    struct cohort__counters counters;
    if (cohort__schema_unpack(&stats_schema, data, bytes, "counters", &counters) ||
        counters.rank != rank || counters.at == 0)
        return false;
    if (job->stats)
        counted(job->stats, &counters);
    return true;
}

cohort_status job_stats_open(struct job *job)
{
    const char *setting = getenv("COHORT_STATS");
    if (!stats_watch_is_wanted(setting))
        return COHORT_OK;
    cohort_status status = cohort__counters_check(setting);
    if (status)
        return status;
    struct job_stats *stats = calloc(1, sizeof(*stats));
    if (stats)
        stats->counters = calloc(job->options->size, sizeof(*stats->counters));
    if (!stats || !stats->counters) {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
        goto fail;
    }
    stats->file = -1;
    if (strcmp(setting, "1") != 0)
        status = cohort__counters_open(setting, &stats->file);
    if (status)
        goto fail;
    job->stats = stats;
    return COHORT_OK;
fail:
    if (stats)
        free(stats->counters);
    free(stats);
    return status;
}

void job_stats_begin(struct job *job)
{
    struct stats_watch_options options = {
        .loop = job->loop, .ledger = job->ledger, .context = job->stats, .counted = counted};
    if (!job->stats)
        return;
    job_find_own_localities(job, &options.first, &options.num);
    job->stats->watch = stats_watch_create(&options);
}

void job_stats_close(struct job *job)
{
    if (job->stats)
        stats_watch_close(job->stats->watch);
}

/* Moves those that have counted to the begin. Returns how many there are. */
static uint32_t keep_known(struct cohort__counters *counters, uint32_t size)
{
    uint32_t num = 0;
    for (uint32_t rank = 0; rank < size; rank++)
        if (counters[rank].at)
            counters[num++] = counters[rank];
    return num;
}

static void say_range(uint32_t first, uint32_t num)
{
    fprintf(stderr, "cohortrun: COHORT_STATS: not counted: ");
    if (num > 1)
        fprintf(stderr, "localities %u-%u, ", (unsigned)first, (unsigned)(first + num - 1));
    else
        fprintf(stderr, "locality %u, ", (unsigned)first);
    fprintf(stderr, "where no program of Cohort has begun\n");
}

static void say_who_is_missing(const struct cohort__counters *counters, uint32_t size)
{
    for (uint32_t rank = 0; rank < size; rank++) {
        uint32_t num = 0;
        while (rank + num < size && !counters[rank + num].at)
            num++;
        if (num > 0)
            say_range(rank, num);
        rank += num;
    }
}

void job_stats_finish(struct job *job)
{
    struct job_stats *stats = job->stats;
    const uint32_t size = job->options->size;
    if (!stats || !job->key) /* the job has not begun */
        return;
    for (uint32_t rank = 0; rank < size; rank++)
        stats_watch_look(stats->watch, rank);
    say_who_is_missing(stats->counters, size);
    uint32_t num = keep_known(stats->counters, size);
    if (stats->file >= 0 || num == 0)
        return;
    fprintf(stderr, "cohortrun: COHORT_STATS: counters of %u of %u localities\n", (unsigned)num,
            (unsigned)size);
    cohort__counters_print(stderr, stats->counters, num);
}

void job_stats_destroy(struct job *job)
{
    if (!job->stats)
        return;
    if (job->stats->file >= 0)
        close(job->stats->file);
    stats_watch_destroy(job->stats->watch);
    free(job->stats->counters);
    free(job->stats);
}
