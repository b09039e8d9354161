/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/stats.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/base/counters.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/loop/loop.h"
#include "runtime/proc/process.h"
#include "runtime/task/fork.h"
#include "runtime/task/scheduler.h"

/* Between two lines of the file; ticks come ten times as often. */
static const uint64_t interval_ns = 1000000000;

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void count_usage(struct cohort__counters *counters)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    counters->of[COHORT__COUNTER_USER_US] = microseconds(&usage.ru_utime);
    counters->of[COHORT__COUNTER_SYSTEM_US] = microseconds(&usage.ru_stime);
    counters->of[COHORT__COUNTER_MAX_MEMORY_BYTES] = (uint64_t)usage.ru_maxrss * 1024;
    counters->of[COHORT__COUNTER_MINOR_FAULTS] = (uint64_t)usage.ru_minflt;
    counters->of[COHORT__COUNTER_MAJOR_FAULTS] = (uint64_t)usage.ru_majflt;
    counters->of[COHORT__COUNTER_VOLUNTARY_SWITCHES] = (uint64_t)usage.ru_nvcsw;
    counters->of[COHORT__COUNTER_INVOLUNTARY_SWITCHES] = (uint64_t)usage.ru_nivcsw;
}

static void gather(const struct cohort__stats *stats, const struct cohort__process *process,
                   struct cohort__counters *ret_counters)
{
    struct timespec now;
    struct cohort__slab_stats slab;
    uint64_t *of = ret_counters->of;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret_counters = (struct cohort__counters){
        .at = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
        .rank = stats->rank,
    };
    cohort__trace_sum(ret_counters);
    cohort__scheduler_num_tasks(&of[COHORT__COUNTER_TASKS_STARTED],
                                &of[COHORT__COUNTER_TASKS_ENDED]);
    if (process) {
        cohort__process_num_messages(process, &of[COHORT__COUNTER_MESSAGES_SENT],
                                     &of[COHORT__COUNTER_MESSAGES_RECEIVED]);
        of[COHORT__COUNTER_MESSAGES_DROPPED] = cohort__process_dropped(process);
    }
    cohort__loop_num_events(stats->loop, &of[COHORT__COUNTER_LOOP_EVENTS],
                            &of[COHORT__COUNTER_LOOP_TICKS]);
    cohort__slab_stats_get(&slab);
    of[COHORT__COUNTER_SLAB_CHUNKS] = slab.num_chunks;
    count_usage(ret_counters);
}

static void append(struct cohort__stats *stats, const struct cohort__counters *counters)
{
    if (cohort__counters_append(stats->file, counters) || stats->has_failed)
        return;
    stats->has_failed = true;
    fprintf(stderr, "cohort: COHORT_STATS: a line can't be written: %s\n", strerror(errno));
}

cohort_status cohort__stats_begin(struct cohort__stats *stats,
                                  const struct cohort__stats_options *options)
{
    struct cohort__stats begun = {.loop = options->loop,
                                  .rank = options->rank,
                                  .size = options->size,
                                  .is_own = !options->has_launcher,
                                  .file = -1,
                                  .next_at = cohort__clock_now() + interval_ns};
    cohort_status status = COHORT_OK;
    if (!*options->setting)
        return COHORT_OK;
    begun.line = cohort__ledger_take(COHORT__LEDGER_COUNTERS);
    if (!begun.line)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "COHORT_STATS: no memory to count");
    if (begun.is_own && strcmp(options->setting, "1") != 0)
        status = cohort__counters_open(options->setting, &begun.file);
    if (status) {
        cohort__ledger_give_back(COHORT__LEDGER_COUNTERS, begun.line);
        return status;
    }
    *stats = begun;
    cohort__stats_tick(stats, NULL); /* so that cohortrun knows of it from now on */
    return COHORT_OK;
}

void cohort__stats_tick(struct cohort__stats *stats, const struct cohort__process *process)
{
    struct cohort__counters counters;
    if (!stats->line)
        return;
    gather(stats, process, &counters);
    cohort__counters_publish(&counters, stats->line);
    uint64_t now = cohort__clock_now();
    if (stats->file < 0 || now < stats->next_at)
        return;
    append(stats, &counters);
    stats->next_at = now + interval_ns;
}

static void print_table(const struct cohort__stats *stats, const struct cohort__counters *counters)
{
    if (stats->size > 1)
        fprintf(stderr, "cohort: COHORT_STATS: counters of locality %u of %u\n",
                (unsigned)stats->rank, (unsigned)stats->size);
    else
        fputs("cohort: COHORT_STATS: counters of this program\n", stderr);
    cohort__counters_print(stderr, counters, 1);
}

/* With cohortrun the line stays in the ledger, which cohortrun has. A child that was forked is no
 * locality. */
void cohort__stats_end(struct cohort__stats *stats, const struct cohort__process *process)
{
    struct cohort__counters counters;
    if (!stats->line || cohort__fork_is_child())
        return;
    gather(stats, process, &counters);
    cohort__counters_publish(&counters, stats->line);
    if (!stats->is_own)
        return;
    cohort__ledger_give_back(COHORT__LEDGER_COUNTERS, stats->line);
    stats->line = NULL;
    if (stats->file < 0) {
        print_table(stats, &counters);
        return;
    }
    append(stats, &counters);
    close(stats->file);
}
