/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: what will not work well, and what to do about it. */
#include "tools/info/report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/info/facts.h"
#include "tools/info/variables.h"

/* A locality takes four descriptors of its launcher (cohortrun/locality.h). */
enum { DESCRIPTORS_EACH = 4, LEAST_MAPS = 65530 };
static const uint64_t least_locked = 64 << 20;

struct advice {
    void (*function)(void *context, const char *wrong, const char *remedy);
    void *context;
    uint32_t num;
};

__attribute__((format(printf, 3, 4))) static void give(struct advice *advice, const char *remedy,
                                                       const char *format, ...)
{
    char wrong[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(wrong, sizeof(wrong), format, args);
    va_end(args);
    advice->function(advice->context, wrong, remedy);
    advice->num++;
}

static void look_at_variables(struct advice *advice, const struct facts *facts,
                              char *const *environment)
{
    char name[100], remedy[200];
    const char *meant;
    for (size_t at = 0; variables_next_unknown(environment, &at, name, sizeof(name), &meant);) {
        snprintf(remedy, sizeof(remedy), meant ? "Write %s, or unset it" : "Unset it", meant);
        give(advice, remedy, "%s is set, and Cohort has no variable of that name", name);
    }
    if (facts->wrong[0])
        give(advice, "Programs end at their start with this error; correct it", "%s", facts->wrong);
    if (facts->tune_is_missing)
        give(advice, "Run cohort-tune, or unset it", "COHORT_TUNE names a file that can't be read");
}

static void look_at_cores(struct advice *advice, const struct facts *facts)
{
    if (facts->allowed == 1 && facts->processors > 1 && facts->processors < FACTS_UNLIMITED)
        give(advice, "Look who has bound it: taskset, a container, or the launcher (--bind none)",
             "this process may run on one of %" PRIu64 " processors (%s) only", facts->processors,
             facts->mask);
    if (facts->quota < facts->allowed && facts->allowed < FACTS_UNLIMITED)
        give(advice,
             "Localities have fewer workers by that; bind to as many processors (taskset), "
             "or raise the quota (cpu.max)",
             "the control groups pay for %" PRIu64 " cores, and the mask has %" PRIu64,
             facts->quota, facts->allowed);
}

static void look_at_limits(struct advice *advice, const struct facts *facts)
{
    if (facts->max_maps < LEAST_MAPS)
        give(advice, "sysctl vm.max_map_count=65530, or more",
             "a process may have %" PRIu64 " mappings, so fewer tasks can wait at a time, with a "
             "guard at each stack",
             facts->max_maps);
    if (facts->most_descriptors / DESCRIPTORS_EACH < facts->processors &&
        facts->processors < FACTS_UNLIMITED)
        give(advice, "Raise the hard limit of open files (ulimit -Hn)",
             "cohortrun may have %" PRIu64 " open files, and a locality on each of %" PRIu64
             " processors needs %" PRIu64,
             facts->most_descriptors, facts->processors, DESCRIPTORS_EACH * facts->processors);
    if (facts->processes < facts->cores)
        give(advice, "Raise the limit of processes (ulimit -u)",
             "this user may have %" PRIu64 " processes and threads", facts->processes);
}

static void look_at_transports(struct advice *advice, const struct facts *facts)
{
    const bool registers =
        strstr(facts->ofi.provider, "verbs") || strstr(facts->ofi.provider, "psm");
    if (!facts->has_memory_files)
        give(advice, "Use COHORT_NET=ofi, or another kernel",
             "memfd_create fails, so localities of a host can't share memory");
    if (facts->ptrace_scope < FACTS_UNLIMITED && facts->ptrace_scope > 0)
        give(advice, "sysctl kernel.yama.ptrace_scope=0, if other users' debuggers do no harm here",
             "kernel.yama.ptrace_scope is %" PRIu64
             ", so localities that share cores can't read each "
             "other's memory, and copy long messages twice",
             facts->ptrace_scope);
    if (facts->ofi_error[0])
        give(advice, "Install libfabric; within one host it is not needed",
             "jobs on several hosts do not work: %s", facts->ofi_error);
    else if (!facts->ofi.is_there)
        give(advice, "Choose another one by COHORT_OFI_PROVIDER, or install it",
             "jobs on several hosts do not work: libfabric %s has no provider %s, only %s",
             facts->ofi.version, facts->ofi.provider, facts->ofi.names);
    else if (registers && facts->locked < least_locked)
        give(advice, "Raise the limit of locked memory (ulimit -l unlimited)",
             "the provider %s locks memory, and %" PRIu64 " bytes are allowed", facts->ofi.provider,
             facts->locked);
}

uint32_t advice_find(const struct facts *facts, char *const *environment,
                     void (*function)(void *context, const char *wrong, const char *remedy),
                     void *context)
{
    struct advice advice = {function, context, 0};
    look_at_variables(&advice, facts, environment);
    look_at_cores(&advice, facts);
    look_at_limits(&advice, facts);
    look_at_transports(&advice, facts);
    return advice.num;
}
