/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: --localities: starts the jobs, and collects their samples. */
#include "tools/tune/jobs.h"

#include <stdio.h>

#include "tools/share/child.h"
#include "tools/share/programs.h"
#include "tools/share/trial.h"
#include "tools/tune/measure.h"
#include "tools/tune/output.h"

/* All communicators of tasks together need half as much as the jobs up to 32 localities. */
enum { TASKS_WEIGHT = 50 };

struct jobs {
    const struct tune_options *options;
    struct programs programs;
    struct tune_samples samples;
    uint64_t end;
    unsigned weights_left;
};

static bool failed(void)
{
    fprintf(stderr, "cohort-tune: %s\n", cohort_error_message());
    return false;
}

static bool take_line(void *context, const char *line)
{
    return tune_samples_read(context, line) == COHORT_OK || failed();
}

/* A job's share of the time that is left. The starts of earlier jobs have taken some of the
 * whole. */
static unsigned seconds_for(struct jobs *jobs, unsigned weight)
{
    uint64_t now = trial_now(), left = jobs->end > now ? jobs->end - now : 0;
    double seconds = (double)left / 1e9 * weight / jobs->weights_left;
    jobs->weights_left -= weight;
    return seconds < 1.5 ? 1 : (unsigned)(seconds + 0.5);
}

static bool run_job(struct jobs *jobs, uint32_t num_localities, unsigned weight)
{
    struct programs_command command;
    char localities[16], seconds[16], sites[16];
    snprintf(localities, sizeof(localities), "%u", (unsigned)num_localities);
    snprintf(seconds, sizeof(seconds), "%u", seconds_for(jobs, weight));
    snprintf(sites, sizeof(sites), "%u", (unsigned)jobs->options->max_sites);
    programs_command_begin(&command, &jobs->programs, localities, "1");
    const char *const args[] = {"--samples", num_localities == 1 ? "tasks" : "localities",
                                "--seconds", seconds,
                                "--sites",   sites};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(&command, args[i]);
    size_t before = jobs->samples.num;
    if (!child_run(command.args, take_line, &jobs->samples))
        return false;
    if (jobs->samples.num > before)
        return true;
    fprintf(stderr, "cohort-tune: %s printed no sample\n", command.args[0]);
    return false;
}

static bool run_all(struct jobs *jobs, uint32_t max_localities)
{
    jobs->end = trial_now() + jobs->options->seconds * (uint64_t)1000000000;
    jobs->weights_left = TASKS_WEIGHT + tune_measure_weights(max_localities);
    bool goes_on = run_job(jobs, 1, TASKS_WEIGHT);
    for (uint32_t n = 2; goes_on && n <= max_localities; n *= 2)
        goes_on = run_job(jobs, n, tune_measure_weight(n));
    return goes_on;
}

static bool write_file(const struct jobs *jobs, uint32_t max_localities)
{
    char measured[64];
    snprintf(measured, sizeof(measured), "jobs of up to %u localities", (unsigned)max_localities);
    return tune_output_write(jobs->options, &jobs->samples, measured, 1) == COHORT_OK || failed();
}

int tune_jobs_run(const struct tune_options *options)
{
    static struct jobs jobs;
    uint32_t max_localities =
        options->localities < options->max_sites ? options->localities : options->max_sites;
    jobs.options = options;
    bool is_done = programs_find(options->cohortrun, &jobs.programs) &&
                   run_all(&jobs, max_localities) && write_file(&jobs, max_localities);
    tune_samples_fini(&jobs.samples);
    return is_done ? 0 : 1;
}
