/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: prints who made whom wait, and draws what the localities did. */
#include "tools/trace/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LINES = 20 };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static const char *host_of(const struct locality *locality)
{
    const char *space = strchr(locality->name, ' ');
    return space ? space + 1 : "?";
}

/* Once for each host whose clock is not the first one's. */
static void print_clocks(const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->num_localities; i++) {
        const struct locality *locality = &trace->localities[i];
        uint32_t first = 0;
        while (trace->localities[first].host != locality->host)
            first++;
        if (first < i || locality->known == COHORT__TRACE_CLOCK_SAME)
            continue;
        printf("the clock of %s is %.6f s %s that of %s", host_of(locality),
               fabs((double)locality->ahead / 1e9), locality->ahead < 0 ? "behind" : "ahead of",
               host_of(&trace->localities[0]));
        if (locality->known == COHORT__TRACE_CLOCK_COMPARED)
            printf(", to within %.1f us\n", (double)locality->bound / 1e3);
        else
            printf(", by the time of day only\n");
    }
}

static double since_begin(const struct model *model, uint64_t at)
{
    at = at < model->end ? at : model->end;
    return at > model->begin ? seconds(at - model->begin) : 0;
}

static void print_head(const struct model *model, const struct sums_options *options)
{
    const struct trace *trace = model->trace;
    uint32_t hosts = 0;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < trace->num_localities; i++) {
        hosts = trace->localities[i].host + 1 > hosts ? trace->localities[i].host + 1 : hosts;
        lost += trace->localities[i].lost;
    }
    const char *name = trace->localities[0].name;
    printf("job %.*s: %u localities on %u host%s, from %" PRIu64 ".%06" PRIu64
           " s on for %.3f s, %zu events",
           (int)strcspn(name, " "), name, (unsigned)trace->num_localities, (unsigned)hosts,
           hosts == 1 ? "" : "s", model->begin / 1000000000, model->begin / 1000 % 1000000,
           seconds(model->end - model->begin), trace->num);
    if (lost > 0)
        printf(", %" PRIu64 " lost", lost);
    printf("\n");
    if (trace->num_localities < trace->size)
        printf("of the job's %u localities %u are not in the trace\n", (unsigned)trace->size,
               (unsigned)(trace->size - trace->num_localities));
    for (uint32_t i = 0; i < trace->num_localities; i++)
        if (!trace->localities[i].is_closed)
            printf("locality %u has not come to its end\n", (unsigned)trace->localities[i].rank);
    print_clocks(trace);
    if (options->from > model->begin || options->to < model->end)
        printf("only from %.3f s to %.3f s\n", since_begin(model, options->from),
               since_begin(model, options->to));
}

static void print_total(const struct sums *sums)
{
    printf("waited %.3f s: for other localities %.3f s, for tasks of the same locality %.3f s, "
           "operations %.3f s, messages %.3f s, queues %.3f s, outside %.3f s",
           seconds(sums->waited), seconds(sums->by[BLAME_TASK] - sums->by_own),
           seconds(sums->by_own), seconds(sums->by[BLAME_OPERATION]),
           seconds(sums->by[BLAME_MESSAGE]), seconds(sums->by[BLAME_QUEUE]),
           seconds(sums->by[BLAME_OUTSIDE]));
    if (sums->by[BLAME_MISSING] > 0)
        printf(", for sites that never called %.3f s", seconds(sums->by[BLAME_MISSING]));
    printf("\n");
}

static void print_pairs(const struct sums *sums)
{
    uint32_t lines = 0;
    printf("\nby locality\n");
    for (uint32_t i = 0; i < sums->num_pairs && lines < MOST_LINES; i++) {
        const struct sum_pair *pair = &sums->pairs[i];
        if (pair->maker == pair->waiter)
            continue;
        printf("  %u made %u wait %.3f s\n", (unsigned)pair->maker, (unsigned)pair->waiter,
               seconds(pair->ns));
        lines++;
    }
    if (lines == 0)
        printf("  none made another one wait\n");
}

static void print_tasks(const struct sums *sums)
{
    printf("\nby task\n");
    for (uint32_t i = 0; i < sums->num_tasks && i < MOST_LINES; i++)
        printf("  %s (locality %u) made tasks wait %.3f s, waited itself %.3f s\n",
               sums->tasks[i].function, (unsigned)sums->tasks[i].rank, seconds(sums->tasks[i].made),
               seconds(sums->tasks[i].waited));
    if (sums->num_tasks > MOST_LINES)
        printf("  ... and %u more\n", (unsigned)(sums->num_tasks - MOST_LINES));
}

static void print_calls(const struct sums *sums)
{
    printf("\nby collective\n");
    for (uint32_t i = 0; i < sums->num_calls && i < MOST_LINES; i++) {
        const struct sum_call *call = &sums->calls[i];
        printf("  \"%s\" %s, %" PRIu64 " call%s: late %.3f s", call->communicator, call->name,
               call->num, call->num == 1 ? "" : "s", seconds(call->late));
        if (call->last_site != NONE)
            printf(" (site %u last in %" PRIu64 ")", (unsigned)call->last_site, call->num_last);
        printf(", operation %.3f s\n", seconds(call->operation));
    }
    if (sums->num_calls > MOST_LINES)
        printf("  ... and %u more\n", (unsigned)(sums->num_calls - MOST_LINES));
}

static void print_absent(const struct model *model, const struct sums *sums)
{
    if (sums->num_absent > 0)
        printf("\nnever called\n");
    for (uint32_t i = 0; i < sums->num_absent && i < MOST_LINES; i++) {
        const struct sum_absent *absent = &sums->absent[i];
        uint32_t locality = model_locality(model, absent->rank);
        printf("  \"%s\" %s, generation%s %" PRIu64, absent->communicator, absent->name,
               absent->first == absent->last ? "" : "s", absent->first);
        if (absent->last > absent->first)
            printf(" to %" PRIu64, absent->last);
        printf(": site %u (", (unsigned)absent->site);
        if (locality != NONE)
            printf("locality %u on %s", (unsigned)absent->rank,
                   host_of(&model->trace->localities[locality]));
        else
            printf("its locality is not in the trace");
        printf(") was waited for %.3f s\n", seconds(absent->ns));
    }
    if (sums->num_absent > MOST_LINES)
        printf("  ... and %u more\n", (unsigned)(sums->num_absent - MOST_LINES));
}

void report_print(const struct model *model, const struct sums *sums,
                  const struct sums_options *options)
{
    print_head(model, options);
    print_total(sums);
    print_pairs(sums);
    print_tasks(sums);
    print_calls(sums);
    print_absent(model, sums);
}
