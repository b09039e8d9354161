/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/host_peers_rows.h"

#include <stdio.h>

#include "tests/support/test.h"
#include "tools/bench/works.h"

/* Each row can be selected by its name, and by a list of works: one job can measure all. */
static void test_names(void)
{
    struct host_peers_row rows[HOST_PEERS_MAX_ROWS];
    size_t num = host_peers_rows(2, rows);
    CHECK(num > 0 && num <= HOST_PEERS_MAX_ROWS && num <= BENCH_MAX_WORKS);
    for (size_t i = 0; i < num; i++) {
        char list[64];
        struct bench_works works;
        snprintf(list, sizeof(list), "%s:%llu", rows[i].work, (unsigned long long)rows[i].bytes);
        CHECK(bench_works_read(list, bench_works_of_coll, &works));
        snprintf(list, sizeof(list), "%s/%llu/2", rows[i].work, (unsigned long long)rows[i].bytes);
        for (size_t j = 0; j < num; j++)
            CHECK_INT(host_peers_row_fits(&rows[j], list), i == j);
    }
}

static size_t num_with(uint32_t sites, const char *pattern)
{
    struct host_peers_row rows[HOST_PEERS_MAX_ROWS];
    size_t num = host_peers_rows(sites, rows), num_fitting = 0;
    for (size_t i = 0; i < num; i++)
        num_fitting += host_peers_row_fits(&rows[i], pattern);
    return num_fitting;
}

/* A block for each site: with many sites, large blocks are left out. */
static void test_large(void)
{
    CHECK_INT(num_with(8, "all_gather/*/8"), 4);
    CHECK_INT(num_with(9, "all_gather/*"), 3);
    CHECK_INT(num_with(128, "all_to_all/65536/128"), 1);
    CHECK_INT(num_with(129, "all_to_all/65536/*"), 0);
    CHECK_INT(num_with(129, "all_reduce/*"), 4);
    CHECK_INT(num_with(129, "barrier/0/129"), 1);
    CHECK_INT(num_with(129, "barrier/0/12"), 0);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"names", test_names},
        {"large", test_large},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
