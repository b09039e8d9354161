/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the command line. */
#include "tools/sim/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/share/usage.h"

enum { MAX_SITES = 1 << 20 };
static const size_t max_bytes = (size_t)1 << 50;
static const double max_time = 1e12;

static const char help[] =
    "Simulates a collective: the plans of all sites, on a network, in simulated time.\n"
    "\n"
    "  --sites N            1 to 1048576; default 16\n"
    "  --bytes M            of a block (all_to_all: for each pair of sites); default 4KiB\n"
    "  --network NETWORK    ring, mesh, mesh:AxB, hypercube, hypercube:gray (sites in\n"
    "                       Gray code), full (default), hosts:H\n"
    "  --algorithm A        one, or 'all', which is the default\n"
    "  --arity K            of the tree of hierarchical ones, 2 or more; default 4\n"
    "  --root R             default 0\n"
    "  --shift Q            of shift: to the site Q further on; default 1\n"
    "  --element E          bytes of an element: vectors are cut between two; default 1\n"
    "  --ordered            the reduction does not commute\n"
    "  --startup T          t_s, microseconds that a message takes; default 1\n"
    "  --per-byte T         t_w, those for each byte of it; default 0.0001\n"
    "  --reduce T           t_r, those for reducing a byte; default 0\n"
    "  --inside-startup T, --inside-per-byte T\n"
    "                       with hosts:H, t_s and t_w within a host; default: as between hosts\n"
    "  --machine HxLxT      instead of a network: H hosts with L localities of T tasks, which are\n"
    "                       the sites; up to 1000x64x16. Priced as the library prices its calls\n"
    "  --domains D          of each host, the same number of localities in each; default: none\n"
    "  --cores N            of each host; default: as many as localities\n"
    "  --shared-cores N     all hosts together have so many, as hosts that are namespaces do\n"
    "  --turn T             microseconds until a core has gone from one locality to another;\n"
    "                       default 2.5\n"
    "  --tune FILE          the prices, by cohort-tune; default: those of the library\n"
    "  --links              print the bytes on each link\n"
    "  --json               print one JSON object instead of a table\n"
    "  --plot FILE.svg      draw the time against bytes or sites, a curve for each algorithm\n"
    "  --over bytes|sites|hosts\n"
    "                       which of them; default bytes; hosts of a --machine\n"
    "  --from X, --to X     the range of the plot; default 8 to 4MiB bytes, 2 to --sites sites,\n"
    "                       2 to all hosts\n"
    "  --help, --version\n"
    "\n"
    "A message of n bytes takes t_s + t_w n and holds, for all of that time, its sender's port\n"
    "for sending, its receiver's port for receiving and each link of its route. 'predicted' is\n"
    "what the algorithm's own formula says for direct links. Bytes may be written 64, 64KiB,\n"
    "4MiB, 1GiB. The status is 0, 1 after an error, and 2 for a wrong option.\n";

/* Options while they are read. Those that depend on others are checked when all have been read. */
struct reading {
    struct sim_options options;
    const char *collective;
    const char *algorithm;
    const char *from;
    const char *to;
    bool is_ordered;
    /* Options that are given, or NULL. */
    const char *over;
    const char *inside;     /* of a host */
    const char *of_network; /* one that is for networks */
    const char *of_machine; /* one that is for machines */
    const char *cores;      /* which of the two */
};

static int read_bytes(const struct usage_value *value);
static int read_time(const struct usage_value *value);
static int read_turn(const struct usage_value *value);
static int read_machine(const struct usage_value *value);
static int read_cores(const struct usage_value *value);
static int read_over(const struct usage_value *value);
static int read_collective(void *context, const char *word);

