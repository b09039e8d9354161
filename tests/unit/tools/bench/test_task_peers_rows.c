/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/task_peers_rows.h"

#include <stdio.h>

#include "tests/support/test.h"
#include "tools/bench/works.h"

/* Each row can be selected by a list of works, has a limit, and has room for its workers. */
static void test_works(void)
{
    const struct task_peers_row *rows;
    size_t num = task_peers_rows(&rows);
    CHECK(num > 0);
    for (size_t i = 0; i < num; i++) {
        char list[64];
        struct bench_works works;
        snprintf(list, sizeof(list), "%s:%llu,%s:%llu", rows[i].work,
                 (unsigned long long)rows[i].size, rows[i].work,
                 (unsigned long long)rows[i].quick_size);
        CHECK(bench_works_read(list, bench_works_of_tasks, &works));
        CHECK(rows[i].quick_size > 0 && rows[i].quick_size < rows[i].size);
        CHECK(rows[i].limit > 0 && rows[i].workers > 0 && rows[i].cores >= rows[i].workers);
    }
}

/* No two rows have the same name. */
static void test_distinct(void)
{
    const struct task_peers_row *rows;
    size_t num = task_peers_rows(&rows);
    for (size_t i = 0; i < num; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s/%u", rows[i].work, rows[i].workers);
        for (size_t j = 0; j < num; j++)
            CHECK_INT(task_peers_row_fits(&rows[j], name), i == j);
        CHECK(task_peers_row_fits(&rows[i], "*"));
    }
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"works", test_works},
        {"distinct", test_distinct},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
