/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/host_list.h"

#include "tests/support/test.h"

static struct host_list parse(const char *text)
{
    struct host_list hosts = {0};
    CHECK_OK(host_list_parse(&hosts, text));
    return hosts;
}

TEST(parse)
{
    struct host_list hosts = parse("a:2,user@b.c-d,fe80%1:3");
    CHECK_INT(hosts.num, 3);
    CHECK_TEXT(hosts.list[0].name, "a");
    CHECK_INT(hosts.list[0].slots, 2);
    CHECK_TEXT(hosts.list[1].name, "user@b.c-d");
    CHECK_INT(hosts.list[1].slots, 1);
    CHECK_TEXT(hosts.list[2].name, "fe80%1");
    CHECK_INT(hosts.list[2].slots, 3);
    host_list_fini(&hosts);
    CHECK_INT(hosts.num, 0);
}

/* Addresses with colons in them need brackets if slots follow. */
TEST(addresses)
{
    struct host_list hosts = parse("::1,[fe80::1%eth0]:3,[::2]");
    CHECK_INT(hosts.num, 3);
    CHECK_TEXT(hosts.list[0].name, "::1");
    CHECK_INT(hosts.list[0].slots, 1);
    CHECK_TEXT(hosts.list[1].name, "fe80::1%eth0");
    CHECK_INT(hosts.list[1].slots, 3);
    CHECK_TEXT(hosts.list[2].name, "::2");
    CHECK_INT(hosts.list[2].slots, 1);
    host_list_fini(&hosts);
}

/* As batch systems list hosts: one line for each slot. */
TEST(repeated)
{
    struct host_list hosts = parse("a,ab,a,b:2,a:3");
    uint32_t size;
    CHECK_INT(hosts.num, 3);
    CHECK_INT(hosts.list[0].slots, 5);
    CHECK_OK(host_list_fill(&hosts, 0, &size));
    CHECK_INT(size, 8);
    CHECK_INT(hosts.list[2].first, 6);
    CHECK_INT(hosts.list[2].num, 2);
    host_list_fini(&hosts);
}

TEST(fill)
{
    for (uint32_t size = 1; size <= 6; size++) {
        struct host_list hosts = parse("a:1,b:3,c:2");
        uint32_t got, next = 0;
        CHECK_OK(host_list_fill(&hosts, size, &got));
        CHECK_INT(got, size);
        CHECK_INT(hosts.num, size <= 1 ? 1 : size <= 4 ? 2 : 3);
        for (uint32_t i = 0; i < hosts.num; i++) {
            CHECK_INT(hosts.list[i].first, next);
            CHECK(hosts.list[i].num >= 1 && hosts.list[i].num <= hosts.list[i].slots);
            next += hosts.list[i].num;
        }
        CHECK_INT(next, size);
        host_list_fini(&hosts);
    }
}

TEST(too_many)
{
    struct host_list hosts = parse("a:2,b");
    uint32_t size = 77;
    CHECK_FAILS(host_list_fill(&hosts, 4, &size), COHORT_ERR_BAD_PARAMETER,
                "4 localities, where the hosts have 3 slots");
    CHECK_INT(size, 77);
    host_list_fini(&hosts);
}

TEST(wrong)
{
    static const char *const wrong[] = {"",     ",",   "a,",    "a:",           "a:0", "a:4097",
                                        "a:-1", "a:x", "a b",   "-a",           "a'",  "a\n",
                                        "a/b",  ":2",  "a:2:3", "a:99999999999"};
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        struct host_list hosts = {0};
        CHECK_INT(host_list_parse(&hosts, wrong[i]), COHORT_ERR_BAD_PARAMETER);
        host_list_fini(&hosts);
    }
}
