/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the command line, and the hosts that a batch system has given to this job. */
#include "tools/cohortrun/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/status.h"
#include "runtime/base/bounds.h"
#include "runtime/launch/control.h"
#include "tools/cohortrun/address.h"
#include "tools/cohortrun/command.h"
#include "tools/share/child.h"
#include "tools/share/host_list.h"
#include "tools/share/usage.h"

/* The hosts that a batch system has given to this job. */
struct allocation {
    const char *source;     /* the variable that named them; NULL: there is no allocation */
    const char *agent;      /* what reaches them; NULL: as without an allocation */
    struct host_list hosts; /* and their slots */
};

/* A step of one process on that host. It shares the processors with others, and is bound to none,
 * as it starts the localities there. */
static const char slurm_agent[] = "srun -N 1 -n 1 --overlap --cpu-bind=none --mpi=none -w {host}";

/* Names of hosts, and their slots as Slurm writes them: "2(x3),1" is 2, 2, 2 and 1. */
struct slurm {
    struct host_list *hosts;
    const char *next;   /* what is not read yet */
    unsigned num, left; /* the slots, and for how many more hosts */
};

static bool read_count(struct slurm *slurm)
{
    char *end;
    slurm->num = (unsigned)strtoul(slurm->next, &end, 10);
    slurm->left = 1;
    if (end == slurm->next || slurm->num == 0)
        return false;
    if (strncmp(end, "(x", 2) == 0) {
        slurm->left = (unsigned)strtoul(end + 2, &end, 10);
        end += *end == ')';
    }
    slurm->next = end + (*end == ',');
    return slurm->left > 0;
}

static bool take_host(void *context, const char *line)
{
    struct slurm *slurm = context;
    char text[300];
    if (slurm->left == 0 && !read_count(slurm))
        return false;
    slurm->left--;
    snprintf(text, sizeof(text), "%.*s:%u", (int)strcspn(line, "\n"), line, slurm->num);
    return host_list_parse(slurm->hosts, text) == COHORT_OK;
}

static cohort_status read_slurm(const char *list, struct host_list *hosts)
{
    static char program[] = "scontrol", show[] = "show", hostnames[] = "hostnames";
    const char *counts = getenv("SLURM_TASKS_PER_NODE");
    struct slurm slurm = {.hosts = hosts, .next = counts ? counts : "1(x4096)"};
    char *names = strdup(list);
    char *args[] = {program, show, hostnames, names, NULL};
    bool is_read = names && child_run(args, take_host, &slurm);
    free(names);
    if (is_read && hosts->num > 0)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                       "SLURM_JOB_NODELIST is %.100s and SLURM_TASKS_PER_NODE %.100s: these are no "
                       "hosts and slots (scontrol show hostnames); --hosts would name them",
                       list, counts ? counts : "not set");
}

/* "a a b": each word is a slot. */
static cohort_status read_words(const char *words, struct host_list *hosts)
{
    char *copy = strdup(words), *rest = NULL;
    cohort_status status =
        copy ? COHORT_OK : cohort_fail(COHORT_ERR_NO_MEMORY, "hosts: out of memory");
    for (char *word = copy ? strtok_r(copy, " ", &rest) : NULL; word && !status;
         word = strtok_r(NULL, " ", &rest))
        status = host_list_parse(hosts, word);
    free(copy);
    return status;
}

/* A line is a slot. */
static cohort_status read_file(const char *path, struct host_list *hosts)
{
    return host_list_read(hosts, path);
}

/* Finds them in the environment: of Slurm, of PBS and its descendants, or of LSF. */
static cohort_status find_allocation(struct allocation *ret_allocation)
{
    static const struct {
        const char *variable, *agent;
        cohort_status (*read)(const char *value, struct host_list *hosts);
    } systems[] = {{"SLURM_JOB_NODELIST", slurm_agent, read_slurm},
                   {"PBS_NODEFILE", NULL, read_file},
                   {"LSB_HOSTS", NULL, read_words}};
    struct allocation found = {0};
    cohort_status status = COHORT_OK;
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]) && !found.source; i++) {
        const char *value = getenv(systems[i].variable);
        if (!value || !*value)
            continue;
        found.source = systems[i].variable;
        found.agent = systems[i].agent;
        status = systems[i].read(value, &found.hosts);
    }
    if (status)
        host_list_fini(&found.hosts);
    else
        *ret_allocation = found;
    return status;
}

