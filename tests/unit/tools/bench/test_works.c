/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/works.h"

#include <string.h>

#include "tests/support/test.h"

TEST(list)
{
    struct bench_works works;
    CHECK(
        bench_works_read("all_reduce:8,barrier:0,stream:1073741824", bench_works_of_coll, &works));
    CHECK_INT(works.num, 3);
    CHECK_TEXT(works.list[0].name, "all_reduce");
    CHECK_INT(works.list[0].size, 8);
    CHECK_TEXT(works.list[1].name, "barrier");
    CHECK_INT(works.list[1].size, 0);
    CHECK_TEXT(works.list[2].name, "stream");
    CHECK_INT(works.list[2].size, 1 << 30);
}

/* A wrong text leaves the result untouched. */
TEST(wrong)
{
    static const char *const wrong[] = {
        "",
        "barrier",
        "barrier:",
        ":8",
        "barrier:0,",
        ",barrier:0",
        "barrier:-1",
        "barrier:0;a",
        "barrier:8x",
        "barrier: 8",
        "frob:8",
        "barrie:8",
        "barriers:8",
        "Barrier:8",
        "barrier:1073741825",
        "barrier:99999999999999999999",
        "barrier::8",
        "barrier:0,,barrier:0",
    };
    for (size_t i = 0; i < NUM_OF(wrong); i++) {
        struct bench_works works = {.num = 77};
        CHECK(!bench_works_read(wrong[i], bench_works_of_coll, &works));
        CHECK_INT(works.num, 77);
    }
}

TEST(longest)
{
    static const char word[] = "barrier:0,";
    char list[(BENCH_MAX_WORKS + 1) * (sizeof(word) - 1) + 1] = "";
    struct bench_works works;
    for (size_t i = 0; i < BENCH_MAX_WORKS; i++)
        memcpy(list + i * (sizeof(word) - 1), word, sizeof(word));
    list[strlen(list) - 1] = '\0';
    CHECK(bench_works_read(list, bench_works_of_coll, &works));
    CHECK_INT(works.num, BENCH_MAX_WORKS);
    strcat(list, ",barrier:0");
    CHECK(!bench_works_read(list, bench_works_of_coll, &works));
}