#define PLACE(member) offsetof(struct reading, member)
#define REQUEST(member) offsetof(struct reading, options.request.member)
#define COST(member) offsetof(struct reading, options.costs.member)
#define MACHINE(member) offsetof(struct reading, options.machine.member)
static const struct usage_option option_list[] = {
    {"sites", USAGE_COUNT, .place = REQUEST(num_sites), .min = 1, .max = MAX_SITES,
     .note = PLACE(of_network)},
    {"bytes", USAGE_TEXT, .place = REQUEST(bytes), .read = read_bytes},
    {"network", USAGE_TEXT, .place = PLACE(options.network), .note = PLACE(of_network)},
    {"algorithm", USAGE_TEXT, .place = PLACE(algorithm)},
    {"arity", USAGE_COUNT, .place = REQUEST(arity), .min = 2, .max = MAX_SITES},
    {"root", USAGE_COUNT, .place = REQUEST(root), .min = 0, .max = MAX_SITES - 1},
    {"shift", USAGE_COUNT, .place = REQUEST(shift), .min = 0, .max = MAX_SITES - 1},
    {"element", USAGE_TEXT, .place = REQUEST(element), .min = 1, .read = read_bytes},
    {"ordered", USAGE_FLAG, .place = PLACE(is_ordered)},
    {"startup", USAGE_TEXT, .place = COST(startup), .note = PLACE(of_network), .read = read_time},
    {"per-byte", USAGE_TEXT, .place = COST(per_byte), .note = PLACE(of_network), .read = read_time},
    {"reduce", USAGE_TEXT, .place = COST(reduce), .note = PLACE(of_network), .read = read_time},
    {"inside-startup", USAGE_TEXT, .place = COST(inside_startup), .note = PLACE(inside),
     .read = read_time},
    {"inside-per-byte", USAGE_TEXT, .place = COST(inside_per_byte), .note = PLACE(inside),
     .read = read_time},
    {"machine", USAGE_TEXT, .read = read_machine},
    {"cores", USAGE_COUNT, .place = MACHINE(cores), .min = 1, .max = MAX_SITES,
     .note = PLACE(of_machine), .read = read_cores},
    {"shared-cores", USAGE_COUNT, .place = MACHINE(cores), .min = 1, .max = MAX_SITES,
     .note = PLACE(of_machine), .read = read_cores},
    {"turn", USAGE_TEXT, .place = MACHINE(turn), .note = PLACE(of_machine), .read = read_turn},
    {"domains", USAGE_COUNT, .place = MACHINE(domains), .min = 1, .max = MAX_SITES,
     .note = PLACE(of_machine)},
    {"tune", USAGE_TEXT, .place = PLACE(options.tune), .note = PLACE(of_machine)},
    {"links", USAGE_FLAG, .place = PLACE(options.links), .note = PLACE(of_network)},
    {"json", USAGE_FLAG, .place = PLACE(options.json)},
    {"plot", USAGE_TEXT, .place = PLACE(options.plot), .needs = "a path"},
    {"over", USAGE_TEXT, .note = PLACE(over), .read = read_over},
    {"from", USAGE_TEXT, .place = PLACE(from)},
    {"to", USAGE_TEXT, .place = PLACE(to)},
    {0},
};

static const struct usage usage = {
    .program = "cohort-sim",
    .line = "usage: cohort-sim [options] COLLECTIVE\n",
    .help = help,
    .options = option_list,
    .read_word = read_collective,
};

/* Reads digits and, for bytes, a unit after them. False: there is anything else, or too much. */
static bool read_size(const char *text, size_t max, bool with_unit, size_t *ret)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    const char *c = text;
    size_t value = 0, unit = 1;
    for (; *c >= '0' && *c <= '9' && value <= max; c++)
        value = 10 * value + (size_t)(*c - '0');
    if (c == text)
        return false;
    for (unsigned i = 0; with_unit && *c && i < 4; i++, unit *= 1024)
        if (strcmp(c, units[i]) == 0) {
            c += strlen(c);
            break;
        }
    if (*c || value > max / unit)
        return false;
    *ret = value * unit;
    return true;
}

static int read_bytes(const struct usage_value *value)
{
    size_t bytes = 0;
    if (!read_size(value->text, max_bytes, true, &bytes) || bytes < value->option->min)
        return usage_wrong(&usage, "--%s needs bytes, as in 512, 64KiB or 4MiB, not '%s'",
                           value->option->name, value->text);
    *(size_t *)value->place = bytes;
    return -1;
}

static int read_time(const struct usage_value *value)
{
    return usage_parse_decimal(value->text, "0123456789.eE+-", 0, max_time, value->place)
               ? -1
               : usage_wrong(&usage,
                             "--%s needs microseconds, 0 or more, as in 1.5 or 2e-4, not '%s'",
                             value->option->name, value->text);
}

/* In nanoseconds. */
static int read_turn(const struct usage_value *value)
{
    int status = read_time(value);
    *(double *)value->place *= 1e3;
    return status;
}