enum { MAX_LOCALITIES = HOST_LIST_MAX_SLOTS };
_Static_assert((int)MAX_LOCALITIES == (int)COHORT__CONTROL_MAX_LOCALITIES,
               "as the control protocol");
static const double max_timeout = 1e9;
static const uint64_t second_ns = 1000000000;

static const char help[] =
    "Starts a program N times, on this host or on several, as the localities of one job.\n"
    "\n"
    "  -n N, -np N      localities, 1 to 4096\n"
    "  --hosts HOST[:SLOTS],...\n"
    "                   fill these hosts in order, each with as many localities as it has slots\n"
    "                   (1); without -n, all slots\n"
    "                   without it, those that Slurm, PBS or LSF have given to this job\n"
    "  --hostfile FILE  the same, a host a line: HOST [slots=SLOTS] [levels=LEVEL=GROUP,...],\n"
    "                   comments behind #; levels: COHORT_LEVELS there, switch=s1,rack=r7 for\n"
    "                   instance\n"
    "  --agent COMMAND  what starts cohortrun's daemon on {host}, run by sh with the daemon's\n"
    "                   command line behind it; without it ssh -o BatchMode=yes {host}, or srun\n"
    "                   within a job of Slurm, and this host needs none\n"
    "  --listen ADDRESS where the daemons reach this host, if not at the address it reaches them\n"
    "                   from\n"
    "  --connect-timeout S, --heartbeat S, --heartbeat-timeout S\n"
    "                   a host has S seconds to answer (30), sends a sign of life every S seconds\n"
    "                   (1), and is dead when there was none for S seconds (10)\n"
    "  --workers W      worker threads of each locality; default: its share of the\n"
    "                   host's cores, or its COHORT_WORKERS\n"
    "  --bind core|numa|none\n"
    "                   each locality runs on cores of its own, or on those of a NUMA node; core\n"
    "                   is the default if all localities on the host need more than half of its\n"
    "                   cores and have enough of them, else none\n"
    "  --report-bindings\n"
    "                   print where each locality is bound to\n"
    "  --tag            put the locality before each line of output: [3] ...\n"
    "  --timeout S      end the job after S seconds, with status 124\n"
    "  --stall S        say so when nothing in the whole job has moved for S seconds (10); 0:\n"
    "                   never\n"
    "  --grace S        when a locality dies, the others have S seconds to end by themselves (1);\n"
    "                   when its program returns an error, five times as long\n"
    "  --keep-going     when a locality dies, the others go on without it, and the status is\n"
    "                   theirs; docs/SURVIVING.md says what that asks of a program\n"
    "  -x VAR[=VALUE]   set a variable of the program's environment; may be given several times\n"
    "                   (the whole environment is handed on; without a value VAR has to exist)\n"
    "  --status [PID]   say who waits for whom in the job of that cohortrun or locality, or in a\n"
    "                   program that runs alone; without PID in the only job of this user\n"
    "  --status FILE... the same of a job that has died, from core files of its localities\n"
    "  --status [PID] --json\n"
    "                   the same as JSON, with nothing cut\n"
    "  --help, --version\n"
    "\n"
    "Several programs make one job, each with its own -n: cohortrun -n 1 a : -n 2 b. The other\n"
    "options stand before the first one and are for all; a program's rank in the job is by order.\n"
    "\n"
    "Locality 0 reads standard input. INT and TERM go to all localities; a second INT within a\n"
    "second kills them. QUIT prints what --status says. When a locality fails, all are ended. The\n"
    "status is that of the first locality that failed, 128 + number for a signal.\n";

