/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/sparse_steps.h"

#include <string.h>

#include "collectives/plan/plan.h"
#include "tests/support/machine.h"
#include "tests/support/test.h"

enum { NUM = TEST_MACHINE_SITES, HOST = 1 }; /* the level of the hosts */

static struct cohort__blob *bundle_of(const uint32_t (*pairs)[2], size_t num)
{
    struct cohort__blob *bundle = cohort__bundle_create(num);
    for (size_t i = 0; i < num; i++)
        cohort__bundle_entries(bundle)[i] =
            (struct cohort__entry){pairs[i][0], pairs[i][1], cohort__blob_create(pairs[i], 8)};
    return bundle;
}

static void unref_all(struct cohort__blob **bundles, size_t num)
{
    for (size_t i = 0; i < num; i++)
        cohort__blob_unref(bundles[i]);
}

/* By hosts, of which the second has the sites from 8 on; and then by the places of that one. */
TEST(sorts)
{
    static const uint32_t first[][2] = {{0, 15}, {0, 3}, {0, 8}}, second[][2] = {{1, 8}};
    struct cohort__machine *machine = test_machine_create();
    struct cohort__route route = {.machine = machine, .level = HOST};
    struct cohort__blob *from[3] = {bundle_of(first, 3), NULL, bundle_of(second, 1)};
    struct cohort__blob *hosts[2] = {NULL}, *sites[8] = {NULL};
    CHECK_INT(cohort__machine_num_subgroups(machine, HOST), 2);
    CHECK_OK(cohort__route(&route, from, 3, hosts, 2));
    CHECK_INT((long long)cohort__bundle_num(hosts[0]), 1);
    CHECK_INT((long long)cohort__bundle_num(hosts[1]), 3);
    /* The objects are the same. */
    CHECK(cohort__bundle_entries(hosts[0])->object == cohort__bundle_entries(from[0])[1].object);
    route = (struct cohort__route){machine, COHORT__BY_PLACE, 8, false};
    CHECK_OK(cohort__route(&route, &hosts[1], 1, sites, 8));
    for (uint32_t i = 0; i < 8; i++)
        CHECK_INT((long long)cohort__bundle_num(sites[i]), i == 0 ? 2 : i == 7 ? 1 : 0);
    CHECK_INT(cohort__bundle_entries(sites[0])[1].source, 1);
    unref_all(from, 3);
    unref_all(hosts, 2);
    CHECK(*(uint32_t *)cohort__bundle_entries(sites[7])->object->data == 0);
    unref_all(sites, 8);
    cohort__machine_destroy(machine);
}

TEST(copies)
{
    static const uint32_t pair[][2] = {{3, 1}};
    struct cohort__machine *machine = test_machine_create();
    struct cohort__route route = {.machine = machine, .level = COHORT__BY_PLACE, .copies = true};
    struct cohort__blob *from = bundle_of(pair, 1), *to[NUM] = {NULL};
    CHECK_OK(cohort__route(&route, &from, 1, to, NUM));
    const struct cohort__blob *copy = cohort__bundle_entries(to[1])->object;
    CHECK(copy != cohort__bundle_entries(from)->object);
    CHECK_INT((long long)copy->bytes, 8);
    CHECK(memcmp(copy->data, pair[0], 8) == 0);
    unref_all(to, NUM);
    cohort__blob_unref(from);
    cohort__machine_destroy(machine);
}

/* What a peer has sent may be anything. */
static void check_astray(uint32_t source, uint32_t target, uint32_t level, uint32_t first,
                         size_t num)
{
    struct cohort__machine *machine = test_machine_create();
    struct cohort__route route = {.machine = machine, .level = level, .first = first};
    struct cohort__blob *from = bundle_of((const uint32_t[][2]){{source, target}}, 1);
    struct cohort__blob *to[NUM] = {NULL};
    CHECK_FAILS(cohort__route(&route, &from, 1, to, num), COHORT_ERR_PROTOCOL, "went astray");
    unref_all(to, NUM);
    cohort__blob_unref(from);
    cohort__machine_destroy(machine);
}

TEST(astray)
{
    check_astray(NUM, 0, COHORT__BY_PLACE, 0, NUM);
    check_astray(0, NUM, COHORT__BY_PLACE, 0, NUM);
    check_astray(0, UINT32_MAX, HOST, 0, 2);
    check_astray(0, 7, COHORT__BY_PLACE, 8, 8);
    check_astray(0, 15, COHORT__BY_PLACE, 0, 15);
    check_astray(0, 8, HOST, 0, 1);
    check_astray(0, 0, HOST, 1, 1);
}

TEST(order)
{
    struct cohort__blob *bundle = bundle_of((const uint32_t[][2]){{9, 1}, {0, 1}, {4, 1}}, 3);
    CHECK_OK(cohort__route_order(bundle));
    CHECK_INT(cohort__bundle_entries(bundle)[0].source, 0);
    CHECK_INT(cohort__bundle_entries(bundle)[1].source, 4);
    CHECK_INT(*(uint32_t *)cohort__bundle_entries(bundle)[2].object->data, 9);
    cohort__blob_unref(bundle);
    bundle = bundle_of((const uint32_t[][2]){{3, 1}, {2, 1}, {3, 1}}, 3);
    CHECK_FAILS(cohort__route_order(bundle), COHORT_ERR_PROTOCOL,
                "two objects from site 3 for site 1");
    cohort__blob_unref(bundle);
    CHECK_OK(cohort__route_order(NULL));
}
