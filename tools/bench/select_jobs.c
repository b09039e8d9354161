/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: its jobs, one for each number of localities. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/select.h"
#include "tools/share/child.h"
#include "tools/share/programs.h"
#include "tools/share/trial.h"

static bool take_line(void *context, const char *line)
{
    if (select_report_read(context, line) == COHORT_OK)
        return true;
    fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
    return false;
}

/* The words of a command that are numbers. */
struct numbers {
    char sites[16], bytes[24], limit[16], localities[16];
};

/* LOCALITIES 0: tasks, of any number. */
static void compose(struct programs_command *command, const struct programs *programs,
                    const struct bench_options *options, uint32_t localities, unsigned limit,
                    struct numbers *numbers)
{
    bool is_spread = localities > 0;
    uint32_t sites = is_spread ? localities : options->sites;
    snprintf(numbers->localities, sizeof(numbers->localities), "%u", (unsigned)localities);
    snprintf(numbers->sites, sizeof(numbers->sites), "%u", (unsigned)sites);
    snprintf(numbers->bytes, sizeof(numbers->bytes), "%llu", (unsigned long long)options->bytes);
    snprintf(numbers->limit, sizeof(numbers->limit), "%u", limit);
    programs_command_begin(command, programs, is_spread ? numbers->localities : NULL, "1");
    const char *const always[] = {"--json", "--limit", numbers->limit, "--placement",
                                  is_spread ? "localities" : "tasks"};
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        programs_command_add(command, always[i]);
    if (options->quick)
        programs_command_add(command, "--quick");
    const char *const given[][2] = {
        {"--collective", options->collective},
        {"--sites", sites ? numbers->sites : NULL},
        {"--bytes", options->bytes ? numbers->bytes : NULL},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (given[i][1]) {
            programs_command_add(command, given[i][0]);
            programs_command_add(command, given[i][1]);
        }
    programs_command_add(command, "select");
}

/* Each number of localities has a job of its own: more localities, even idle ones, would disturb. A
 * job's time is in proportion to its localities; tasks have as much as 16 of them. What one job
 * leaves over goes to the next one. */
static const struct select_job {
    uint32_t localities;
    unsigned weight;
} jobs[] = {{0, 16}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {8, 8}, {16, 16}, {32, 32}};
enum { NUM_JOBS = sizeof(jobs) / sizeof(jobs[0]) };

static bool is_asked_for(const struct bench_options *options, const struct select_job *job)
{
    bool is_spread = job->localities > 0;
    if (options->placement && options->placement != (is_spread ? 'l' : 't'))
        return false;
    return !is_spread || !options->sites || options->sites == job->localities;
}

int bench_select_jobs(const struct bench_options *options)
{
    struct programs programs;
    struct programs_command command;
    struct numbers numbers;
    struct select_report report = {.json = options->json};
    bool goes_on =
        programs_find(options->cohortrun, &programs) && !setenv("COHORT_WORKERS", "1", 1);
    unsigned weights = 0;
    if (!goes_on)
        return 1;
    for (unsigned i = 0; i < NUM_JOBS; i++)
        weights += is_asked_for(options, &jobs[i]) ? jobs[i].weight : 0;
    uint64_t end = trial_now() + options->limit * UINT64_C(1000000000);
    select_report_begin(&report);
    for (unsigned i = 0; goes_on && i < NUM_JOBS; i++) {
        if (!is_asked_for(options, &jobs[i]))
            continue;
        uint64_t now = trial_now(), left = now < end ? (end - now) / 1000000000 : 0;
        unsigned limit = (unsigned)(left * jobs[i].weight / weights);
        weights -= jobs[i].weight;
        compose(&command, &programs, options, jobs[i].localities, limit > 0 ? limit : 1, &numbers);
        goes_on = child_run(command.args, take_line, &report);
    }
    if (goes_on && !select_report_end(&report)) {
        fputs("cohort-bench: standard output can't be written\n", stderr);
        goes_on = false;
    }
    if (goes_on && report.num_points == 0) {
        fputs("cohort-bench: nothing was measured: select has no such --collective, --sites and "
              "--bytes with that --placement, or the time (--limit) was over\n",
              stderr);
        goes_on = false;
    }
    select_report_fini(&report);
    return goes_on ? 0 : 1;
}