/* Options of mpirun and mpiexec, of which ours have other names. */
static const char *hint_for(const char *word)
{
    static const char *const hints[][2] = {
        {"-H", "--hosts"},
        {"-host", "--hosts"},
        {"--host", "--hosts"},
        {"-hosts", "--hosts"},
        {"-f", "--hostfile"},
        {"-hostfile", "--hostfile"},
        {"-machinefile", "--hostfile"},
        {"--machinefile", "--hostfile"},
        {"--np", "-n"},
        {"-ppn", "--hosts HOST:SLOTS"},
        {"--ppn", "--hosts HOST:SLOTS"},
        {"--npernode", "--hosts HOST:SLOTS"},
        {"--map-by", "--hosts HOST:SLOTS and --bind"},
        {"-map-by", "--hosts HOST:SLOTS and --bind"},
        {"--bind-to", "--bind"},
        {"-bind-to", "--bind"},
        {"-env", "-x"},
        {"-genv", "-x"},
    };
    size_t bytes = strcspn(word, "=");
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (strncmp(word, hints[i][0], bytes) == 0 && !hints[i][0][bytes])
            return hints[i][1];
    return NULL;
}

struct reading {
    struct options options;
    int argc;
    char **argv;
};

static int read_size(const struct usage_value *value);
static int read_variable(const struct usage_value *value);
static int read_hosts(const struct usage_value *value);
static int read_binding(const struct usage_value *value);
static int read_duration(const struct usage_value *value);
static int read_stall(const struct usage_value *value);
static int read_agent(const struct usage_value *value);
static int read_status(const struct usage_value *value);

#define PLACE(member) offsetof(struct reading, options.member)
static const struct usage_option option_list[] = {
    {"n", USAGE_TEXT, .place = PLACE(size), .read = read_size},
    {"x", USAGE_TEXT, .read = read_variable},
    {"workers", USAGE_COUNT, .place = PLACE(workers), .min = 1, .max = COHORT__MAX_WORKERS},
    {"bind", USAGE_TEXT, .place = PLACE(bind), .read = read_binding},
    {"report-bindings", USAGE_FLAG, .place = PLACE(report_bindings)},
    {"tag", USAGE_FLAG, .place = PLACE(tag)},
    {"timeout", USAGE_TEXT, .place = PLACE(timeout_ns), .read = read_duration},
    {"stall", USAGE_TEXT, .place = PLACE(stall_ns), .read = read_stall},
    {"grace", USAGE_TEXT, .place = PLACE(grace_ns), .read = read_duration},
    {"keep-going", USAGE_FLAG, .place = PLACE(keeps_going)},
    {"hosts", USAGE_TEXT, .place = PLACE(hosts), .read = read_hosts},
    {"hostfile", USAGE_TEXT, .place = PLACE(hosts), .read = read_hosts},
    {"agent", USAGE_TEXT, .place = PLACE(agent), .read = read_agent},
    {"listen", USAGE_TEXT, .place = PLACE(listen), .needs = "an address, not ''"},
    {"connect-timeout", USAGE_TEXT, .place = PLACE(connect_timeout_ns), .read = read_duration},
    {"heartbeat", USAGE_TEXT, .place = PLACE(heartbeat_ns), .read = read_duration},
    {"heartbeat-timeout", USAGE_TEXT, .place = PLACE(heartbeat_timeout_ns), .read = read_duration},
    {"status", USAGE_FLAG, .read = read_status},
    {0},
};

static const struct usage usage = {
    .program = "cohortrun",
    .line = "usage: cohortrun -n N [--hosts HOST[:SLOTS],...] [--hostfile FILE] [--agent COMMAND] "
            "[--listen ADDRESS] [--connect-timeout S] [--heartbeat S] [--heartbeat-timeout S] "
            "[--workers W] [--bind core|numa|none] [--report-bindings] [--tag] [--timeout S] "
            "[--stall S] [--grace S] [--keep-going] [-x VAR[=VALUE]] "
            "program [args...] [: -n N program [args...]]...\n"
            "       cohortrun --status [PID | FILE...] [--json]\n",
    .help = help,
    .hint_for = hint_for,
    .options = option_list,
};

static bool read_seconds(const char *text, uint64_t *ret_ns)
{
    double seconds;
    if (!usage_parse_decimal(text, "0123456789.", 0, max_timeout, &seconds) || !(seconds > 0))
        return false;
    *ret_ns = (uint64_t)(seconds * 1e9) + 1;
    return true;
}

