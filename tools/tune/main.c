/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: where it begins: measures within a job, or starts jobs. */
#include <stdio.h>

#include "tools/share/trial.h"
#include "tools/tune/hosts.h"
#include "tools/tune/jobs.h"
#include "tools/tune/measure.h"
#include "tools/tune/output.h"

struct program {
    struct tune_options options;
    struct tune_samples samples;
};

static cohort_status measure_tasks(struct program *program, uint64_t end)
{
    cohort_status status = COHORT_OK;
    unsigned weights_left = tune_measure_weights(program->options.max_sites);
    for (uint32_t n = 2; !status && n <= program->options.max_sites; n *= 2) {
        uint64_t now = trial_now(), left = end > now ? end - now : 0;
        unsigned weight = tune_measure_weight(n);
        struct tune_measure measure = {n, COHORT__DISTANCE_TASKS, 1, TUNE_MAX_PASSES,
                                       now + left / weights_left * weight};
        status = tune_measure_run(&measure, &program->samples);
        weights_left -= weight;
    }
    return status;
}

static enum cohort__distance distance_of(const struct tune_hosts *hosts)
{
    return hosts->num > 1 ? COHORT__DISTANCE_HOSTS : COHORT__DISTANCE_LOCALITIES;
}

/* The most sites come first: the localities that a smaller communicator leaves idle disturb it. So
 * the smaller ones get the time that is left. */
static cohort_status measure_localities(struct program *program, uint64_t end)
{
    struct tune_hosts hosts;
    cohort_status status = tune_hosts_find(&hosts);
    uint32_t num_sites = 2, max_sites = cohort_num_localities();
    if (max_sites > program->options.max_sites)
        max_sites = program->options.max_sites;
    while (2 * num_sites <= max_sites)
        num_sites *= 2;
    for (; !status && max_sites > 1 && num_sites > 1; num_sites /= 2) {
        struct tune_measure measure = {num_sites, distance_of(&hosts), hosts.sharing, TUNE_PASSES,
                                       end};
        status = tune_measure_run(&measure, &program->samples);
    }
    return status;
}

static cohort_status measure_job(struct program *program, uint64_t end)
{
    enum cohort__distance wanted = program->options.samples == TUNE_SAMPLES_HOSTS
                                       ? COHORT__DISTANCE_HOSTS
                                       : COHORT__DISTANCE_LOCALITIES;
    struct tune_hosts hosts;
    cohort_status status = tune_hosts_find(&hosts);
    if (status)
        return status;
    uint32_t num = cohort_num_localities();
    if (num < 2 || distance_of(&hosts) != wanted)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "--samples %s: this is a job of %u localit%s "
                           "on %u host%s",
                           cohort__distance_name(wanted), (unsigned)num, num == 1 ? "y" : "ies",
                           (unsigned)hosts.num, hosts.num == 1 ? "" : "s");
    return tune_measure_run(
        &(struct tune_measure){num, wanted, hosts.sharing, TUNE_MAX_PASSES, end},
        &program->samples);
}

static cohort_status measure_all(struct program *program)
{
    uint64_t now = trial_now(), ns = program->options.seconds * (uint64_t)1000000000;
    bool is_alone = cohort_num_localities() == 1;
    switch (program->options.samples) {
    case TUNE_SAMPLES_TASKS:
        return measure_tasks(program, now + ns);
    case TUNE_SAMPLES_LOCALITIES:
    case TUNE_SAMPLES_HOSTS:
        return measure_job(program, now + ns);
    default:
        break;
    }
    cohort_status status = measure_tasks(program, now + (is_alone ? ns : ns / 2));
    return status ? status : measure_localities(program, now + ns);
}

static cohort_status report(struct program *program)
{
    char measured[40];
    uint32_t localities = cohort_num_localities();
    if (program->options.samples)
        return tune_samples_print(&program->samples, stdout);
    snprintf(measured, sizeof(measured), "%u localit%s", (unsigned)localities,
             localities == 1 ? "y" : "ies");
    return tune_output_write(&program->options, &program->samples, measured, cohort_num_workers());
}

static cohort_status run(void *arg)
{
    struct program *program = arg;
    cohort_status status = measure_all(program);
    if (!status && cohort_locality() == 0)
        status = report(program);
    tune_samples_fini(&program->samples);
    return status;
}

int main(int argc, char **argv)
{
    static struct program program;
    int status = tune_options_read(argc, argv, &program.options);
    if (status >= 0)
        return status;
    return tune_options_start_jobs(&program.options) ? tune_jobs_run(&program.options)
                                                     : cohort_main(argc, argv, run, &program);
}