/* Prints what is possible in place of a wrong name. */
static int wrong_collective(const char *name)
{
    char names[512] = "";
    size_t length = 0;
    for (unsigned i = 0; i < COHORT__NUM_COLLECTIVES; i++)
        if (i != COHORT__EXCHANGE)
            length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
                                       length > 0 ? ", " : "",
                                       cohort__collective_name((enum cohort__collective)i));
    if (!name)
        return usage_wrong(&usage, "which collective? There are %s", names);
    if (strcmp(name, cohort__collective_name(COHORT__EXCHANGE)) == 0)
        return usage_wrong(&usage, "exchange can't be simulated here: its parts are the program's");
    return usage_wrong(&usage, "'%s' is no collective; there are %s", name, names);
}

static int wrong_algorithm(enum cohort__collective collective, const char *name)
{
    char names[1024] = "all";
    size_t length = strlen(names);
    for (uint32_t i = 0; i < cohort__num_algorithms && length < sizeof(names); i++)
        if (cohort__algorithms[i]->collective == collective)
            length += (size_t)snprintf(names + length, sizeof(names) - length, ", %s",
                                       cohort__algorithms[i]->name);
    return usage_wrong(&usage, "--algorithm '%s': for %s there are %s", name,
                       cohort__collective_name(collective), names);
}

static int read_over(const struct usage_value *value)
{
    struct reading *reading = value->context;
    if (strcmp(value->text, "bytes") == 0)
        reading->options.over = SIM_OVER_BYTES;
    else if (strcmp(value->text, "sites") == 0)
        reading->options.over = SIM_OVER_SITES;
    else if (strcmp(value->text, "hosts") == 0)
        reading->options.over = SIM_OVER_HOSTS;
    else
        return usage_wrong(&usage, "--over needs bytes, sites or hosts, not '%s'", value->text);
    return -1;
}

/* Reads a number of 1 to 9 digits, and what follows it. False: there is none. */
static bool read_extent(const char **text, char end, uint32_t *ret)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || length > 9 || (*text)[length] != end)
        return false;
    *ret = (uint32_t)strtoul(*text, NULL, 10);
    *text += length + (end != '\0');
    return *ret > 0;
}

static int read_machine(const struct usage_value *value)
{
    struct cohort__sim_machine *machine = &((struct reading *)value->context)->options.machine;
    const char *text = value->text;
    if (!read_extent(&text, 'x', &machine->hosts) ||
        !read_extent(&text, 'x', &machine->localities) ||
        !read_extent(&text, '\0', &machine->tasks) ||
        (uint64_t)machine->hosts * machine->localities > MAX_SITES ||
        (uint64_t)machine->hosts * machine->localities * machine->tasks > MAX_SITES)
        return usage_wrong(&usage,
                           "--machine needs HxLxT, hosts, localities and tasks, up to %d sites in "
                           "all, not '%s'",
                           MAX_SITES, value->text);
    return -1;
}

static int read_cores(const struct usage_value *value)
{
    struct reading *reading = value->context;
    if (reading->cores)
        return usage_wrong(&usage, "%s is given twice, or with %s", value->word, reading->cores);
    reading->cores = value->word;
    reading->options.machine.is_shared = strcmp(value->option->name, "shared-cores") == 0;
    return usage_read_count(&usage, value);
}

static int read_collective(void *context, const char *word)
{
    struct reading *reading = context;
    if (reading->collective)
        return usage_wrong(&usage, "one collective at a time: %s or '%s'?", reading->collective,
                           word);
    reading->collective = word;
    reading->options.request.collective = cohort__collective_find(word);
    if (reading->options.request.collective == COHORT__NUM_COLLECTIVES ||
        reading->options.request.collective == COHORT__EXCHANGE)
        return wrong_collective(word);
    return -1;
}

/* Reads one end of the plot's range. */
static int read_end(const char *word, const char *text, const struct reading *reading, size_t *end)
{
    bool is_bytes = reading->options.over == SIM_OVER_BYTES;
    if (text && (!read_size(text, is_bytes ? max_bytes : MAX_SITES, is_bytes, end) || *end == 0))
        return usage_wrong(&usage,
                           is_bytes ? "%s needs bytes, as in 512, 64KiB or 4MiB, not '%s'"
                                    : "%s needs a number of sites or hosts, 1 to 1048576, not '%s'",
                           word, text);
    return -1;
}

