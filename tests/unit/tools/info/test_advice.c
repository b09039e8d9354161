/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/info/report.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"
#include "tools/info/facts.h"
#include "tools/info/variables.h"

/* What was said about the facts of a case: each thing that is wrong, and the remedy behind it. */
struct said {
    char text[2000];
};

static void note(void *context, const char *wrong, const char *remedy)
{
    struct said *said = context;
    const size_t used = strlen(said->text);
    snprintf(said->text + used, sizeof(said->text) - used, "%s|%s\n", wrong, remedy);
}

/* A machine on which all is well. */
static struct facts good(void)
{
    return (struct facts){
        .processors = 8,
        .allowed = 8,
        .mask = "0-7",
        .quota = FACTS_UNLIMITED,
        .cores = 8,
        .max_maps = 65530,
        .locked = 8 << 20,
        .descriptors = 1024,
        .most_descriptors = 4096,
        .processes = FACTS_UNLIMITED,
        .ptrace_scope = FACTS_UNKNOWN,
        .has_memory_files = true,
        .ofi = {.version = "1.17.0", .provider = "net", .is_there = true, .names = "net, shm"},
    };
}

static void check(const struct facts *facts, char *const *environment, uint32_t num,
                  const char *said_first)
{
    static char *const nothing[] = {NULL};
    struct said said = {""};
    CHECK_INT(advice_find(facts, environment ? environment : nothing, note, &said), num);
    CHECK(strncmp(said.text, said_first, strlen(said_first)) == 0);
}

TEST(good)
{
    struct facts facts = good();
    check(&facts, NULL, 0, "");
    facts.ptrace_scope = 0;
    facts.quota = 8;
    facts.processors = facts.most_descriptors = facts.max_maps = FACTS_UNKNOWN;
    check(&facts, NULL, 0, "");
}

TEST(variables)
{
    static char known[] = "COHORT_WORKERS=2", internal[] = "COHORT_LOCALITY=0", other[] = "A=b";
    static char close[] = "COHORT_WORKER=2", far[] = "COHORT_XYZZY=", half[] = "COHORTS=1";
    char *const fine[] = {known, internal, other, half, NULL};
    char *const wrong[] = {far, known, close, NULL};
    struct facts facts = good();
    check(&facts, fine, 0, "");
    check(&facts, wrong, 2,
          "COHORT_XYZZY is set, and Cohort has no variable of that name|Unset it\n"
          "COHORT_WORKER is set, and Cohort has no variable of that name|Write COHORT_WORKERS, or "
          "unset it\n");
    snprintf(facts.wrong, sizeof(facts.wrong), "environment variable COHORT_SPIN is \"x\"");
    facts.tune_is_missing = true;
    check(&facts, NULL, 2, "environment variable COHORT_SPIN is \"x\"|Programs end at their start");
}

TEST(cores)
{
    struct facts facts = good();
    facts.quota = 2;
    check(&facts, NULL, 1, "the control groups pay for 2 cores, and the mask has 8|");
    facts = good();
    facts.allowed = 1;
    snprintf(facts.mask, sizeof(facts.mask), "3");
    check(&facts, NULL, 1, "this process may run on one of 8 processors (3) only|");
    facts.processors = 1;
    check(&facts, NULL, 0, "");
}

TEST(limits)
{
    struct facts facts = good();
    facts.max_maps = 65529;
    check(&facts, NULL, 1, "a process may have 65529 mappings");
    facts = good();
    facts.most_descriptors = 31;
    check(&facts, NULL, 1,
          "cohortrun may have 31 open files, and a locality on each of 8 "
          "processors needs 32|");
    facts.most_descriptors = 32;
    check(&facts, NULL, 0, "");
    facts.processes = 7;
    check(&facts, NULL, 1, "this user may have 7 processes and threads|");
}

TEST(transports)
{
    struct facts facts = good();
    facts.has_memory_files = false;
    check(&facts, NULL, 1, "memfd_create fails");
    facts = good();
    facts.ptrace_scope = 1;
    check(&facts, NULL, 1, "kernel.yama.ptrace_scope is 1");
    facts = good();
    facts.ofi.is_there = false;
    check(&facts, NULL, 1,
          "jobs on several hosts do not work: libfabric 1.17.0 has no provider net, "
          "only net, shm|");
    snprintf(facts.ofi_error, sizeof(facts.ofi_error), "libfabric can't be loaded");
    check(&facts, NULL, 1, "jobs on several hosts do not work: libfabric can't be loaded|");
    facts = good();
    snprintf(facts.ofi.provider, sizeof(facts.ofi.provider), "verbs;ofi_rxm");
    check(&facts, NULL, 1,
          "the provider verbs;ofi_rxm locks memory, and 8388608 bytes are allowed|");
    facts.locked = FACTS_UNLIMITED;
    check(&facts, NULL, 0, "");
}
