/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/bench/problems.h"

#include <stdlib.h>

#include "tests/support/test.h"

TEST(fib)
{
    CHECK_INT(problem_fib(0), 0);
    CHECK_INT(problem_fib(1), 1);
    CHECK_INT(problem_fib(30), 832040);
    CHECK_INT(problem_fib_spawns(1), 0);
    CHECK_INT(problem_fib_spawns(2), 1);
    CHECK_INT(problem_fib_spawns(4), 4); /* by the calls for 4, 3, 2 and 2 */
    CHECK_INT(problem_fib_spawns(30), 1346268);
}

/* The tree is the same everywhere, has about a hundred nodes for each of those at level 0, and is
 * not balanced. */
TEST(tree)
{
    struct problem_node root = problem_tree_root(4), again = problem_tree_root(4);
    struct problem_node children[PROBLEM_MOST_CHILDREN];
    uint64_t count = problem_tree_count(&root), least = count, most = 0;
    CHECK(count > 900000 && count < 1100000);
    CHECK_INT(problem_tree_count(&again), count);
    CHECK_INT(problem_tree_children(&root, children), 10);
    CHECK_INT(children[9].level, 3);
    root = problem_tree_root(1);
    CHECK_INT(problem_tree_children(&root, children), 10);
    for (unsigned i = 0; i < 10; i++) {
        uint64_t below = problem_tree_count(&children[i]);
        least = below < least ? below : least;
        most = below > most ? below : most;
    }
    CHECK(most >= 9 * least);
}

TEST(marks)
{
    uint8_t *marks = problem_marks_create(3);
    CHECK(marks);
    problem_mark(marks, 2);
    problem_mark_slowly(marks, 0);
    CHECK(!problem_marks_all(marks, 3));
    problem_mark(marks, 1);
    CHECK(problem_marks_all(marks, 3));
    free(marks);
}

TEST(median)
{
    uint64_t times[] = {5, 1, 900, 3, 2};
    CHECK_INT(problem_median(times, 5), 3);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK(problem_sleep_ms(i) >= 1 && problem_sleep_ms(i) <= 8);
}
