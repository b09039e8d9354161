/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tune_options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_SECONDS = 50,
    DEFAULT_JOBS_SECONDS = 240,
    MAX_SECONDS = 3600,
    MAX_SITES = 32,
    STATUS_USAGE = 2
};

static const char usage[] = "usage: [cohortrun -n K] cohort-tune [options]\n";
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

static int wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("cohort-tune: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    fputs(usage, stderr);
    va_end(args);
    return STATUS_USAGE;
}

static int read_count(const char *word, uint32_t min, uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;
    const char *c = optarg;
    while (*c >= '0' && *c <= '9' && value <= max)
        value = 10 * value + (uint64_t)(*c++ - '0');
    if (*c || c == optarg || value < min || value > max)
        return wrong("%s needs a number from %u to %u, not '%s'", word, (unsigned)min,
                     (unsigned)max, optarg);
    *ret = (uint32_t)value;
    return -1;
}

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},     {"print", no_argument, NULL, 'p'},
    {"seconds", required_argument, NULL, 's'},    {"sites", required_argument, NULL, 'n'},
    {"localities", required_argument, NULL, 'l'}, {"cohortrun", required_argument, NULL, 'c'},
    {"samples", required_argument, NULL, 'm'},    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},          {0},
};

static int read_samples(struct tune_options *options)
{
    bool is_tasks = strcmp(optarg, "tasks") == 0;
    if (!is_tasks && strcmp(optarg, "localities") != 0)
        return wrong("--samples needs 'tasks' or 'localities', not '%s'", optarg);
    options->samples = is_tasks ? TUNE_SAMPLES_TASKS : TUNE_SAMPLES_LOCALITIES;
    return -1;
}

static int read_option(int option, const char *word, struct tune_options *options)
{
    switch (option) {
    case 'o':
        options->output = optarg;
        return optarg[0] ? -1 : wrong("--output needs a path");
    case 'p':
        options->print = true;
        return -1;
    case 's':
        return read_count("--seconds", 1, MAX_SECONDS, &options->seconds);
    case 'n':
        return read_count("--sites", 2, MAX_SITES, &options->max_sites);
    case 'l':
        return read_count("--localities", 2, MAX_SITES, &options->localities);
    case 'c':
        options->cohortrun = optarg;
        return optarg[0] ? -1 : wrong("--cohortrun needs a path");
    case 'm':
        return read_samples(options);
    case 'h':
        printf("%s%s", usage, help);
        return fflush(stdout) ? 1 : 0;
    case 'v':
        printf("cohort-tune %s\n", COHORT_VERSION);
        return fflush(stdout) ? 1 : 0;
    case ':':
        return wrong("%s needs a value", word);
    default:
        return wrong("%s is no option", word);
    }
}

/* What does not go together. */
static int check(const struct tune_options *options)
{
    if (options->print && options->output)
        return wrong("--print and --output: which?");
    if (options->samples && (options->print || options->output || options->localities))
        return wrong("--samples goes with none of --print, --output and --localities");
    if (options->localities && getenv("COHORT_LOCALITY"))
        return wrong("--localities starts its own jobs: run it without cohortrun");
    return -1;
}

int tune_options_read(int argc, char **argv, struct tune_options *ret_options)
{
    struct tune_options options = {.max_sites = MAX_SITES};
    int status = -1;
    opterr = 0;
    while (status < 0) {
        const char *word = optind < argc ? argv[optind] : "";
        int option = getopt_long(argc, argv, "+:", long_options, NULL);
        if (option == -1)
            break;
        status = read_option(option, word, &options);
    }
    if (status < 0 && optind < argc)
        status = wrong("'%s' is no option", argv[optind]);
    if (status < 0)
        status = check(&options);
    if (options.seconds == 0)
        options.seconds = options.localities ? DEFAULT_JOBS_SECONDS : DEFAULT_SECONDS;
    if (status < 0)
        *ret_options = options;
    return status;
}
