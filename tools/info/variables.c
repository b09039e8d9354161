/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-info: the environment variables of Cohort, and names that are none of them. */
#include "tools/info/variables.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tools/share/likeness.h"

static const struct variable variables[] = {
    {"COHORT_WORKERS", "a share of the cores", "threads that run tasks"},
    {"COHORT_SPIN", "100, or 0 on shared cores", "us that an idle worker polls"},
    {"COHORT_STACK", "262144", "bytes of a task's stack"},
    {"COHORT_STACK_GUARD", "kernel", "what notices that a stack overflows"},
    {"COHORT_TASKS", "pinned", "whether a waiting task may change its worker"},
    {"COHORT_PROGRESS", "workers", "who sees to messages"},
    {"COHORT_BLOCKING_THREADS", "64", "functions of cohort_blocking at a time"},
    {"COHORT_NET", "by the place of the peer", "shm or ofi for all messages"},
    {"COHORT_EAGER_BUDGET", "262144", "bytes that a peer may send unasked"},
    {"COHORT_OFI_PROVIDER", "by the version of libfabric", "provider of libfabric"},
    {"COHORT_OFI_ADDRESS", "what the launcher found", "address of this host"},
    {"COHORT_TUNE", "the configuration folder's", "file of cohort-tune"},
    {"COHORT_CHECK_ASYMMETRIC", "0", "agreement before gather and scatter"},
    {"COHORT_TOPOLOGY", "the real machine", "a machine that is played"},
    {"COHORT_LEVELS", "none", "switches and racks of this host"},
    {"COHORT_LOG", "off", "what is said on standard error"},
    {"COHORT_TRACE", "none", "file for the job's trace"},
    {"COHORT_TRACE_MIB", "1024", "MiB of the trace that a locality keeps"},
    {"COHORT_MEMORY_MIB", "a share of half the memory", "MiB of cohort_memory_alloc"},
    {"COHORT_STATS", "0", "counters at the job's end"},
    {"COHORT_FAULT", "none", "faults to happen, for tests"},
    {"COHORT_GRACE", "1", "s to end in a broken job, without cohortrun"},
    {"COHORT_JOIN_TIMEOUT", "60", "s that one may take to join, without cohortrun"},
    {"COHORT_ALONE", "0", "1: a job of one, whatever started it"},
    {"COHORT_CONTROL_FD", NULL, "cohortrun: the connection to it"},
    {"COHORT_HUB", NULL, "cohortrun: shared memory"},
    {"COHORT_LEDGER", NULL, "who starts it: the ledger"},
    {"COHORT_BINDING", NULL, "cohortrun: its processors"},
    {"COHORT_LOCALITY", NULL, "cohortrun: this locality"},
    {"COHORT_LOCALITIES", NULL, "cohortrun: how many there are"},
};
enum { NUM_VARIABLES = sizeof(variables) / sizeof(variables[0]) };

const struct variable *variables_all(size_t *ret_num)
{
    *ret_num = NUM_VARIABLES;
    return variables;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < NUM_VARIABLES; i++)
        if (strcmp(variables[i].name, name) == 0)
            return true;
    return false;
}

/* What COHORT_ has in front of it is the same in all names, so it is left out. */
static const char *find_meant(const char *name)
{
    const size_t prefix = strlen("COHORT_");
    const char *best = NULL;
    unsigned distance = UINT32_MAX;
    for (size_t i = 0; i < NUM_VARIABLES; i++) {
        unsigned next = likeness_distance(name + prefix, variables[i].name + prefix, 255);
        bool may_be =
            variables[i].otherwise && likeness_is_close(name + prefix, variables[i].name + prefix);
        if (may_be && next < distance) {
            distance = next;
            best = variables[i].name;
        }
    }
    return best;
}

bool variables_next_unknown(char *const *environment, size_t *at, char *ret_name, size_t bytes,
                            const char **ret_meant)
{
    for (; environment[*at]; ++*at) {
        snprintf(ret_name, bytes, "%.*s", (int)strcspn(environment[*at], "="), environment[*at]);
        if (strncmp(ret_name, "COHORT_", strlen("COHORT_")) != 0 || is_known(ret_name))
            continue;
        *ret_meant = find_meant(ret_name);
        ++*at;
        return true;
    }
    return false;
}
