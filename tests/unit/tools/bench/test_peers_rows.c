/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/peers_rows.h"

#include <stdio.h>

#include "tests/support/test.h"
#include "tools/bench/works.h"

/* Each row can be selected by a list of works. */
static void test_works(void)
{
    struct peers_row rows[PEERS_MAX_ROWS];
    size_t num = peers_rows(rows);
    CHECK(num > 0 && num <= PEERS_MAX_ROWS);
    for (size_t i = 0; i < num; i++) {
        char list[64];
        struct bench_works works;
        snprintf(list, sizeof(list), "%s:%llu", rows[i].work, (unsigned long long)rows[i].bytes);
        CHECK(bench_works_read(list, bench_works_of_coll, &works));
    }
}

/* No two rows have the same name. Rows that share jobs are neighbours. */
static void test_distinct(void)
{
    struct peers_row rows[PEERS_MAX_ROWS];
    size_t num = peers_rows(rows);
    for (size_t i = 0; i < num; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s/%llu/%u", peers_row_name(&rows[i]),
                 (unsigned long long)rows[i].bytes, (unsigned)rows[i].localities);
        for (size_t j = 0; j < num; j++)
            CHECK_INT(peers_row_fits(&rows[j], name), i == j);
        for (size_t j = i + 2; j < num; j++)
            CHECK(!peers_row_shares_jobs(&rows[i], &rows[j]) ||
                  peers_row_shares_jobs(&rows[i], &rows[j - 1]));
    }
}

static void test_pattern(void)
{
    struct peers_row row = {.kind = PEERS_WORKS, .localities = 2, .work = "ping_pong", .bytes = 8};
    CHECK(peers_row_fits(&row, "*"));
    CHECK(peers_row_fits(&row, "ping*/2"));
    CHECK(peers_row_fits(&row, "*/8/*"));
    CHECK(!peers_row_fits(&row, "*/4"));
    CHECK(!peers_row_fits(&row, "ofi*"));
    row.kind = PEERS_RAW;
    CHECK(peers_row_fits(&row, "ofi_ping_pong/8/2"));
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"works", test_works},
        {"distinct", test_distinct},
        {"pattern", test_pattern},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
