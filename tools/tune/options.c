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
    "communicators choose their algorithms: between tasks of one locality; and, with "
    "--localities,\n"
    "between localities. In a job of several localities that cohortrun has started it measures "
    "between\n"
    "these, up to 32: first as many as there are, then fewer, which the others disturb.\n"
    "\n"
    "  --localities K  starts jobs by itself, one for the tasks and one for each of 2, 4, 8, ... "
    "up to\n"
    "                  K localities with one worker each; K: 2 to 32\n"
    "  --cohortrun PATH  the launcher of these jobs; default: the one beside this program\n"
    "  --output FILE   default: $XDG_CONFIG_HOME/cohort/tune or ~/.config/cohort/tune, where\n"
    "                  programs look for it; one elsewhere is named by COHORT_TUNE\n"
    "  --print         print it instead\n"
    "  --seconds S     how long to measure, 1 to 3600; default 50, with --localities 240; each "
    "job\n"
    "                  takes a second at least. What there is no time for is taken from what\n"
    "                  comes next to it\n"
    "  --sites N       the most sites of a communicator, 2 to 32; default 32\n"
    "  --samples PLACEMENT  internal, for the jobs that it starts: measures only 'tasks', or only "
    "all\n"
    "                  'localities' of the job, and prints each sample in a line instead of a "
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
    {"output", required_argument, NULL, 'o'},      {"print", no_argument, NULL, 'p'},
    {"seconds", required_argument, NULL, 's'},     {"sites", required_argument, NULL, 'n'},
    {"localities", required_argument, NULL, 'l'},  {"cohortrun", required_argument, NULL, 'c'},
    {"samples", required_argument, NULL, 'm'},     {"help", no_argument, NULL, USAGE_HELP},
    {"version", no_argument, NULL, USAGE_VERSION}, {0},
};

static int read_samples(struct tune_options *options)
{
    bool is_tasks = strcmp(optarg, "tasks") == 0;
    if (!is_tasks && strcmp(optarg, "localities") != 0)
        return usage_wrong(&usage, "--samples needs 'tasks' or 'localities', not '%s'", optarg);
    options->samples = is_tasks ? TUNE_SAMPLES_TASKS : TUNE_SAMPLES_LOCALITIES;
    return -1;
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

/* Checks that the options go together. */
static int check(const struct tune_options *options)
{
    if (options->print && options->output)
        return usage_wrong(&usage, "--print and --output: which?");
    if (options->samples && (options->print || options->output || options->localities))
        return usage_wrong(&usage,
                           "--samples goes with none of --print, --output and --localities");
    if (options->localities && getenv("COHORT_LOCALITY"))
        return usage_wrong(&usage, "--localities starts its own jobs: run it without cohortrun");
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
        options.seconds = options.localities ? DEFAULT_JOBS_SECONDS : DEFAULT_SECONDS;
    if (status < 0)
        *ret_options = options;
    return status;
}
