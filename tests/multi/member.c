/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/multi/member.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/random.h"

_Noreturn static void wrong(const char *what, const char *text)
{
    fprintf(stderr, "wrong %s: %s\n", what, text);
    exit(2);
}

static uint64_t read_number(const char *name, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end)
        wrong(name, text);
    return value;
}

static uint32_t read_kind(const char *text)
{
    uint32_t kind = 0;
    while (kind < EXERCISE_NUM_KINDS && strcmp(text, exercise_name((enum exercise_kind)kind)) != 0)
        kind++;
    if (kind == EXERCISE_NUM_KINDS && strcmp(text, "any") != 0)
        wrong("kind", text);
    return kind;
}

static enum placement read_placement(const char *text)
{
    static const char *const names[] = {"round-robin", "blocks", "one", "random"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(text, names[i]) == 0)
            return (enum placement)i;
    wrong("placement", text);
}

static uint32_t read_threshold(const char *text)
{
    return strcmp(text, "tree") == 0   ? COHORT_FORCE_TREE
           : strcmp(text, "flat") == 0 ? 1 << 30
                                       : (uint32_t)read_number("threshold", text);
}

static const struct option long_options[] = {
    {"sites", 1, NULL, 's'},
    {"arity", 1, NULL, 'a'},
    {"threshold", 1, NULL, 't'},
    {"root", 1, NULL, 'r'},
    {"algorithms", 1, NULL, 'A'},
    {"stall-ms", 1, NULL, 'S'},
    {"placement", 1, NULL, 'p'},
    {"kind", 1, NULL, 'k'},
    {"count", 1, NULL, 'c'},
    {"any-count", 0, NULL, 'C'},
    {"skips", 0, NULL, 'x'},
    {"plain", 0, NULL, 'P'},
    {"generations", 1, NULL, 'g'},
    {"in-flight", 1, NULL, 'f'},
    {"seed", 1, NULL, 'e'},
    {"comms", 1, NULL, 'm'},
    {"levels", 1, NULL, 'l'},
    {"victim", 1, NULL, 'v'},
    {0},
};

static void read_option(struct member *member, int option)
{
    const char *text = optarg;
    switch (option) {
    case 's':
        member->options.num_sites = (uint32_t)read_number("sites", text);
        break;
    case 'a':
        member->options.arity = (uint32_t)read_number("arity", text);
        break;
    case 't':
        member->options.flat_fallback_threshold = read_threshold(text);
        break;
    case 'r':
        member->options.root_site = (uint32_t)read_number("root", text);
        break;
    case 'A':
        member->options.algorithms = text;
        break;
    case 'S':
        member->options.stall_after = read_number("stall-ms", text) * 1000000;
        break;
    case 'p':
        member->placement = read_placement(text);
        break;
    case 'k':
        member->kind = read_kind(text);
        break;
    case 'c':
        member->count = (size_t)read_number("count", text);
        break;
    case 'C':
        member->count_drawn = true;
        break;
    case 'x':
        member->skips = true;
        break;
    case 'P':
        member->is_plain = true;
        break;
    case 'g':
        member->generations = read_number("generations", text);
        break;
    case 'f':
        member->in_flight = (uint32_t)read_number("in-flight", text);
        break;
    case 'e':
        member->seed = read_number("seed", text);
        break;
    case 'm':
        member->num_comms = (uint32_t)read_number("comms", text);
        break;
    case 'l':
        member->levels = (uint32_t)read_number("levels", text);
        break;
    case 'v':
        member->victim = (uint32_t)read_number("victim", text);
        break;
    default:
        exit(2);
    }
}

void member_read(struct member *member, int argc, char **argv)
{
    *member = (struct member){
        .mode = argc > 1 ? argv[1] : "",
        .options = {.num_sites = 4},
        .kind = EXERCISE_NUM_KINDS,
        .count = 1,
        .generations = 1,
        .in_flight = 1,
        .num_comms = 1,
        .victim = UINT32_MAX,
    };
    optind = 2;
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        read_option(member, option);
    if (member->in_flight == 0 || member->in_flight > MEMBER_MAX_IN_FLIGHT)
        wrong("option", "in-flight");
    if (member->num_comms == 0 || member->num_comms > MEMBER_MAX_COMMS)
        wrong("option", "comms");
}

uint32_t member_locality(const struct member *member, uint32_t site)
{
    uint32_t num_localities = cohort_num_localities();
    struct cohort__random random;
    switch (member->placement) {
    case PLACEMENT_ROUND_ROBIN:
        return site % num_localities;
    case PLACEMENT_BLOCKS:
        return (uint32_t)((uint64_t)site * num_localities / member->options.num_sites);
    case PLACEMENT_ONE:
        return num_localities - 1;
    default:
        random = cohort__random_seeded(member->seed * 1000003 + site);
        return (uint32_t)cohort__random_below(&random, num_localities);
    }
}

static bool is_here(void *context, uint32_t site)
{
    return member_locality(context, site) == cohort_locality();
}

uint32_t member_num_sites_here(const struct member *member)
{
    uint32_t num = 0;
    for (uint32_t site = 0; site < member->options.num_sites; site++)
        num += member_locality(member, site) == cohort_locality();
    return num;
}

struct sites member_sites(const struct member *member, const char *name,
                          cohort_status (*run)(cohort_comm *comm, void *arg), void *arg)
{
    return (struct sites){
        .name = name,
        .options = member->options,
        .is_here = is_here,
        .context = (void *)member,
        .run = run,
        .arg = arg,
    };
}

cohort_status member_run(const struct member *member, const char *name,
                         cohort_status (*run)(cohort_comm *comm, void *arg), void *arg)
{
    struct sites sites = member_sites(member, name, run, arg);
    return sites_run(&sites);
}

void member_say(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int bytes = vsnprintf(text, sizeof(text) - 1, format, args);
    va_end(args);
    if (bytes > (int)sizeof(text) - 2)
        bytes = (int)sizeof(text) - 2;
    text[bytes] = '\n';
    if (write(STDOUT_FILENO, text, (size_t)bytes + 1) != bytes + 1)
        exit(3);
}
