/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `select`: its jobs, one for each number of localities. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/hosts.h"
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

/* One job, which measures one placement. */
struct select_job {
    const char *placement;
    struct bench_places places; /* tasks 0: any number */
};

/* Each number of localities has a job of its own: more localities, even idle ones, would disturb.
 */
static const struct select_job all_jobs[] = {
    {"tasks", {1, 1, 0}},       {"localities", {1, 2, 1}},  {"localities", {1, 3, 1}},
    {"localities", {1, 4, 1}},  {"localities", {1, 5, 1}},  {"localities", {1, 8, 1}},
    {"localities", {1, 16, 1}}, {"localities", {1, 32, 1}}, {"mixed", {1, 2, 2}},
    {"mixed", {1, 2, 4}},       {"mixed", {1, 4, 4}},       {"mixed", {1, 2, 16}},
    {"hosts", {2, 1, 1}},       {"hosts", {2, 4, 1}},       {"hosts", {4, 2, 1}},
    {"hosts", {8, 1, 1}},       {"hosts", {2, 2, 4}},
};
enum { NUM_JOBS = sizeof(all_jobs) / sizeof(all_jobs[0]) };

/* The jobs of one start of the program. */
struct selecting {
    const struct bench_options *options;
    struct programs programs;
    struct select_report report;
    struct select_job jobs[NUM_JOBS];
    unsigned num_jobs;
    uint64_t end; /* by trial_now() */
};

static uint32_t sites_of(const struct select_job *job)
{
    return job->places.hosts * job->places.localities * job->places.tasks;
}

/* A job's time is in proportion to its sites; tasks have as much as 16 of them. */
static uint32_t weight_of(const struct select_job *job)
{
    return job->places.tasks ? sites_of(job) : 16;
}

static bool is_asked_for(const struct bench_options *options, const struct select_job *job)
{
    if (options->placement ? options->placement != job->placement[0] : job->placement[0] == 'h')
        return false;
    return !options->sites || !job->places.tasks || options->sites == sites_of(job);
}

static void list_jobs(struct selecting *selecting)
{
    const struct bench_options *options = selecting->options;
    for (unsigned i = 0; !options->places.hosts && i < NUM_JOBS; i++)
        if (is_asked_for(options, &all_jobs[i]))
            selecting->jobs[selecting->num_jobs++] = all_jobs[i];
    const struct select_job own = {"hosts", options->places};
    if (options->places.hosts && is_asked_for(options, &own))
        selecting->jobs[selecting->num_jobs++] = own;
}

/* The words of a command that are made for it. */
struct words {
    char sites[16], bytes[24], limit[16], localities[16], shape[32];
    struct hosts_words launch;
};

static void compose_words(struct words *words, const struct bench_options *options,
                          const struct select_job *job, unsigned limit)
{
    const struct bench_places *places = &job->places;
    snprintf(words->localities, sizeof(words->localities), "%" PRIu32,
             places->hosts * places->localities);
    snprintf(words->sites, sizeof(words->sites), "%" PRIu32,
             places->tasks ? sites_of(job) : options->sites);
    snprintf(words->bytes, sizeof(words->bytes), "%" PRIu64, options->bytes);
    snprintf(words->limit, sizeof(words->limit), "%u", limit);
    snprintf(words->shape, sizeof(words->shape), "%" PRIu32 "x%" PRIu32 "x%" PRIu32, places->hosts,
             places->localities, places->tasks);
}

static void compose(struct programs_command *command, const struct selecting *selecting,
                    const struct select_job *job, struct words *words)
{
    const struct bench_options *options = selecting->options;
    const struct programs *programs = &selecting->programs;
    bool is_hosts = job->placement[0] == BENCH_PLACED_HOSTS;
    const char *localities = job->places.tasks ? words->localities : NULL;
    if (is_hosts) {
        programs_command_launch(command, programs, words->localities, "1");
        hosts_launch(command, job->places.hosts, job->places.localities, &words->launch);
        programs_command_add(command, programs->self);
    } else {
        programs_command_begin(command, programs, localities, "1");
    }
    const char *const given[][2] = {
        {"--limit", words->limit},
        {"--placement", job->placement},
        {"--hosts", is_hosts ? words->shape : NULL},
        {"--collective", options->collective},
        {"--sites", job->places.tasks || options->sites ? words->sites : NULL},
        {"--bytes", options->bytes ? words->bytes : NULL},
    };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (given[i][1]) {
            programs_command_add(command, given[i][0]);
            programs_command_add(command, given[i][1]);
        }
    programs_command_add(command, "--json");
    if (options->quick)
        programs_command_add(command, "--quick");
    if (options->by_call)
        programs_command_add(command, "--by-call");
    programs_command_add(command, "select");
}

/* What one job leaves over of its time goes to the next ones. */
static bool run_jobs(struct selecting *selecting)
{
    unsigned weights = 0;
    for (unsigned i = 0; i < selecting->num_jobs; i++)
        weights += weight_of(&selecting->jobs[i]);
    for (unsigned i = 0; i < selecting->num_jobs; i++) {
        const struct select_job *job = &selecting->jobs[i];
        struct programs_command command;
        struct words words;
        uint64_t now = trial_now(), end = selecting->end;
        uint64_t left = now < end ? (end - now) / 1000000000 : 0;
        unsigned limit = (unsigned)(left * weight_of(job) / weights);
        weights -= weight_of(job);
        compose_words(&words, selecting->options, job, limit > 0 ? limit : 1);
        compose(&command, selecting, job, &words);
        if (!child_run(command.args, take_line, &selecting->report))
            return false;
    }
    return true;
}

/* Among the hosts, if there are any. */
static int select_all(void *context)
{
    struct selecting *selecting = context;
    struct select_report *report = &selecting->report;
    bool is_hosts = selecting->options->placement == BENCH_PLACED_HOSTS;
    if (is_hosts && setenv("TMPDIR", hosts_folder, 1))
        return 1;
    select_report_begin(report, selecting->options->by_call);
    bool goes_on = run_jobs(selecting);
    if (goes_on && !select_report_end(report)) {
        fputs("cohort-bench: standard output can't be written\n", stderr);
        goes_on = false;
    }
    if (goes_on && report->num_points == 0) {
        fputs("cohort-bench: nothing was measured: select has no such --collective, --sites and "
              "--bytes with that --placement, or the time (--limit) was over\n",
              stderr);
        goes_on = false;
    }
    select_report_fini(report);
    return goes_on ? 0 : 1;
}

int bench_select_jobs(const struct bench_options *options)
{
    struct selecting selecting = {
        .options = options,
        .report = {.json = options->json},
        .end = trial_now() + options->limit * UINT64_C(1000000000),
    };
    uint32_t num_hosts = 0;
    char names[HOSTS_MAX_LIST];
    if (!programs_find(options->cohortrun, &selecting.programs) || setenv("COHORT_WORKERS", "1", 1))
        return 1;
    list_jobs(&selecting);
    for (unsigned i = 0; i < selecting.num_jobs; i++)
        if (selecting.jobs[i].places.hosts > num_hosts)
            num_hosts = selecting.jobs[i].places.hosts;
    if (num_hosts < 2)
        return select_all(&selecting);
    hosts_list(num_hosts, 0, names);
    return hosts_run(names, select_all, &selecting);
}
