/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the command line. */
#include "tools/bench/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/hosts.h"
#include "tools/bench/select.h"
#include "tools/share/usage.h"

enum {
    DEFAULT_ROUNDS = 7,
    QUICK_ROUNDS = 3,
    DEFAULT_SITES = 64,
    DEFAULT_TASKS = 1000 * 1000,
    DEFAULT_RUNS = 20,
    DEFAULT_LIMIT = 570
};
enum { MAX_PLACES = 128, MAX_SITES = 65536, MAX_TASKS = 100 * 1000 * 1000 };

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
    "  spread     64 tasks in one locality, and how well their computing comes to all workers: as\n"
    "             so many times the ideal. burst: an all_reduce, then 2 ms each; sleep and "
    "reduce:\n"
    "             five rounds of 0.5 to 4 ms, each with a sleep or an all_reduce at its end;\n"
    "             threads: the same as burst by threads, without tasks. Each in processes of its "
    "own,\n"
    "             with COHORT_WORKERS; %: so many runs are within that many times the ideal\n"
    "  figures    those that docs/performance.md shows; starts the jobs for it by itself\n"
    "  select     the library's choice of algorithms against the fastest one, over collectives,\n"
    "             2 to 32 sites and 8 B to 4 MiB; starts the jobs by itself\n"
    "  hierarchy  all_to_all flat and over trees, and the phases of these; starts the jobs by "
    "itself\n"
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
    "  --sites-per-locality N   coll, check in a larger job, started by cohortrun, and describe;\n"
    "                           default 1\n"
    "  --tasks N                suspended: so many tasks instead of a million\n"
    "  --runs N                 spread: so many processes for each row, 1 to 999; default 20\n"
    "  --arity A                of their tree, 2 or more; default 4, or 2 for up to 4 sites\n"
    "  --cohortrun PATH         figures, select, hierarchy: the launcher; default: the one beside\n"
    "                           this program\n"
    "  --collective NAME        select: only this one, 'all_reduce' for instance\n"
    "  --bytes B                select: only blocks of so many bytes\n"
    "  --placement P            select: only sites as 'tasks' of one locality, in 'localities' of\n"
    "                           their own, 'mixed' (tasks in each of several localities), or on\n"
    "                           'hosts', which are not measured without being asked for;\n"
    "                           --sites N: only so many sites; in a job of 'mixed', any number\n"
    "  --by-call                select: the rows take turns by a few calls, not by rounds: one "
    "call\n"
    "                           that is not timed, then four that are, or one if they take long;\n"
    "                           with a barrier behind each where no site waits for all others\n"
    "  --limit SECONDS          select: what is not measured then is left out; default 570\n"
    "  --hosts HxL              select --placement hosts: over H hosts with L localities each, "
    "not\n"
    "                           2x1, 2x4, 4x2, 8x1 and 2x2x4; HxLxT: and T tasks as sites of each\n"
    "                           locality; the hosts are namespaces of this machine, made and\n"
    "                           removed by this program, as root\n"
    "  --only PATTERN           spread: only such rows, 'burst' for instance\n"
    "  --works LIST             coll: only these, 'all_reduce:8,barrier:0' for instance, with "
    "default\n"
    "                           options, --sites-per-locality too; tasks: 'fib:30,empty:1000'\n"
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
            "tasks|barrier|coll|check|kernels|suspended|spread|figures|select|"
            "hierarchy|describe...\n",
    .help = help,
};

enum {
    OPTION_JSON = USAGE_FIRST_OPTION,
    OPTION_ROUNDS,
    OPTION_QUICK,
    OPTION_SITES,
    OPTION_SITES_PER_LOCALITY,
    OPTION_TASKS,
    OPTION_RUNS,
    OPTION_ARITY,
    OPTION_COHORTRUN,
    OPTION_COLLECTIVE,
    OPTION_BYTES,
    OPTION_PLACEMENT,
    OPTION_BY_CALL,
    OPTION_LIMIT,
    OPTION_HOSTS,
    OPTION_ONLY,
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
    {"runs", required_argument, NULL, OPTION_RUNS},
    {"arity", required_argument, NULL, OPTION_ARITY},
    {"cohortrun", required_argument, NULL, OPTION_COHORTRUN},
    {"collective", required_argument, NULL, OPTION_COLLECTIVE},
    {"bytes", required_argument, NULL, OPTION_BYTES},
    {"placement", required_argument, NULL, OPTION_PLACEMENT},
    {"by-call", no_argument, NULL, OPTION_BY_CALL},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"hosts", required_argument, NULL, OPTION_HOSTS},
    {"only", required_argument, NULL, OPTION_ONLY},
    {"works", required_argument, NULL, OPTION_WORKS},
    {"fresh", no_argument, NULL, OPTION_FRESH},
    {"algorithms", required_argument, NULL, OPTION_ALGORITHMS},
    {"compute", required_argument, NULL, OPTION_COMPUTE},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"help", no_argument, NULL, USAGE_HELP},
    {"version", no_argument, NULL, USAGE_VERSION},
    {0},
};

