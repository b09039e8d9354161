/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: --localities, --hosts: starts the jobs, and collects their samples. */
#include "tools/tune/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/share/child.h"
#include "tools/share/host_list.h"
#include "tools/share/trial.h"
#include "tools/tune/measure.h"
#include "tools/tune/output.h"

enum { PROGRAMS_MAX_PATH = 4096, PROGRAMS_MAX_ARGS = 64 };

/* The programs that a job is started with. */
struct programs {
    char self[PROGRAMS_MAX_PATH];
    char cohortrun[PROGRAMS_MAX_PATH];
    const char *timeout; /* of a job, in seconds; two hours by default */
};

/* A command line. The words have to stay valid. */
struct programs_command {
    char *args[PROGRAMS_MAX_ARGS + 1]; /* ends with NULL */
    size_t num_args;
};

static bool find_self(char ret_path[PROGRAMS_MAX_PATH])
{
    ssize_t length = readlink("/proc/self/exe", ret_path, PROGRAMS_MAX_PATH - 1);
    if (length <= 0) {
        fprintf(stderr, "%s: /proc/self/exe: %s\n", program_invocation_short_name, strerror(errno));
        return false;
    }
    ret_path[length] = '\0';
    return true;
}

/* Finds this program and the launcher. The launcher is at LAUNCHER; if that is NULL, it is beside
 * this program. False: there is none, which has been printed. */
static bool programs_find(const char *launcher, struct programs *ret_programs)
{
    ret_programs->timeout = "7200";
    char *self = ret_programs->self, *cohortrun = ret_programs->cohortrun;
    if (!find_self(self))
        return false;
    int folder = (int)(strrchr(self, '/') - self);
    int written = launcher ? snprintf(cohortrun, PROGRAMS_MAX_PATH, "%s", launcher)
                           : snprintf(cohortrun, PROGRAMS_MAX_PATH, "%.*s/cohortrun", folder, self);
    if (written < PROGRAMS_MAX_PATH && access(cohortrun, X_OK) == 0)
        return true;
    fprintf(stderr, "%s: no launcher at '%s': give --cohortrun PATH\n",
            program_invocation_short_name, cohortrun);
    return false;
}

/* exec takes the arguments as they are, but its prototype doesn't say so. */
static void programs_command_add(struct programs_command *command, const char *arg)
{
    if (command->num_args < PROGRAMS_MAX_ARGS)
        command->args[command->num_args++] = (char *)arg;
}

/* Begins a command of the launcher, for LOCALITIES with WORKERS each. */
static void programs_command_launch(struct programs_command *command,
                                    const struct programs *programs, const char *localities,
                                    const char *workers)
{
    const char *const args[] = {programs->cohortrun, "-n",    localities,
                                "--workers",         workers, "--timeout",
                                programs->timeout};
    *command = (struct programs_command){.num_args = 0};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(command, args[i]);
}

/* All communicators of tasks together need half as much as the jobs up to 32 localities. */
enum { TASKS_WEIGHT = 50 };

struct jobs {
    const struct tune_options *options;
    struct programs programs;
    struct tune_samples samples;
    struct host_list hosts;
    uint32_t max_localities; /* of a job on this host; 0: there is none */
    uint32_t max_hosts;      /* of a job with a locality on each host; 0: there is none */
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

/* The command up to this program. */
static void begin_command(const struct jobs *jobs, enum cohort__distance distance, const char *num,
                          const char *hosts, struct programs_command *command)
{
    programs_command_launch(command, &jobs->programs, num, "1");
    const char *const options[][2] = {
        {"--hosts", hosts}, {"--listen", jobs->options->listen}, {"--agent", jobs->options->agent}};
    for (size_t i = 0; distance == COHORT__DISTANCE_HOSTS && i < sizeof(options) / sizeof(*options);
         i++)
        if (options[i][1]) {
            programs_command_add(command, options[i][0]);
            programs_command_add(command, options[i][1]);
        }
    programs_command_add(command, jobs->programs.self);
}

/* The first NUM hosts, "a,b,c". The caller frees it. */
static char *list_hosts(const struct host_list *hosts, uint32_t num)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    for (uint32_t i = 0; file && i < num; i++)
        fprintf(file, "%s%s", i > 0 ? "," : "", hosts->list[i].name);
    if (file && fclose(file) == 0)
        return text;
    fprintf(stderr, "cohort-tune: no memory for a list of %u hosts\n", (unsigned)num);
    free(text);
    return NULL;
}