static int read_variable(const struct usage_value *given)
{
    char *text = given->text;
    char *value = strchr(text, '=');
    size_t name_bytes = value ? (size_t)(value - text) : strlen(text);
    if (name_bytes == 0)
        return usage_wrong(&usage, "-x needs the name of a variable, not '%s'", text);
    if (!value)
        return getenv(text) ? -1 : usage_wrong(&usage, "-x %s: there is no such variable", text);
    *value++ = '\0';
    if (setenv(text, value, 1))
        return usage_wrong(&usage, "-x %s: %s", text, strerror(errno));
    return -1;
}

static int read_hosts(const struct usage_value *value)
{
    struct host_list *hosts = value->place;
    bool from_file = strcmp(value->option->name, "hostfile") == 0;
    if (hosts->num > 0)
        return usage_wrong(&usage, "--hosts or --hostfile is given twice, or both are");
    if (from_file ? host_list_read(hosts, value->text) : host_list_parse(hosts, value->text))
        return usage_wrong(&usage, "--%s: %s", value->option->name, cohort_error_message());
    return -1;
}

static int read_binding(const struct usage_value *value)
{
    static const char *const names[NUM_BINDING_MODES] = {
        [BINDING_CORE] = "core", [BINDING_NUMA] = "numa", [BINDING_NONE] = "none"};
    for (int mode = BINDING_AUTO + 1; mode < NUM_BINDING_MODES; mode++)
        if (strcmp(value->text, names[mode]) == 0) {
            *(enum binding_mode *)value->place = (enum binding_mode)mode;
            return -1;
        }
    return usage_wrong(&usage, "--bind needs core, numa or none, not '%s'", value->text);
}

static int read_duration(const struct usage_value *value)
{
    return read_seconds(value->text, value->place)
               ? -1
               : usage_wrong(&usage, "--%s needs seconds above 0, not '%s'", value->option->name,
                             value->text);
}

static int read_stall(const struct usage_value *value)
{
    const char *text = value->text;
    if (read_seconds(text, value->place))
        return -1;
    *(uint64_t *)value->place = 0;
    return strspn(text, "0.") == strlen(text) && strchr(text, '0')
               ? -1
               : usage_wrong(&usage, "--stall needs seconds, or 0, not '%s'", text);
}

static int read_agent(const struct usage_value *value)
{
    *(const char **)value->place = value->text;
    return strstr(value->text, "{host}")
               ? -1
               : usage_wrong(&usage, "--agent '%s' has no {host} in it", value->text);
}

static int read_status(const struct usage_value *value)
{
    (void)value;
    return usage_wrong(
        &usage, "--status comes first, with nothing but a pid or core files and --json behind it");
}

/* getopt takes -np for -n with the value p. */
static int read_size(const struct usage_value *value)
{
    const struct reading *reading = value->context;
    const char *text = value->text;
    if (strcmp(value->word, "-np") == 0) {
        if (optind >= reading->argc)
            return usage_wrong(&usage, "-np needs a value");
        text = reading->argv[optind++];
    }
    return usage_parse_count(text, 1, MAX_LOCALITIES, value->place)
               ? -1
               : usage_wrong(&usage, "%s needs a number from 1 to %d, not '%s'",
                             strncmp(value->word, "-np", 3) == 0 ? "-np" : "-n", MAX_LOCALITIES,
                             text);
}

/* Prints "cohortrun: SLURM_JOB_NODELIST: 3 localities on a:2,b". */
static void say_taken(const struct options *options, const char *source)
{
    fprintf(stderr, "cohortrun: %s: %u %s on ", source, (unsigned)options->size,
            options->size == 1 ? "locality" : "localities");
    for (uint32_t i = 0; i < options->hosts.num; i++)
        fprintf(stderr, "%s%s:%u", i ? "," : "", options->hosts.list[i].name,
                (unsigned)options->hosts.list[i].num);
    fputs("; --hosts would name others\n", stderr);
}

/* The hosts that a batch system has given to this job, if nobody has named any. A single one that
 * is this one is no restriction. *RET_SOURCE is the variable that named them, *RET_AGENT what
 * reaches them; both stay untouched if there are none. */
