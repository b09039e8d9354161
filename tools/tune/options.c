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
    "communicators choose their algorithms: between tasks of one locality; with --localities, "
    "between\n"
    "localities of this host; with --hosts, between hosts. In a job of several localities that\n"
    "cohortrun has started, on one host or with one on each host, it measures between these, up to "
    "32:\n"
    "first as many as there are, then fewer, which the others disturb.\n"
    "\n"
    "  --localities K  starts jobs by itself, one for the tasks and one for each of 2, 4, 8, ... "
    "up to\n"
    "                  K localities with one worker each; K: 2 to 32\n"
    "  --hosts LIST    starts jobs by itself, for the tasks and on the first 2, 4, 8, ... hosts of "
    "the\n"
    "                  list, with one locality each: 'a,b,c,d'\n"
    "  --listen ADDRESS, --agent COMMAND  with --hosts: for cohortrun\n"
    "  --cohortrun PATH  the launcher of these jobs; default: the one beside this program\n"
    "  --output FILE   default: $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, where\n"
    "                  programs look for it; one elsewhere is named by COHORT_TUNE\n"
    "  --print         print it instead\n"
    "  --seconds S     how long to measure, 1 to 3600; default 50, with --localities or "
    "--hosts\n"
    "                  240; each job takes a second at least. What there is no time for is taken "
    "from what\n"
    "                  comes next to it\n"
    "  --sites N       the most sites of a communicator, 2 to 32; default 32\n"
    "  --samples PLACEMENT  internal, for the jobs that it starts: measures only 'tasks', or only "
    "all\n"
    "                  'localities' of the job, or all 'hosts', and prints each sample in a line "
    "instead of a "
    "file\n"
    "  --help, --version\n"
    "\n"
    "The file is written whole or not at all. The status is 0, 1 after an error, and 2 for a "
    "wrong\n"
    "option.\n";

static const struct usage usage = {
    .program = "cohort-tune",
    .line = "usage: [cohortrun -n K] cohort-tune [options]\n",
    .help = help,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"print", no_argument, NULL, 'p'},
    {"seconds", required_argument, NULL, 's'},
    {"sites", required_argument, NULL, 'n'},
    {"localities", required_argument, NULL, 'l'},
    {"cohortrun", required_argument, NULL, 'c'},
    {"hosts", required_argument, NULL, 'H'},
    {"listen", required_argument, NULL, 'L'},
    {"agent", required_argument, NULL, 'a'},
    {"samples", required_argument, NULL, 'm'},
    {"help", no_argument, NULL, USAGE_HELP},
    {"version", no_argument, NULL, USAGE_VERSION},
    {0},
};

static int read_samples(struct tune_options *options)
{
    static const char *const names[] = {NULL, "tasks", "localities", "hosts"};
    for (unsigned i = TUNE_SAMPLES_TASKS; i <= TUNE_SAMPLES_HOSTS; i++)
        if (strcmp(optarg, names[i]) == 0)
            options->samples = (enum tune_samples_of)i;
    return options->samples ? -1
                            : usage_wrong(&usage,
                                          "--samples needs 'tasks', 'localities' or 'hosts', "
                                          "not '%s'",
                                          optarg);
}

/* A text that must not be empty. */
static int read_text(const char *option, const char **ret_text)
{
    *ret_text = optarg;
    return optarg[0] ? -1 : usage_wrong(&usage, "%s needs a value", option);
}

static int read_option(void *context, int option, const char *word)
{
    struct tune_options *options = context;
    (void)word;
    switch (option) {
    case 'o':
        options->output = optarg;
        return optarg[0] ? -1 : usage_wrong(&usage, "--output needs a path");
    case 'p':
        options->print = true;
        return -1;
    case 's':
        return usage_read_count(&usage, "--seconds", optarg, 1, MAX_SECONDS, &options->seconds);
    case 'n':
        return usage_read_count(&usage, "--sites", optarg, 2, MAX_SITES, &options->max_sites);
    case 'l':
        return usage_read_count(&usage, "--localities", optarg, 2, MAX_SITES, &options->localities);
    case 'H':
        return read_text("--hosts", &options->hosts);
    case 'L':
        return read_text("--listen", &options->listen);
    case 'a':
        return read_text("--agent", &options->agent);
    case 'c':
        options->cohortrun = optarg;
        return optarg[0] ? -1 : usage_wrong(&usage, "--cohortrun needs a path");
    default: /* 'm' */
        return read_samples(options);
    }
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
    static const struct usage_reader reader = {"", long_options, read_option, read_word};
    struct tune_options options = {.max_sites = MAX_SITES};
    int status = usage_read(&usage, &reader, argc, argv, &options);
    if (status < 0)
        status = check(&options);
    if (options.seconds == 0)
        options.seconds =
            tune_options_start_jobs(&options) ? DEFAULT_JOBS_SECONDS : DEFAULT_SECONDS;
    if (status < 0)
        *ret_options = options;
    return status;
}
