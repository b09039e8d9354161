/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/network.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

/* The links on the route from FROM to TO, as "0->1 1->2". */
static const char *way(const char *name, uint32_t num_sites, uint32_t from, uint32_t to)
{
    static char text[512];
    struct cohort__network network;
    size_t length = 0;
    uint64_t link;
    CHECK_OK(cohort__network_init(&network, name, num_sites));
    struct cohort__route route = cohort__route_begin(&network, from, to);
    text[0] = '\0';
    while (cohort__route_next(&route, &link)) {
        char link_name[COHORT__LINK_NAME_BYTES];
        CHECK(link < network.num_links);
        cohort__link_name(&network, link, link_name);
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
                                   length > 0 ? " " : "", link_name);
    }
    return text;
}

TEST(ring)
{
    CHECK_TEXT(way("ring", 6, 1, 1), "");
    CHECK_TEXT(way("ring", 6, 4, 0), "4->5 5->0");
    CHECK_TEXT(way("ring", 6, 0, 4), "0->5 5->4");
    CHECK_TEXT(way("ring", 6, 1, 4), "1->2 2->3 3->4"); /* both ways are equally long: upwards */
    CHECK_TEXT(way("ring", 6, 4, 1), "4->5 5->0 0->1");
    CHECK_TEXT(way("ring", 2, 1, 0), "1->0");
    CHECK_TEXT(way("ring", 1, 0, 0), "");
}

TEST(mesh)
{
    CHECK_TEXT(way("mesh", 16, 0, 15), "0->3 3->15");
    CHECK_TEXT(way("mesh", 16, 5, 15), "5->6 6->7 7->11 11->15");
    CHECK_TEXT(way("mesh", 6, 0, 5), "0->2 2->5"); /* rows of three */
    CHECK_TEXT(way("mesh:2x3", 6, 0, 5), "0->1 1->5");
    CHECK_TEXT(way("mesh:2x3x4", 24, 0, 23), "0->1 1->5 5->23");
    CHECK_TEXT(way("mesh", 7, 0, 2), "0->1 1->2"); /* a prime number: one row */
}

TEST(hypercube)
{
    CHECK_TEXT(way("hypercube", 16, 0, 13), "0->1 1->5 5->13");
    CHECK_TEXT(way("hypercube", 16, 15, 1), "15->13 13->9 9->1");
    CHECK_TEXT(way("hypercube", 1, 0, 0), "");
    /* In Gray code site 7 is at node 4, site 5 at node 7, and site 1 at node 1. */
    CHECK_TEXT(way("hypercube:gray", 8, 7, 0), "7->0");
    CHECK_TEXT(way("hypercube:gray", 8, 7, 5), "7->6 6->5");
    CHECK_TEXT(way("hypercube:gray", 8, 7, 1), "7->6 6->1");
}

TEST(full)
{
    CHECK_TEXT(way("full", 9, 3, 8), "3->8");
    CHECK_TEXT(way("full", 9, 3, 3), "");
}

/* 10 sites on 3 hosts: 0-3, 4-6 and 7-9. */
TEST(hosts)
{
    struct cohort__network network;
    CHECK_TEXT(way("hosts:3", 10, 3, 0), "3->0");
    CHECK_TEXT(way("hosts:3", 10, 3, 4), "host 0->switch switch->host 1");
    CHECK_TEXT(way("hosts:3", 10, 9, 6), "host 2->switch switch->host 1");
    CHECK_TEXT(way("hosts:10", 10, 9, 6), "host 9->switch switch->host 6");
    CHECK_OK(cohort__network_init(&network, "hosts:3", 10));
    CHECK(cohort__network_is_inside(&network, 4, 6));
    CHECK(!cohort__network_is_inside(&network, 3, 4));
    CHECK_OK(cohort__network_init(&network, "full", 10));
    CHECK(!cohort__network_is_inside(&network, 4, 6));
}

/* Each link of a route has a number of its own and begins where the previous one ends. Routes are
 * as short as possible. */
TEST(routes_are_ways)
{
    static const char *const names[] = {"ring", "mesh", "hypercube", "hypercube:gray"};
    for (unsigned i = 0; i < 4; i++) {
        struct cohort__network network;
        CHECK_OK(cohort__network_init(&network, names[i], 16));
        for (uint32_t pair = 0; pair < 16 * 16; pair++) {
            uint32_t at = pair / 16, hops = 0;
            uint64_t link;
            struct cohort__route route = cohort__route_begin(&network, at, pair % 16);
            for (; cohort__route_next(&route, &link); hops++) {
                char name[COHORT__LINK_NAME_BYTES];
                unsigned from, to;
                cohort__link_name(&network, link, name);
                CHECK_INT(sscanf(name, "%u->%u", &from, &to), 2);
                CHECK_INT(from, at);
                at = to;
            }
            CHECK_INT(at, pair % 16);
            CHECK(hops <= (i == 0 ? 8 : 4));
            CHECK(i != 2 || hops == (uint32_t)__builtin_popcount(pair / 16 ^ pair % 16));
        }
    }
}

TEST(errors)
{
    static const struct {
        const char *name;
        uint32_t num_sites;
        const char *why;
    } cases[] = {
        {"rign", 4, "network 'rign' of 4 sites: there is none but ring, mesh"},
        {"", 4, "there is none"},
        {"hypercube", 6, "a power of two"},
        {"hosts:0", 4, "hosts:H, with 1 to"},
        {"hosts:5", 4, "hosts:H, with 1 to"},
        {"hosts:", 4, "hosts:H, with 1 to"},
        {"hosts:2x", 4, "hosts:H, with 1 to"},
        {"hosts:4294967298", 4, "hosts:H, with 1 to"},
        {"mesh:", 4, "product"},
        {"mesh:2x", 4, "product"},
        {"mesh:2x3", 4, "product"},
        {"mesh:2x2y", 4, "product"},
        {"mesh:2x2x0", 4, "product"},
        {"mesh:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", 1,
         "too many dimensions"},
    };
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        struct cohort__network network = {.num_sites = 77};
        CHECK_FAILS(cohort__network_init(&network, cases[i].name, cases[i].num_sites),
                    COHORT_ERR_BAD_PARAMETER, cases[i].why);
        CHECK_INT(network.num_sites, 77);
    }
}