static int take_allocation(struct options *options, const char **ret_source, const char **ret_agent)
{
    struct allocation allocation = {0};
    if (options->hosts.num > 0)
        return -1;
    if (find_allocation(&allocation))
        return usage_wrong(&usage, "%s", cohort_error_message());
    bool is_here = allocation.hosts.num == 1 && address_is_here(allocation.hosts.list[0].name);
    if (is_here && options->size > 0) {
        host_list_fini(&allocation.hosts);
        return -1;
    }
    options->hosts = allocation.hosts;
    *ret_agent = allocation.agent;
    *ret_source = allocation.source;
    return -1;
}

/* Finds which localities are on which host, and which hosts are not this one. SOURCE: what has
 * named them, if not the command line; NULL: nothing else. */
static int place(struct options *options, const char *source)
{
    if (options->hosts.num == 0)
        return options->agent || options->listen
                   ? usage_wrong(&usage, "--agent and --listen need --hosts or --hostfile")
                   : -1;
    if (options->heartbeat_timeout_ns < 2 * options->heartbeat_ns)
        return usage_wrong(&usage, "--heartbeat-timeout has to be twice --heartbeat at least");
    if (host_list_fill(&options->hosts, options->size, &options->size))
        return usage_wrong(&usage, "%s%s%s%s", source ? source : "", source ? ": " : "",
                           cohort_error_message(),
                           source ? "; --hosts HOST:SLOTS,... would give them more" : "");
    const char *own = NULL;
    for (uint32_t i = 0; i < options->hosts.num; i++) {
        struct host_name *host = &options->hosts.list[i];
        host->is_far = options->agent || !address_is_here(host->name);
        if (!host->is_far && own)
            return usage_wrong(&usage, "%s and %s are both this host", own, host->name);
        own = host->is_far ? own : host->name;
        if (!host->is_far && host->levels && setenv("COHORT_LEVELS", host->levels, 1))
            return usage_wrong(&usage, "%s", strerror(errno));
    }
    return -1;
}

struct binding_wish options_binding(const struct options *options)
{
    return (struct binding_wish){options->bind, options->workers, options->report_bindings};
}

void options_fini(struct options *options)
{
    host_list_fini(&options->hosts);
}

/* Adds the localities of all programs but the first. */
static int read_programs(struct options *options, char **words)
{
    uint32_t later = 0;
    if (command_check(words, &later))
        return usage_wrong(&usage, "%s", cohort_error_message());
    if (later > 0 && options->size == 0)
        return usage_wrong(&usage, "-n is missing: of several programs each needs one");
    if (options->size + later > MAX_LOCALITIES)
        return usage_wrong(&usage, "the programs have more than %d localities together",
                           MAX_LOCALITIES);
    options->size += later;
    options->program = words;
    return -1;
}

static int read_all(int argc, char **argv, struct reading *reading)
{
    struct options *options = &reading->options;
    const char *source = NULL, *agent = NULL;
    /* Reading stops at the program; what follows is its own. */
    int status = usage_read(&usage, argc, argv, reading);
    if (status < 0)
        status = take_allocation(options, &source, &agent);
    if (status >= 0)
        return status;
    if (options->size == 0 && options->hosts.num == 0)
        return usage_wrong(&usage, "-n is missing: how many localities?");
    status = read_programs(options, argv + optind);
    if (status < 0)
        status = place(options, source);
    if (status < 0 && source)
        say_taken(options, source);
    if (!options->agent)
        options->agent = agent;
    return status;
}

int options_read(int argc, char **argv, struct options *ret_options)
{
    struct reading reading = {.options = {.stall_ns = 10 * second_ns,
                                          .grace_ns = second_ns,
                                          .connect_timeout_ns = 30 * second_ns,
                                          .heartbeat_ns = second_ns,
                                          .heartbeat_timeout_ns = 10 * second_ns},
                              .argc = argc,
                              .argv = argv};
    int status = read_all(argc, argv, &reading);
    if (status >= 0)
        options_fini(&reading.options);
    else
        *ret_options = reading.options;
    return status;
}