static int read_bytes(uint64_t *ret)
{
    uint32_t bytes = 0;
    int status = usage_read_count(&usage, "--bytes", optarg, 8, 1 << 30, &bytes);
    *ret = bytes;
    return status;
}

static int read_placement(char *ret)
{
    static const char *const names[] = {"tasks", "localities", "mixed", "hosts"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(optarg, names[i]) == 0) {
            *ret = names[i][0];
            return -1;
        }
    return usage_wrong(&usage, "--placement needs tasks, localities, mixed or hosts, not '%s'",
                       optarg);
}

static int read_seconds(double *ret)
{
    return usage_parse_decimal(optarg, "0123456789.eE+-", 0.001, 100, ret)
               ? -1
               : usage_wrong(&usage, "--seconds needs a number from 0.001 to 100, not '%s'",
                             optarg);
}

/* Reads two or three numbers of up to three digits with an x between them. False: TEXT is something
 * else. */
static bool parse_places(const char *text, struct bench_places *ret_places)
{
    uint32_t numbers[3] = {0, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strspn(text, "0123456789");
        if (length == 0 || length > 3)
            return false;
        numbers[i] = (uint32_t)strtoul(text, NULL, 10);
        text += length;
        if (*text == '\0') {
            *ret_places = (struct bench_places){numbers[0], numbers[1], numbers[2]};
            return i > 0;
        }
        if (*text++ != 'x')
            return false;
    }
    return false;
}

static int read_hosts(struct bench_places *ret)
{
    struct bench_places places;
    if (!parse_places(optarg, &places) || places.hosts < 2 || places.hosts > HOSTS_MAX ||
        places.localities == 0 || places.tasks == 0 ||
        places.hosts * places.localities * places.tasks > MAX_PLACES)
        return usage_wrong(
            &usage, "--hosts needs HxL or HxLxT, 2 to %d hosts and at most %d sites, not '%s'",
            HOSTS_MAX, MAX_PLACES, optarg);
    *ret = places;
    return -1;
}

