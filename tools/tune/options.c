/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: the command line. */
#include "tools/tune/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/usage.h"

enum { DEFAULT_SECONDS = 50, DEFAULT_JOBS_SECONDS = 240, MAX_SECONDS = 3600, MAX_SITES = 32 };

static const char help[] =
    "Measures what messages and copies cost on this machine, and writes it to a file, by which\n"
    "communicators choose their algorithms: between tasks of one locality; with --localities,\n"
    "between localities of this host; with --hosts, between hosts. In a job of several localities\n"
    "that cohortrun has started, on one host or with one on each host, it measures between these,\n"
    "up to 32: first as many as there are, then fewer, which the others disturb.\n"
    "\n"
    "  --localities K  starts jobs by itself, one for the tasks and one for each of 2, 4, 8, ...\n"
    "                  up to K localities with one worker each; K: 2 to 32\n"
    "  --hosts LIST    starts jobs by itself, for the tasks and on the first 2, 4, 8, ... hosts\n"
    "                  of the list, with one locality each: 'a,b,c,d'\n"
    "  --listen ADDRESS, --agent COMMAND  with --hosts: for cohortrun\n"
    "  --cohortrun PATH  the launcher of these jobs; default: the one beside this program\n"
    "  --output FILE   default: $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, where\n"
    "                  programs look for it; one elsewhere is named by COHORT_TUNE\n"
    "  --print         print it instead\n"
    "  --seconds S     how long to measure, 1 to 3600; default 50, with --localities or --hosts\n"
    "                  240; each job takes a second at least. What there is no time for is taken\n"
    "                  from what comes next to it\n"
    "  --sites N       the most sites of a communicator, 2 to 32; default 32\n"
    "  --samples PLACEMENT  internal, for the jobs that it starts: measures only 'tasks', or only\n"
    "                  all 'localities' of the job, or all 'hosts', and prints each sample in a\n"
    "                  line instead of a file\n"
    "  --help, --version\n"
    "\n"
    "The file is written whole or not at all. The status is 0, 1 after an error, and 2 for a\n"
    "wrong option.\n";

static int read_samples(const struct usage_value *value);
static int read_word(void *context, const char *word);

#define PLACE(member) offsetof(struct tune_options, member)
static const struct usage_option option_list[] = {
    {"output", USAGE_TEXT, .place = PLACE(output), .needs = "a path"},
    {"print", USAGE_FLAG, .place = PLACE(print)},
    {"seconds", USAGE_COUNT, .place = PLACE(seconds), .min = 1, .max = MAX_SECONDS},
    {"sites", USAGE_COUNT, .place = PLACE(max_sites), .min = 2, .max = MAX_SITES},
    {"localities", USAGE_COUNT, .place = PLACE(localities), .min = 2, .max = MAX_SITES},
    {"cohortrun", USAGE_TEXT, .place = PLACE(cohortrun), .needs = "a path"},
    {"hosts", USAGE_TEXT, .place = PLACE(hosts), .needs = "a value"},
    {"listen", USAGE_TEXT, .place = PLACE(listen), .needs = "a value"},
    {"agent", USAGE_TEXT, .place = PLACE(agent), .needs = "a value"},
    {"samples", USAGE_TEXT, .place = PLACE(samples), .read = read_samples},
    {0},
};

static const struct usage usage = {
    .program = "cohort-tune",
    .line = "usage: [cohortrun -n K] cohort-tune [options]\n",
    .help = help,
    .options = option_list,
    .read_word = read_word,
};

static int read_samples(const struct usage_value *value)
{
    enum tune_samples_of *samples = value->place;
    static const char *const names[] = {NULL, "tasks", "localities", "hosts"};
    for (unsigned i = TUNE_SAMPLES_TASKS; i <= TUNE_SAMPLES_HOSTS; i++)
        if (strcmp(value->text, names[i]) == 0)
            *samples = (enum tune_samples_of)i;
    return *samples ? -1
                    : usage_wrong(&usage,
                                  "--samples needs 'tasks', 'localities' or 'hosts', "
                                  "not '%s'",
                                  value->text);
}

static int read_word(void *context, const char *word)
{
    (void)context;
    return usage_wrong(&usage, "'%s' is no option", word);
}

bool tune_options_start_jobs(const struct tune_options *options)
{
    return options->localities > 0 || options->hosts;
}

/* Checks that the options go together. */
static int check(const struct tune_options *options)
{
    if (options->print && options->output)
        return usage_wrong(&usage, "--print and --output: which?");
    if (options->samples && (options->print || options->output || tune_options_start_jobs(options)))
        return usage_wrong(
            &usage, "--samples goes with none of --print, --output, --localities and --hosts");
    if ((options->listen || options->agent) && !options->hosts)
        return usage_wrong(&usage, "%s goes with --hosts",
                           options->listen ? "--listen" : "--agent");
    if (tune_options_start_jobs(options) && getenv("COHORT_LOCALITY"))
        return usage_wrong(&usage, "%s starts its own jobs: run it without cohortrun",
                           options->localities ? "--localities" : "--hosts");
    return -1;
}

int tune_options_read(int argc, char **argv, struct tune_options *ret_options)
{
    struct tune_options options = {.max_sites = MAX_SITES};
    int status = usage_read(&usage, argc, argv, &options);
    if (status < 0)
        status = check(&options);
    if (options.seconds == 0)
        options.seconds =
            tune_options_start_jobs(&options) ? DEFAULT_JOBS_SECONDS : DEFAULT_SECONDS;
    if (status < 0)
        *ret_options = options;
    return status;
}
