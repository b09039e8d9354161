/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the command line. */
#include "tools/bench/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/select.h"
#include "tools/share/usage.h"

enum { DEFAULT_ROUNDS = 7, QUICK_ROUNDS = 3, DEFAULT_SITES = 64, DEFAULT_TASKS = 1000 * 1000 };
enum { MAX_SITES = 65536, MAX_TASKS = 100 * 1000 * 1000 };

static const char help[] =
    "Measures Cohort and prints a table.\n"
    "\n"
    "  tasks      spawning, awaiting, switching and yielding, in one locality\n"
    "  barrier    a barrier of 2, 8 and 64 tasks as sites, in one locality\n"
    "  coll       barrier, all_reduce and all_to_all over all localities of the job, flat and "
    "over\n"
    "             the tree, and with default options\n"
    "  check      a gather of 8 bytes a site, without and with agreement in front, and agreement\n"
    "             alone: the same sites\n"
    "  kernels    reductions of 4 KiB, 256 KiB and 64 MiB side by side with memcpy; x: the bytes "
    "of\n"
    "             the result per second, as so many times memcpy's\n"
    "  suspended  a million tasks that wait for the same promise: starting and resuming one, its\n"
    "             memory, and until that is given back, in one locality with one worker; x: as "
    "so\n"
    "             many times a first access to a page\n"
    "  select     the library's choice of algorithms against the fastest one of all that can do "
    "the\n"
    "             calls that --works lists, in turns; cohort-compare select covers a grid of them\n"
    "  describe   measures nothing: prints which sites of the job's localities are together, at "
    "each\n"
    "             level of the machine, and who leads them\n"
    "\n"
    "  --json                   print one JSON object instead of a table\n"
    "  --rounds R               rounds of each measurement, 1 to 999; default 7\n"
    "  --quick                  rounds of 1 ms instead of 20, and 3 by default: for a test of "
    "this\n"
    "                           program, not for figures\n"
    "  --sites N                coll, check in a job of one locality: its sites, which are tasks;\n"
    "                           default 64\n"
    "  --sites-per-locality N   coll, check in a larger job, started by cohortrun; select, "
    "describe;\n"
    "                           default 1\n"
    "  --tasks N                suspended: so many tasks instead of a million\n"
    "  --arity A                coll, check: of their tree, 2 or more; default 4, or 2 for up to "
    "4\n"
    "                           sites; coll --works: of the communicator; default 4\n"
    "  --by-call                select: the rows take turns by a few calls, not by rounds: one "
    "call\n"
    "                           that is not timed, then four that are, or one if they take long;\n"
    "                           with a barrier behind each where no site waits for all others\n"
    "  --works LIST             coll: only these, 'all_reduce:8,barrier:0' for instance, with "
    "default\n"
    "                           options, --sites-per-locality and --arity too; select: these; "
    "tasks:\n"
    "                           'fib:30,empty:1000', or how near 64 tasks come to the ideal in "
    "the\n"
    "                           run with this number, 'burst:1' (sleep, reduce, threads)\n"
    "  --fresh                  coll --works: each site writes to all lines of its input before\n"
    "                           each call, so that no other core has them in its cache; the time\n"
    "                           for that is counted\n"
    "  --algorithms NAMES       coll --works: these are forced, 'broadcast=shared' for instance\n"
    "  --compute N              coll --works: overlap computes N times 200 us; default 1\n"
    "  --seconds S              of a round, 0.001 to 100; default 0.02\n"
    "  --help, --version\n"
    "\n"
    "A round makes as many calls as fill its time. Printed are median, minimum and maximum of the\n"
    "rounds, for one call; the time is that of site 0. The status is 0, 1 after an error, also "
    "for\n"
    "a wrong result, and 2 for a wrong option.\n";

static const struct usage usage = {
    .program = "cohort-bench",
    .line = "usage: cohort-bench [options] "
            "tasks|barrier|coll|check|kernels|suspended|select|describe...\n",
    .help = help,
};

enum {
    OPTION_JSON = USAGE_FIRST_OPTION,
    OPTION_ROUNDS,
    OPTION_QUICK,
    OPTION_SITES,
    OPTION_SITES_PER_LOCALITY,
    OPTION_TASKS,
    OPTION_ARITY,
    OPTION_BY_CALL,
    OPTION_WORKS,
    OPTION_FRESH,
    OPTION_ALGORITHMS,
    OPTION_COMPUTE,
    OPTION_SECONDS,
};

static const struct option long_options[] = {
    {"json", no_argument, NULL, OPTION_JSON},
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"sites", required_argument, NULL, OPTION_SITES},
    {"sites-per-locality", required_argument, NULL, OPTION_SITES_PER_LOCALITY},
    {"tasks", required_argument, NULL, OPTION_TASKS},
    {"arity", required_argument, NULL, OPTION_ARITY},
    {"by-call", no_argument, NULL, OPTION_BY_CALL},
    {"works", required_argument, NULL, OPTION_WORKS},
    {"fresh", no_argument, NULL, OPTION_FRESH},
    {"algorithms", required_argument, NULL, OPTION_ALGORITHMS},
    {"compute", required_argument, NULL, OPTION_COMPUTE},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"help", no_argument, NULL, USAGE_HELP},
    {"version", no_argument, NULL, USAGE_VERSION},
    {0},
};

static int read_seconds(double *ret)
{
    return usage_parse_decimal(optarg, "0123456789.eE+-", 0.001, 100, ret)
               ? -1
               : usage_wrong(&usage, "--seconds needs a number from 0.001 to 100, not '%s'",
                             optarg);
}

