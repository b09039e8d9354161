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
    "  coll       barrier, all_reduce and all_to_all over all localities of the job, flat and\n"
    "             over the tree, and with default options\n"
    "  check      a gather of 8 bytes a site, without and with agreement in front, and agreement\n"
    "             alone: the same sites\n"
    "  kernels    reductions of 4 KiB, 256 KiB and 64 MiB side by side with memcpy; x: the bytes\n"
    "             of the result per second, as so many times memcpy's\n"
    "  suspended  a million tasks that wait for the same promise: starting and resuming one, its\n"
    "             memory, and until that is given back, in one locality with one worker; x: as so\n"
    "             many times a first access to a page\n"
    "  select     the library's choice of algorithms against the fastest one of all that can do\n"
    "             the calls that --works lists, in turns; cohort-compare select covers a grid of\n"
    "             them\n"
    "  describe   measures nothing: prints which sites of the job's localities are together, at\n"
    "             each level of the machine, and who leads them\n"
    "\n"
    "  --json                   print one JSON object instead of a table\n"
    "  --rounds R               rounds of each measurement, 1 to 999; default 7\n"
    "  --quick                  rounds of 1 ms instead of 20, and 3 by default: for a test of\n"
    "                           this program, not for figures\n"
    "  --sites N                coll, check in a job of one locality: its sites, which are tasks;\n"
    "                           default 64\n"
    "  --sites-per-locality N   coll, check in a larger job, started by cohortrun; select,\n"
    "                           describe; default 1\n"
    "  --tasks N                suspended: so many tasks instead of a million\n"
    "  --arity A                coll, check: of their tree, 2 or more; default 4, or 2 for up to\n"
    "                           4 sites; coll --works: of the communicator; default 4\n"
    "  --by-call                select: the rows take turns by a few calls, not by rounds: one\n"
    "                           call that is not timed, then four that are, or one if they take\n"
    "                           long; with a barrier behind each where no site waits for all\n"
    "                           others\n"
    "  --works LIST             coll: only these, 'all_reduce:8,barrier:0' for instance, with\n"
    "                           default options, --sites-per-locality and --arity too; select:\n"
    "                           these; tasks: 'fib:30,empty:1000', or how near 64 tasks come to\n"
    "                           the ideal in the run with this number, 'burst:1' (sleep, reduce,\n"
    "                           threads)\n"
    "  --fresh                  coll --works: each site writes to all lines of its input before\n"
    "                           each call, so that no other core has them in its cache; the time\n"
    "                           for that is counted\n"
    "  --lent                   coll --works: inputs and outputs are from cohort_memory_alloc\n"
    "  --algorithms NAMES       coll --works: these are forced, 'broadcast=shared' for instance\n"
    "  --compute N              coll --works: overlap computes N times 200 us; default 1\n"
    "  --seconds S              of a round, 0.001 to 100; default 0.02\n"
    "  --help, --version\n"
    "\n"
    "A round makes as many calls as fill its time. Printed are median, minimum and maximum of the\n"
    "rounds, for one call; the time is that of site 0. The status is 0, 1 after an error, also\n"
    "for a wrong result, and 2 for a wrong option.\n";

static int read_seconds(const struct usage_value *value);
static int read_subcommand(void *context, const char *word);

#define PLACE(member) offsetof(struct bench_options, member)
static const struct usage_option option_list[] = {
    {"json", USAGE_FLAG, .place = PLACE(json)},
    {"rounds", USAGE_COUNT, .place = PLACE(rounds), .min = 1, .max = BENCH_MAX_ROUNDS},
    {"quick", USAGE_FLAG, .place = PLACE(quick)},
    {"sites", USAGE_COUNT, .place = PLACE(sites), .min = 1, .max = MAX_SITES},
    {"sites-per-locality", USAGE_COUNT, .place = PLACE(sites_per_locality), .min = 1,
     .max = MAX_SITES},
    {"tasks", USAGE_COUNT, .place = PLACE(tasks), .min = 1, .max = MAX_TASKS},
    {"arity", USAGE_COUNT, .place = PLACE(arity), .min = 2, .max = MAX_SITES},
    {"by-call", USAGE_FLAG, .place = PLACE(by_call)},
    {"works", USAGE_TEXT, .place = PLACE(list)},
    {"fresh", USAGE_FLAG, .place = PLACE(is_fresh)},
    {"lent", USAGE_FLAG, .place = PLACE(is_lent)},
    {"algorithms", USAGE_TEXT, .place = PLACE(algorithms)},
    {"compute", USAGE_COUNT, .place = PLACE(computing), .min = 1, .max = 1000000},
    {"seconds", USAGE_TEXT, .place = PLACE(seconds), .read = read_seconds},
    {0},
};

static const struct usage usage = {
    .program = "cohort-bench",
    .line = "usage: cohort-bench [options] "
            "tasks|barrier|coll|check|kernels|suspended|select|describe...\n",
    .help = help,
    .options = option_list,
    .read_word = read_subcommand,
};

static int read_seconds(const struct usage_value *value)
{
    return usage_parse_decimal(value->text, "0123456789.eE+-", 0.001, 100, value->place)
               ? -1
               : usage_wrong(&usage, "--seconds needs a number from 0.001 to 100, not '%s'",
                             value->text);
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
    if (options->is_lent && !(options->list && is_coll))
        return usage_wrong(&usage, "--lent is for coll --works");
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
    struct bench_options options = {0};
    int status = usage_read(&usage, argc, argv, &options);
    if (status < 0)
        status = complete(&options);
    if (status < 0)
        *ret_options = options;
    return status;
}
