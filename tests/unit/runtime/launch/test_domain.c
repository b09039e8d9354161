/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/domain.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/test.h"

/* On machines that hwloc is told to play. */

static uint32_t domain_of(const char *machine, unsigned first, unsigned num)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (unsigned i = 0; i < num; i++)
        CPU_SET(first + i, &mask);
    CHECK_INT(setenv("HWLOC_SYNTHETIC", machine, 1), 0);
    return cohort__domain_of(&mask, sizeof(mask));
}

TEST(caches)
{
    static const char machine[] = "pack:2 l3:2 core:4 pu:1"; /* one NUMA node */
    CHECK_INT(domain_of(machine, 0, 1), 0);
    CHECK_INT(domain_of(machine, 3, 1), 0);
    CHECK_INT(domain_of(machine, 4, 4), 4);
    CHECK_INT(domain_of(machine, 15, 1), 12);
}

TEST(nodes)
{
    static const char machine[] = "numa:3 l3:1 core:4 pu:2";
    CHECK_INT(domain_of(machine, 0, 8), 0);
    CHECK_INT(domain_of(machine, 23, 1), 16);
    CHECK_INT(domain_of("numa:2 core:2 pu:1", 2, 2), 2); /* without such caches */
    CHECK_INT(domain_of("pack:1 l3:1 numa:2 core:2 pu:1", 3, 1), 2);
}

/* Most of the processors have to be in it. */
TEST(majority)
{
    static const char machine[] = "l3:2 core:4 pu:1";
    CHECK_INT(domain_of(machine, 1, 5), 0);
    CHECK_INT(domain_of(machine, 2, 4), COHORT__NO_DOMAIN);
    CHECK_INT(domain_of(machine, 2, 5), 4);
    CHECK_INT(domain_of(machine, 0, 8), COHORT__NO_DOMAIN);
}

/* A thread that may run anywhere. */
TEST(unbound)
{
    CHECK_INT(setenv("HWLOC_SYNTHETIC", "l3:1 pu:1024", 1), 0);
    long num = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t mask;
    CHECK_INT(sched_getaffinity(0, sizeof(mask), &mask), 0);
    CHECK_INT(cohort__domain_find(), CPU_COUNT(&mask) < num ? 0 : COHORT__NO_DOMAIN);
    int first = 0;
    while (!CPU_ISSET(first, &mask))
        first++;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    CHECK_INT(sched_setaffinity(0, sizeof(mask), &mask), 0);
    CHECK_INT(cohort__domain_find(), num > 1 ? 0 : COHORT__NO_DOMAIN);
}