static int complete_plot(struct reading *reading)
{
    struct sim_options *options = &reading->options;
    bool is_bytes = options->over == SIM_OVER_BYTES;
    if (!options->plot)
        return reading->over || reading->from || reading->to
                   ? usage_wrong(&usage, "--over, --from and --to are for --plot")
                   : -1;
    bool is_hosts = options->over == SIM_OVER_HOSTS;
    options->from = is_bytes ? 8 : 2;
    options->to = is_bytes   ? 4 << 20
                  : is_hosts ? options->machine.hosts
                             : options->request.num_sites;
    int status = read_end("--from", reading->from, reading, &options->from);
    if (status < 0)
        status = read_end("--to", reading->to, reading, &options->to);
    if (status < 0 && is_hosts && options->to > options->machine.hosts)
        return usage_wrong(&usage, "--to %zu: the machine has %u hosts", options->to,
                           options->machine.hosts);
    if (status < 0 && options->from > options->to)
        return usage_wrong(&usage, "the plot's range, %zu to %zu, is empty", options->from,
                           options->to);
    return status;
}

/* Whether what is for machines, and what is for networks, is given for the right one. */
static int complete_machine(struct reading *reading)
{
    struct sim_options *options = &reading->options;
    struct cohort__sim_machine *machine = &options->machine;
    bool is_machine = machine->hosts > 0;
    if (!is_machine && reading->of_machine)
        return usage_wrong(&usage, "--%s is for --machine", reading->of_machine);
    if (is_machine && (reading->of_network || reading->inside))
        return usage_wrong(&usage, "--%s is for networks, and --machine is none",
                           reading->inside ? reading->inside : reading->of_network);
    if (options->over == (is_machine ? SIM_OVER_SITES : SIM_OVER_HOSTS))
        return usage_wrong(&usage, is_machine ? "--over sites is for networks: over hosts?"
                                              : "--over hosts is for --machine");
    if (!is_machine)
        return -1;
    if (machine->domains > 0 && machine->localities % machine->domains != 0)
        return usage_wrong(&usage, "--domains %u: a host has %u localities", machine->domains,
                           machine->localities);
    options->request.num_sites = cohort__sim_machine_sites(machine);
    if (machine->cores == 0)
        machine->cores = machine->localities;
    return -1;
}

/* Whether the options fit together. Fills in those that depend on others. */
static int complete(struct reading *reading)
{
    struct sim_options *options = &reading->options;
    const struct cohort__request *request = &options->request;
    struct cohort__network network;
    if (!reading->collective)
        return wrong_collective(NULL);
    options->request.commutative = !reading->is_ordered;
    int status = complete_machine(reading);
    if (status >= 0)
        return status;
    if (reading->algorithm && strcmp(reading->algorithm, "all") != 0) {
        options->algorithm = cohort__algorithm_find(request->collective, reading->algorithm);
        if (!options->algorithm)
            return wrong_algorithm(request->collective, reading->algorithm);
    }
    if (cohort__network_init(&network, options->network, request->num_sites) != COHORT_OK)
        return usage_wrong(&usage, "--network: %s", cohort_error_message());
    if (reading->inside && network.kind != COHORT__NETWORK_HOSTS)
        return usage_wrong(&usage,
                           "--inside-startup and --inside-per-byte are for --network hosts:H");
    if (request->root >= request->num_sites)
        return usage_wrong(&usage, "--root %u: there are only sites 0 to %u", request->root,
                           request->num_sites - 1);
    if (request->shift >= request->num_sites && request->shift > 1)
        return usage_wrong(&usage, "--shift %u has to be below the number of sites, %u",
                           request->shift, request->num_sites);
    if (request->bytes % request->element != 0)
        return usage_wrong(&usage, "--bytes %zu is no whole number of elements of %zu bytes",
                           request->bytes, request->element);
    if (request->num_sites == 1)
        options->request.shift = 0;
    if (options->costs.inside_startup < 0)
        options->costs.inside_startup = options->costs.startup;
    if (options->costs.inside_per_byte < 0)
        options->costs.inside_per_byte = options->costs.per_byte;
    return complete_plot(reading);
}

int sim_options_read(int argc, char **argv, struct sim_options *ret_options)
{
    struct reading reading = {.options = {.network = "full"}};
    reading.options.request = (struct cohort__request){
        .num_sites = 16, .arity = 4, .shift = 1, .bytes = 4096, .element = 1, .commutative = true};
    reading.options.costs = (struct cohort__sim_costs){
        .startup = 1, .per_byte = 1e-4, .inside_startup = -1, .inside_per_byte = -1};
    reading.options.machine.turn = 2.5e3;
    int status = usage_read(&usage, argc, argv, &reading);
    if (status < 0)
        status = complete(&reading);
    if (status < 0)
        *ret_options = reading.options;
    return status;
}
