/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/binding.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/cores.h"
#include "tests/support/test.h"

enum { MOST = 16 };

/* Plans on a machine that hwloc plays. ALLOWED: a list of processors. Returns one text for all
 * sets, or "" if they don't fit. */
static const char *plan(const char *machine, const char *allowed, uint32_t num, unsigned threads,
                        enum binding_mode mode)
{
    static char text[512];
    hwloc_topology_t topology;
    hwloc_bitmap_t sets[MOST], may_use = hwloc_bitmap_alloc();
    CHECK_INT(hwloc_topology_init(&topology), 0);
    CHECK_INT(hwloc_topology_set_synthetic(topology, machine), 0);
    CHECK_INT(hwloc_topology_load(topology), 0);
    CHECK_INT(hwloc_bitmap_list_sscanf(may_use, allowed), 0);
    for (uint32_t i = 0; i < num; i++)
        sets[i] = hwloc_bitmap_alloc();
    bool fits = bindings_plan(sets, num, mode, threads, topology, may_use);
    text[0] = '\0';
    for (uint32_t i = 0; i < num; i++) {
        char *one = NULL;
        CHECK(hwloc_bitmap_list_asprintf(&one, sets[i]) >= 0);
        if (fits)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), i ? " %s" : "%s", one);
        free(one);
        hwloc_bitmap_free(sets[i]);
    }
    hwloc_bitmap_free(may_use);
    hwloc_topology_destroy(topology);
    return text;
}

TEST(cores)
{
    static const char machine[] = "numa:2 core:4 pu:2"; /* processors 0-15 */
    CHECK_TEXT(plan(machine, "0-15", 2, 4, BINDING_CORE), "0-7 8-15");
    CHECK_TEXT(plan(machine, "0-15", 3, 2, BINDING_CORE), "0-3 4-7 8-11");
    CHECK_TEXT(plan(machine, "0-15", 8, 1, BINDING_CORE), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15");
    CHECK_TEXT(plan(machine, "0-15", 3, 5, BINDING_CORE), "0-4 5-9 10-14"); /* too few cores */
    CHECK_TEXT(plan(machine, "0-15", 2, 9, BINDING_CORE), "");
    CHECK_TEXT(plan(machine, "0-15", 2, 0, BINDING_CORE), "");
    CHECK_TEXT(plan("numa:1 core:4 pu:1", "0-3", 4, 1, BINDING_CORE), "0 1 2 3");
}

/* A half of a core that may be used is a core. */
TEST(mask)
{
    static const char machine[] = "numa:2 core:4 pu:2";
    CHECK_TEXT(plan(machine, "2-5,9", 3, 1, BINDING_CORE), "2-3 4-5 9");
    CHECK_TEXT(plan(machine, "2-5,9", 2, 2, BINDING_CORE), "2-3 4-5");
    CHECK_TEXT(plan(machine, "2-5,9", 2, 3, BINDING_CORE), "");
    CHECK_TEXT(plan(machine, "2-5,9", 3, 1, BINDING_NUMA), "2-5 2-5 9");
    CHECK_TEXT(plan(machine, "9,11", 2, 1, BINDING_NUMA), "9,11 9,11");
}

TEST(nodes)
{
    static const char machine[] = "numa:4 core:2 pu:1"; /* 0-7 */
    CHECK_TEXT(plan(machine, "0-7", 4, 9, BINDING_NUMA), "0-1 2-3 4-5 6-7");
    CHECK_TEXT(plan(machine, "0-7", 8, 9, BINDING_NUMA), "0-1 0-1 2-3 2-3 4-5 4-5 6-7 6-7");
    CHECK_TEXT(plan(machine, "0-7", 2, 9, BINDING_NUMA), "0-3 4-7");
    CHECK_TEXT(plan(machine, "0-7", 1, 9, BINDING_NUMA), "0-7");
    CHECK_TEXT(plan(machine, "0-7", 6, 9, BINDING_NUMA), "0-1 0-1 2-3 4-5 4-5 6-7");
    CHECK_TEXT(plan(machine, "0-7", 3, 9, BINDING_NUMA), "0-1 2-3 4-7");
}

TEST(worth_it)
{
    CHECK(bindings_are_worth_it(2, 1, 2));
    CHECK(bindings_are_worth_it(3, 2, 8));
    CHECK(!bindings_are_worth_it(4, 1, 8)); /* half of them would be free */
    CHECK(!bindings_are_worth_it(3, 3, 8));
    CHECK(!bindings_are_worth_it(1, 8, 8));
    CHECK(!bindings_are_worth_it(8, 0, 8));
}

/* On this machine. */
TEST(enter)
{
    static const struct binding_wish one = {.mode = BINDING_CORE, .workers = 1},
                                     none = {.mode = BINDING_NONE},
                                     much = {.mode = BINDING_CORE, .workers = 4096};
    struct bindings *bindings = NULL;
    char variable[COHORT__BINDING_BYTES];
    uint64_t before = cohort__cores_identify();
    CHECK_OK(bindings_create(&bindings, &none, 2));
    CHECK(!bindings);
    CHECK_OK(bindings_enter(NULL, 0, variable));
    CHECK_TEXT(variable, "");
    CHECK_FAILS(bindings_create(&bindings, &much, 2), COHORT_ERR_BAD_PARAMETER,
                "--bind core: 2 localities of 4096 threads need 8192 cores of their own, and "
                "may use ");
    CHECK_OK(bindings_create(&bindings, &one, 1));
    CHECK_OK(bindings_enter(bindings, 0, variable));
    CHECK_INT(setenv("COHORT_BINDING", variable, 1), 0);
    CHECK_INT(cohort__binding_take().sharing, 1);
    CHECK(!getenv("COHORT_BINDING"));
    CHECK_INT(cohort__binding_take().sharing, 0);
    CHECK_INT(setenv("COHORT_BINDING", "12345 1 0", 1), 0); /* other processors */
    CHECK_INT(cohort__binding_take().sharing, 0);
    bindings_leave(bindings);
    CHECK(cohort__cores_identify() == before);
    bindings_destroy(bindings);
    bindings_destroy(NULL);
}
