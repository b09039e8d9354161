/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: prints or writes what the localities have counted with COHORT_STATS. */
#include "tools/cohortrun/job_stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/counters.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_read.h"
#include "tools/cohortrun/deadline.h"
#include "tools/cohortrun/job_private.h"
#include "tools/cohortrun/options.h"

/* Between two looks at the ledger for the file. */
static const uint64_t interval_ns = 1000000000;

struct job_stats {
    int file; /* -1: a table at the end */
    struct deadline next;
    uint32_t first, num;               /* the localities of this host */
    struct cohort__counters *counters; /* what they said last; NULL: they were not started */
    bool has_failed;                   /* to write a line, and said so */
};

/* A ledger may say anything: it is about the locality that it belongs to. */
static void take(void *context, const void *line)
{
    cohort__counters_take(context, line);
}

/* False: it has written nothing yet. */
static bool look_at(const struct job *job, uint32_t slot, struct cohort__counters *ret_counters)
{
    struct cohort__ledger_view view;
    ret_counters->at = 0;
    if (cohort__ledger_view_init(&view, job->ledger, slot))
        return false;
    (void)!cohort__ledger_each(&view, COHORT__LEDGER_COUNTERS, take, ret_counters);
    ret_counters->rank = job->stats->first + slot;
    return ret_counters->at != 0;
}

static void append(struct job_stats *stats, const struct cohort__counters *counters)
{
    if (cohort__counters_append(stats->file, counters) || stats->has_failed)
        return;
    stats->has_failed = true;
    fprintf(stderr, "cohortrun: COHORT_STATS: a line can't be written: %s\n", strerror(errno));
}

/* Reads all, and writes a line of each locality that has counted anew since. */
static void look(struct job *job)
{
    struct job_stats *stats = job->stats;
    for (uint32_t slot = 0; slot < stats->num; slot++) {
        struct cohort__counters now, *last = &stats->counters[slot];
        if (!look_at(job, slot, &now) || now.at == last->at)
            continue;
        *last = now;
        if (stats->file >= 0)
            append(stats, last);
    }
}

static void look_again(void *context)
{
    struct job *job = context;
    look(job);
    deadline_set(&job->stats->next, interval_ns);
}

cohort_status job_stats_open(struct job *job)
{
    const char *setting = getenv("COHORT_STATS");
    if (!setting || !*setting || strcmp(setting, "0") == 0)
        return COHORT_OK;
    struct job_stats *stats = calloc(1, sizeof(*stats));
    if (!stats)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "out of memory");
    stats->file = -1;
    deadline_init(&stats->next, job->loop, look_again, job);
    cohort_status status =
        strcmp(setting, "1") == 0 ? COHORT_OK : cohort__counters_open(setting, &stats->file);
    if (status)
        free(stats);
    else
        job->stats = stats;
    return status;
}

void job_stats_begin(struct job *job)
{
    struct job_stats *stats = job->stats;
    if (!stats || job->ledger < 0)
        return;
    job_find_own_localities(job, &stats->first, &stats->num);
    stats->counters = calloc(stats->num, sizeof(*stats->counters));
    if (!stats->counters)
        stats->num = 0;
    else if (stats->file >= 0)
        deadline_set(&stats->next, interval_ns);
}

void job_stats_close(struct job *job)
{
    if (job->stats)
        deadline_clear(&job->stats->next);
}

/* Moves those that have counted to the begin. Returns how many there are. */
static uint32_t keep_known(struct job_stats *stats)
{
    uint32_t num = 0;
    for (uint32_t slot = 0; slot < stats->num; slot++)
        if (stats->counters[slot].at)
            stats->counters[num++] = stats->counters[slot];
    return num;
}

static void say_range(uint32_t first, uint32_t num, const char *why)
{
    fprintf(stderr, "cohortrun: COHORT_STATS: not counted: ");
    if (num > 1)
        fprintf(stderr, "localities %u-%u, ", (unsigned)first, (unsigned)(first + num - 1));
    else
        fprintf(stderr, "locality %u, ", (unsigned)first);
    fprintf(stderr, "%s\n", why);
}

static void say_who_is_missing(const struct job *job)
{
    const struct job_stats *stats = job->stats;
    const struct host_list *hosts = &job->options->hosts;
    for (uint32_t slot = 0; slot < stats->num; slot++) {
        uint32_t num = 0;
        while (slot + num < stats->num && !stats->counters[slot + num].at)
            num++;
        if (num > 0)
            say_range(stats->first + slot, num, "where no program of Cohort has begun");
        slot += num;
    }
    for (uint32_t i = 0; i < hosts->num; i++) {
        char why[300];
        snprintf(why, sizeof(why), "of host %.250s", hosts->list[i].name);
        if (hosts->list[i].is_far)
            say_range(hosts->list[i].first, hosts->list[i].num, why);
    }
}

void job_stats_finish(struct job *job)
{
    struct job_stats *stats = job->stats;
    if (!stats || !job->key) /* the job has not begun */
        return;
    if (stats->num > 0)
        look(job);
    say_who_is_missing(job);
    uint32_t num = keep_known(stats);
    if (stats->file >= 0 || num == 0)
        return;
    fprintf(stderr, "cohortrun: COHORT_STATS: counters of %u of %u localities\n", (unsigned)num,
            (unsigned)job->options->size);
    cohort__counters_print(stderr, stats->counters, num);
}

void job_stats_destroy(struct job *job)
{
    if (!job->stats)
        return;
    if (job->stats->file >= 0)
        close(job->stats->file);
    free(job->stats->counters);
    free(job->stats);
}