/* Reads an option of coll or tasks. */
static int read_beside_option(int option, struct bench_options *options)
{
    switch (option) {
    case OPTION_HOSTS:
        return read_hosts(&options->places);
    case OPTION_ONLY:
        options->only = optarg;
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

/* Reads an option of select or hierarchy. */
static int read_other_option(int option, struct bench_options *options)
{
    switch (option) {
    case OPTION_COLLECTIVE:
        options->collective = optarg;
        return bench_select_has(optarg)
                   ? -1
                   : usage_wrong(&usage, "--collective: select measures no '%s'", optarg);
    case OPTION_BYTES:
        return read_bytes(&options->bytes);
    case OPTION_PLACEMENT:
        return read_placement(&options->placement);
    case OPTION_BY_CALL:
        options->by_call = true;
        return -1;
    case OPTION_LIMIT:
        return usage_read_count(&usage, "--limit", optarg, 1, 86400, &options->limit);
    default:
        return read_beside_option(option, options);
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
    case OPTION_RUNS:
        return usage_read_count(&usage, "--runs", optarg, 1, BENCH_MAX_ROUNDS, &options->runs);
    case OPTION_ARITY:
        return usage_read_count(&usage, "--arity", optarg, 2, MAX_SITES, &options->arity);
    case OPTION_COHORTRUN:
        options->cohortrun = optarg;
        return optarg[0] ? -1 : usage_wrong(&usage, "--cohortrun needs a path");
    default:
        return read_other_option(option, options);
    }
}

static int read_subcommand(void *context, const char *word)
{
    unsigned *subcommands = &((struct bench_options *)context)->subcommands;
    static const char *const names[] = {"tasks",     "barrier", "coll",      "figures",
                                        "check",     "select",  "hierarchy", "kernels",
                                        "suspended", "spread",  "describe"};
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
    if (!options->list ||
        bench_works_read(options->list, is_tasks ? bench_works_of_tasks : bench_works_of_coll,
                         &options->works))
        return -1;
    return usage_wrong(&usage, "--works needs a list like %s, not '%s'",
                       is_tasks ? "fib:30,empty:1000" : "all_reduce:8,barrier:0", options->list);
}

/* Checks --works, and what goes with it. */
static int check_beside(struct bench_options *options)
{
    bool is_coll = options->subcommands == BENCH_COLL;
    if (options->list && !is_coll && options->subcommands != BENCH_TASKS)
        return usage_wrong(&usage, "--works is for coll alone, or tasks alone");
    if (options->list && (options->sites || options->arity))
        return usage_wrong(&usage, "--works has only --sites-per-locality, and no tree of its own");
    if (options->computing && !(options->list && is_coll))
        return usage_wrong(&usage, "--compute is for coll --works");
    if (options->algorithms && !(options->list && is_coll))
        return usage_wrong(&usage, "--algorithms is for coll --works");
    if (options->is_fresh && !(options->list && is_coll))
        return usage_wrong(&usage, "--fresh is for coll --works");
    bool is_placed =
        options->subcommands == BENCH_SELECT && options->placement == BENCH_PLACED_HOSTS;
    if (options->places.hosts && !is_placed)
        return usage_wrong(&usage, "--hosts is for select --placement hosts");
    if (options->only && options->subcommands != BENCH_SPREAD)
        return usage_wrong(&usage, "--only is for spread");
    return read_works(options);
}

/* Whether the options fit together. Fills in those that are not given. */
static int complete(struct bench_options *options)
{
    unsigned alone =
        options->subcommands & (BENCH_FIGURES | BENCH_SELECT | BENCH_HIERARCHY | BENCH_SPREAD);
    bool is_select = options->subcommands == BENCH_SELECT;
    bool has_shape = options->sites || options->sites_per_locality || options->arity;
    int status;
    if (!options->subcommands)
        return usage_wrong(&usage, "what is to be measured?");
    if (alone && (options->subcommands & (options->subcommands - 1)))
        return usage_wrong(&usage,
                           "figures, select, hierarchy and spread start jobs: give it alone");
    bool is_description = options->subcommands & BENCH_DESCRIBE;
    if (is_description && options->subcommands != BENCH_DESCRIBE)
        return usage_wrong(&usage, "describe measures nothing: give it alone");
    if (is_description && (options->sites || options->arity))
        return usage_wrong(&usage, "describe has only --sites-per-locality, and no tree");
    if (has_shape && !is_description &&
        !(options->subcommands & (BENCH_COLL | BENCH_CHECK | BENCH_SELECT | BENCH_HIERARCHY)))
        return usage_wrong(
            &usage,
            "--sites, --sites-per-locality and --arity are for coll, check, select and hierarchy");
    if (options->cohortrun && !(alone & ~BENCH_SPREAD))
        return usage_wrong(&usage, "--cohortrun is for figures, select and hierarchy");
    if ((options->collective || options->bytes || options->placement || options->limit ||
         options->by_call) &&
        !is_select)
        return usage_wrong(
            &usage, "--collective, --bytes, --placement, --by-call and --limit are for select");
    if (options->tasks && !(options->subcommands & BENCH_SUSPENDED))
        return usage_wrong(&usage, "--tasks is for suspended");
    if (options->runs && options->subcommands != BENCH_SPREAD)
        return usage_wrong(&usage, "--runs is for spread");
    status = check_beside(options);
    if (status >= 0)
        return status;
    if (!options->computing)
        options->computing = 1;
    if (!options->tasks)
        options->tasks = DEFAULT_TASKS;
    if (!options->runs)
        options->runs = options->quick ? QUICK_ROUNDS : DEFAULT_RUNS;
    if (!options->limit)
        options->limit = DEFAULT_LIMIT;
    if (!options->rounds)
        options->rounds = options->quick ? QUICK_ROUNDS : DEFAULT_ROUNDS;
    if (!options->sites && !is_select)
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
