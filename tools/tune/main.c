/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: where it begins: measures within a job, or starts jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cohort/cohort.h>

#include "runtime/base/cores.h"
#include "tools/share/trial.h"
#include "tools/tune/jobs.h"
#include "tools/tune/measure.h"
#include "tools/tune/output.h"

struct program {
    struct tune_options options;
    struct tune_samples samples;
};

/* Which hosts the job is on. */
struct hosts {
    uint32_t num;
    uint32_t sharing; /* as in struct cohort__placement */
};

static uint32_t count_hosts(const cohort_comm *comm)
{
    uint32_t level = 0, num = cohort_comm_num_machine_levels(comm);
    while (level < num && strcmp(cohort_comm_level_name(comm, level), "host") != 0)
        level++;
    return level < num ? cohort_comm_num_subgroups(comm, level) : 1;
}

/* How often the most frequent one of NUM numbers is there. 0 is none. */
static uint32_t count_equal(const uint64_t *numbers, uint32_t num)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < num; i++) {
        uint32_t equal = 0;
        for (uint32_t j = 0; j < num; j++)
            equal += numbers[i] != 0 && numbers[j] == numbers[i];
        most = equal > most ? equal : most;
    }
    return most;
}

static cohort_status look_at_hosts(cohort_comm *comm, struct hosts *ret_hosts)
{
    uint32_t num_sites = cohort_comm_num_sites(comm), num = count_hosts(comm);
    if (num > 1 && num < num_sites)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%u localities on %u hosts: to measure between hosts, each has one "
                           "locality; --hosts starts such jobs",
                           (unsigned)num_sites, (unsigned)num);
    uint64_t own = cohort__cores_identify(), *all = calloc(num_sites, sizeof(*all));
    if (!all)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u hosts", (unsigned)num_sites);
    cohort_status status = cohort_await(cohort_all_gather(comm, &own, all, 1, COHORT_UINT64, 1));
    if (!status)
        *ret_hosts = (struct hosts){num, num > 1 ? count_equal(all, num) : 1};
    free(all);
    return status;
}

/* To be called in every locality of the job, within a task. COHORT_ERR_BAD_PARAMETER, everywhere:
 * there are several hosts, and one of them has several localities. */
static cohort_status find_hosts(struct hosts *ret_hosts)
{
    uint32_t num = cohort_num_localities();
    cohort_comm *comm = NULL;
    if (num == 1) {
        *ret_hosts = (struct hosts){1, 1};
        return COHORT_OK;
    }
    cohort_comm_options options = {.num_sites = num, .this_site = cohort_locality()};
    cohort_status status = cohort_await(cohort_comm_create(&comm, "tune hosts", &options));
    if (!status)
        status = look_at_hosts(comm, ret_hosts);
    cohort_comm_unref(comm);
    return status;
}

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

static enum cohort__distance distance_of(const struct hosts *hosts)
{
    return hosts->num > 1 ? COHORT__DISTANCE_HOSTS : COHORT__DISTANCE_LOCALITIES;
}

/* The most sites come first: the localities that a smaller communicator leaves idle disturb it. So
 * the smaller ones get the time that is left. */
static cohort_status measure_localities(struct program *program, uint64_t end)
{
    struct hosts hosts;
    cohort_status status = find_hosts(&hosts);
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
    struct hosts hosts;
    cohort_status status = find_hosts(&hosts);
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