/* Reads an option of --works, or of select. */
static int read_work_option(int option, struct bench_options *options)
{
    switch (option) {
    case OPTION_BY_CALL:
        options->by_call = true;
        return -1;
    case OPTION_WORKS:
        options->list = optarg;
        return -1;
    case OPTION_FRESH:
        options->is_fresh = true;
        return -1;
    case OPTION_ALGORITHMS:
        options->algorithms = optarg;
        return -1;
    default: /* OPTION_COMPUTE */
        return usage_read_count(&usage, "--compute", optarg, 1, 1000000, &options->computing);
    }
}

static int read_option(void *context, int option, const char *word)
{
    struct bench_options *options = context;
    (void)word;
    switch (option) {
    case OPTION_JSON:
        options->json = true;
        return -1;
    case OPTION_QUICK:
        options->quick = true;
        return -1;
    case OPTION_ROUNDS:
        return usage_read_count(&usage, "--rounds", optarg, 1, BENCH_MAX_ROUNDS, &options->rounds);
    case OPTION_SECONDS:
        return read_seconds(&options->seconds);
    case OPTION_SITES:
        return usage_read_count(&usage, "--sites", optarg, 1, MAX_SITES, &options->sites);
    case OPTION_SITES_PER_LOCALITY:
        return usage_read_count(&usage, "--sites-per-locality", optarg, 1, MAX_SITES,
                                &options->sites_per_locality);
    case OPTION_TASKS:
        return usage_read_count(&usage, "--tasks", optarg, 1, MAX_TASKS, &options->tasks);
    case OPTION_ARITY:
        return usage_read_count(&usage, "--arity", optarg, 2, MAX_SITES, &options->arity);
    default:
        return read_work_option(option, options);
    }
}

static int read_subcommand(void *context, const char *word)
{
    unsigned *subcommands = &((struct bench_options *)context)->subcommands;
    static const char *const names[] = {"tasks",  "barrier", "coll",      "check",
                                        "select", "kernels", "suspended", "describe"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) != 0)
            continue;
        if (*subcommands & 1u << i)
            return usage_wrong(&usage, "%s is given twice", word);
        *subcommands |= 1u << i;
        return -1;
    }
    return usage_wrong(&usage, "'%s' is no subcommand", word);
}

/* Reads the list of --works. */
static int read_works(struct bench_options *options)
{
    bool is_tasks = options->subcommands == BENCH_TASKS;
    const char *const *names = is_tasks                               ? bench_works_of_tasks
                               : options->subcommands == BENCH_SELECT ? select_works()
                                                                      : bench_works_of_coll;
    if (!options->list || bench_works_read(options->list, names, &options->works))
        return -1;
    return usage_wrong(&usage, "--works needs a list like %s, not '%s'",
                       is_tasks ? "fib:30,empty:1000" : "all_reduce:8,barrier:0", options->list);
}

/* Checks --works, and what goes with it. */
static int check_works(struct bench_options *options)
{
    bool is_coll = options->subcommands == BENCH_COLL,
         is_select = options->subcommands == BENCH_SELECT;
    if (options->list && !is_coll && !is_select && options->subcommands != BENCH_TASKS)
        return usage_wrong(&usage, "--works is for coll alone, tasks alone, or select");
    if (is_select && !options->list)
        return usage_wrong(&usage, "select needs --works; cohort-compare select has a grid");
    if (options->list && options->sites)
        return usage_wrong(&usage, "--works has only --sites-per-locality");
    if (options->computing && !(options->list && is_coll))
        return usage_wrong(&usage, "--compute is for coll --works");
    if (options->algorithms && !(options->list && is_coll))
        return usage_wrong(&usage, "--algorithms is for coll --works");
    if (options->is_fresh && !(options->list && is_coll))
        return usage_wrong(&usage, "--fresh is for coll --works");
    if (options->by_call && !is_select)
        return usage_wrong(&usage, "--by-call is for select");
    return read_works(options);
}

/* Whether the options fit together. Fills in those that are not given. */
static int complete(struct bench_options *options)
{
    bool is_alone = options->subcommands & (BENCH_SELECT | BENCH_DESCRIBE);
    bool has_shape = options->sites || options->sites_per_locality || options->arity;
    int status;
    if (!options->subcommands)
        return usage_wrong(&usage, "what is to be measured?");
    if (is_alone && (options->subcommands & (options->subcommands - 1)))
        return usage_wrong(&usage, "select and describe have a report of their own: give it alone");
    if (is_alone && (options->sites || options->arity))
        return usage_wrong(&usage, "select and describe have only --sites-per-locality");
    if (has_shape && !is_alone && !(options->subcommands & (BENCH_COLL | BENCH_CHECK)))
        return usage_wrong(&usage,
                           "--sites, --sites-per-locality and --arity are for coll and check");
    if (options->tasks && !(options->subcommands & BENCH_SUSPENDED))
        return usage_wrong(&usage, "--tasks is for suspended");
    status = check_works(options);
    if (status >= 0)
        return status;
    if (!options->computing)
        options->computing = 1;
    if (!options->tasks)
        options->tasks = DEFAULT_TASKS;
    if (!options->rounds)
        options->rounds = options->quick ? QUICK_ROUNDS : DEFAULT_ROUNDS;
    if (!options->sites)
        options->sites = DEFAULT_SITES;
    if (!options->sites_per_locality)
        options->sites_per_locality = 1;
    return -1;
}

int bench_options_read(int argc, char **argv, struct bench_options *ret_options)
{
    static const struct usage_reader reader = {"", long_options, read_option, read_subcommand};
    struct bench_options options = {0};
    int status = usage_read(&usage, &reader, argc, argv, &options);
    if (status < 0)
        status = complete(&options);
    if (status < 0)
        *ret_options = options;
    return status;
}