/* A job of NUM localities. */
static bool run_job(struct jobs *jobs, enum cohort__distance distance, uint32_t num,
                    unsigned weight)
{
    struct programs_command command;
    char localities[16], seconds[16], sites[16];
    char *hosts = distance == COHORT__DISTANCE_HOSTS ? list_hosts(&jobs->hosts, num) : NULL;
    if (distance == COHORT__DISTANCE_HOSTS && !hosts)
        return false;
    snprintf(localities, sizeof(localities), "%u", (unsigned)num);
    snprintf(seconds, sizeof(seconds), "%u", seconds_for(jobs, weight));
    snprintf(sites, sizeof(sites), "%u", (unsigned)jobs->options->max_sites);
    begin_command(jobs, distance, localities, hosts, &command);
    const char *const args[] = {
        "--samples", cohort__distance_name(distance), "--seconds", seconds, "--sites", sites};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
        programs_command_add(&command, args[i]);
    size_t before = jobs->samples.num;
    bool is_done = child_run(command.args, take_line, &jobs->samples);
    free(hosts);
    if (is_done && jobs->samples.num == before)
        fprintf(stderr, "cohort-tune: %s printed no sample\n", command.args[0]);
    return is_done && jobs->samples.num > before;
}

static bool run_all(struct jobs *jobs)
{
    const uint32_t most[COHORT__NUM_DISTANCES] = {[COHORT__DISTANCE_LOCALITIES] =
                                                      jobs->max_localities,
                                                  [COHORT__DISTANCE_HOSTS] = jobs->max_hosts};
    jobs->end = trial_now() + jobs->options->seconds * (uint64_t)1000000000;
    jobs->weights_left = TASKS_WEIGHT + tune_measure_weights(jobs->max_localities) +
                         tune_measure_weights(jobs->max_hosts);
    bool goes_on = run_job(jobs, COHORT__DISTANCE_TASKS, 1, TASKS_WEIGHT);
    for (unsigned distance = COHORT__DISTANCE_LOCALITIES; distance < COHORT__NUM_DISTANCES;
         distance++)
        for (uint32_t n = 2; goes_on && n <= most[distance]; n *= 2)
            goes_on = run_job(jobs, (enum cohort__distance)distance, n, tune_measure_weight(n));
    return goes_on;
}

static bool write_file(const struct jobs *jobs)
{
    char measured[96], localities[40] = "", hosts[40] = "";
    if (jobs->max_localities)
        snprintf(localities, sizeof(localities), "of up to %u localities",
                 (unsigned)jobs->max_localities);
    if (jobs->max_hosts)
        snprintf(hosts, sizeof(hosts), "on up to %u hosts", (unsigned)jobs->max_hosts);
    snprintf(measured, sizeof(measured), "jobs %s%s%s", localities,
             jobs->max_localities && jobs->max_hosts ? ", and " : "", hosts);
    return tune_output_write(jobs->options, &jobs->samples, measured, 1) == COHORT_OK || failed();
}

static uint32_t at_most(uint32_t num, uint32_t most)
{
    return num < most ? num : most;
}

/* Each host has one locality, however many would fit there. */
static bool find_hosts(struct jobs *jobs)
{
    const struct tune_options *options = jobs->options;
    if (!options->hosts)
        return true;
    if (host_list_parse(&jobs->hosts, options->hosts))
        return failed();
    jobs->max_hosts = at_most(jobs->hosts.num, options->max_sites);
    if (jobs->max_hosts > 1)
        return true;
    fprintf(stderr, "cohort-tune: --hosts needs two hosts at least, not '%s'\n", options->hosts);
    return false;
}

int tune_jobs_run(const struct tune_options *options)
{
    static struct jobs jobs;
    jobs.options = options;
    jobs.max_localities = at_most(options->localities, options->max_sites);
    bool is_done = find_hosts(&jobs) && programs_find(options->cohortrun, &jobs.programs) &&
                   run_all(&jobs) && write_file(&jobs);
    tune_samples_fini(&jobs.samples);
    host_list_fini(&jobs.hosts);
    return is_done ? 0 : 1;
}
