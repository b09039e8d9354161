/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `figures` and `hierarchy`: their jobs, and the figures that are wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench.h"
#include "tools/share/child.h"
#include "tools/share/programs.h"

/* A job that is run. */
struct part {
    const char *localities; /* NULL: started without cohortrun */
    const char *workers;    /* of each */
    const char *args[4];
};

static const struct part parts[] = {
    {NULL, "1", {"tasks", "barrier", "coll"}},
    {"2", "1", {"coll"}},
    {"4", "1", {"coll"}},
    {"8", "1", {"coll"}},
    {"4", "1", {"--sites-per-locality", "16", "coll"}},
};

/* All for 8 B, with the communicator's default options. */
static const struct wanted {
    const char *text;
    const char *operation;
    uint32_t localities;
    uint32_t sites;
    double limit_us;
} wanted[] = {
    {"all_reduce of 8 B, 64 sites in 1 locality with 1 worker", "all_reduce", 1, 64, 8},
    {"all_to_all of 8 B, 64 sites in 1 locality with 1 worker", "all_to_all", 1, 64, 60},
    {"all_reduce of 8 B, 4 localities with 1 site each", "all_reduce", 4, 4, 100},
};
enum { NUM_WANTED = sizeof(wanted) / sizeof(wanted[0]) };

/* The arguments of a job, with the numbers among them. */
struct job {
    struct programs_command command;
    char rounds[16];
};

static void compose(struct job *job, const struct part *part, const struct bench_options *options,
                    const struct programs *programs)
{
    struct programs_command *command = &job->command;
    programs_command_begin(command, programs, part->localities, part->workers);
    snprintf(job->rounds, sizeof(job->rounds), "%u", options->rounds);
    programs_command_add(command, "--json");
    programs_command_add(command, "--rounds");
    programs_command_add(command, job->rounds);
    if (options->quick)
        programs_command_add(command, "--quick");
    for (size_t i = 0; i < 4 && part->args[i]; i++)
        programs_command_add(command, part->args[i]);
}

static bool take_line(void *context, const char *line)
{
    struct bench_result result;
    if (!bench_result_read(line, &result))
        return true;
    if (bench_report_add(context, &result) == COHORT_OK)
        return true;
    fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
    return false;
}

static bool is_wanted(const struct bench_result *result, const struct wanted *one)
{
    return strcmp(result->name, one->operation) == 0 && result->bytes == 8 &&
           result->localities == one->localities && result->sites == one->sites &&
           strcmp(result->shape, "chosen") == 0;
}

static bool set_target(const struct bench_report *report, const struct wanted *one,
                       struct bench_target *ret_target)
{
    for (size_t i = 0; i < report->num_results; i++) {
        const struct bench_result *result = &report->results[i];
        if (!is_wanted(result, one))
            continue;
        *ret_target = (struct bench_target){one->text, one->limit_us, result->median, result->unit};
        return true;
    }
    fprintf(stderr, "cohort-bench: no result for: %s\n", one->text);
    return false;
}

static bool run_parts(const struct part *some, size_t num, const struct bench_options *options,
                      struct bench_report *report)
{
    struct programs programs;
    struct job job;
    if (!programs_find(options->cohortrun, &programs))
        return false;
    for (size_t i = 0; i < num; i++) {
        if (setenv("COHORT_WORKERS", some[i].workers, 1) || setenv("COHORT_BENCH_PART", "1", 1))
            return false;
        compose(&job, &some[i], options, &programs);
        if (!child_run(job.command.args, take_line, report))
            return false;
    }
    return true;
}

static int end(const struct bench_report *report, const struct bench_target *targets,
               size_t num_targets)
{
    if (bench_report_end(report, targets, num_targets))
        return 0;
    fputs("cohort-bench: standard output can't be written\n", stderr);
    return 1;
}

int bench_figures(const struct bench_options *options, struct bench_report *report)
{
    struct bench_target targets[NUM_WANTED];
    if (!run_parts(parts, sizeof(parts) / sizeof(parts[0]), options, report))
        return 1;
    for (size_t i = 0; i < NUM_WANTED; i++)
        if (!set_target(report, &wanted[i], &targets[i]))
            return 1;
    return end(report, targets, NUM_WANTED);
}

int bench_hierarchy_jobs(const struct bench_options *options, struct bench_report *report)
{
    static const struct part trees[] = {
        {NULL, "1", {"hierarchy"}},
        {NULL, "2", {"hierarchy"}},
        {"4", "1", {"--sites-per-locality", "16", "hierarchy"}},
        {"4", "2", {"--sites-per-locality", "16", "hierarchy"}},
    };
    if (!run_parts(trees, sizeof(trees) / sizeof(trees[0]), options, report))
        return 1;
    return end(report, NULL, 0);
}
