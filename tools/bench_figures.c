/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/bench.h"
#include "tools/bench_child.h"
#include "tools/bench_json.h"

enum { MAX_PATH = 4096, MAX_ARGS = 24 };

/* The jobs that are run, each with one worker in a locality. */
static const struct part {
    const char *localities; /* NULL: started without cohortrun */
    const char *args[4];
} parts[] = {
    {NULL, {"tasks", "barrier", "coll"}},
    {"2", {"coll"}},
    {"4", {"coll"}},
    {"8", {"coll"}},
    {"4", {"--sites-per-locality", "16", "coll"}},
};

/* The 8 B all_reduce with the communicator's default options. */
static const struct wanted {
    const char *text;
    uint32_t localities;
    uint32_t sites;
    double limit_us;
} wanted[] = {
    {"all_reduce of 8 B, 64 sites in 1 locality with 1 worker", 1, 64, 20},
    {"all_reduce of 8 B, 4 localities with 1 site each", 4, 4, 100},
};
enum { NUM_WANTED = sizeof(wanted) / sizeof(wanted[0]) };

/* The arguments of a job, with the numbers among them. */
struct command {
    char *args[MAX_ARGS];
    size_t num_args;
    char rounds[16];
};

/* exec takes the arguments as they are, but its prototype doesn't say so. */
static void add(struct command *command, const char *arg)
{
    command->args[command->num_args++] = (char *)arg;
}

static void compose(struct command *command, const struct part *part,
                    const struct bench_options *options, const char *cohortrun, const char *self)
{
    *command = (struct command){.num_args = 0};
    if (part->localities) {
        const char *const launch[] = {cohortrun,   "-n",  part->localities, "--workers", "1",
                                      "--timeout", "1800"};
        for (size_t i = 0; i < sizeof(launch) / sizeof(launch[0]); i++)
            add(command, launch[i]);
    }
    snprintf(command->rounds, sizeof(command->rounds), "%u", options->rounds);
    add(command, self);
    add(command, "--json");
    add(command, "--rounds");
    add(command, command->rounds);
    if (options->quick)
        add(command, "--quick");
    for (size_t i = 0; i < 4 && part->args[i]; i++)
        add(command, part->args[i]);
    add(command, NULL);
}

static bool take_line(void *context, const char *line)
{
    struct bench_result result;
    if (!bench_json_read_result(line, &result))
        return true;
    if (bench_report_add(context, &result) == COHORT_OK)
        return true;
    fprintf(stderr, "cohort-bench: %s\n", cohort_error_message());
    return false;
}

static const char *default_shape(uint32_t sites)
{
    return sites < COHORT_DEFAULT_FLAT_FALLBACK_THRESHOLD || sites <= COHORT_DEFAULT_ARITY ? "flat"
                                                                                           : "tree";
}

static bool is_wanted(const struct bench_result *result, const struct wanted *one)
{
    return strcmp(result->name, "all_reduce") == 0 && result->bytes == 8 &&
           result->localities == one->localities && result->sites == one->sites &&
           strcmp(result->shape, default_shape(one->sites)) == 0;
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

/* This program, and the launcher beside it. */
static bool find_programs(const struct bench_options *options, char *self, char *cohortrun)
{
    ssize_t length = readlink("/proc/self/exe", self, MAX_PATH - 1);
    if (length <= 0) {
        perror("cohort-bench: /proc/self/exe");
        return false;
    }
    self[length] = '\0';
    int folder = (int)(strrchr(self, '/') - self);
    int written = options->cohortrun
                      ? snprintf(cohortrun, MAX_PATH, "%s", options->cohortrun)
                      : snprintf(cohortrun, MAX_PATH, "%.*s/cohortrun", folder, self);
    if (written < MAX_PATH && access(cohortrun, X_OK) == 0)
        return true;
    fprintf(stderr, "cohort-bench: no launcher at '%s': give --cohortrun PATH\n", cohortrun);
    return false;
}

int bench_figures(const struct bench_options *options, struct bench_report *report)
{
    char self[MAX_PATH], cohortrun[MAX_PATH];
    struct bench_target targets[NUM_WANTED];
    struct command command;
    if (!find_programs(options, self, cohortrun) || setenv("COHORT_WORKERS", "1", 1))
        return 1;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        compose(&command, &parts[i], options, cohortrun, self);
        if (!bench_child_run(command.args, take_line, report))
            return 1;
    }
    for (size_t i = 0; i < NUM_WANTED; i++)
        if (!set_target(report, &wanted[i], &targets[i]))
            return 1;
    if (bench_report_end(report, targets, NUM_WANTED))
        return 0;
    fputs("cohort-bench: standard output can't be written\n", stderr);
    return 1;
}
