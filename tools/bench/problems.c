/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: `tasks --works`: the problems that Cohort and its peers solve alike. */
#include "tools/bench/problems.h"

#include <stdlib.h>

uint64_t problem_fib(uint64_t n)
{
    uint64_t number = 0, next = 1;
    for (; n > 0; n--) {
        uint64_t sum = number + next;
        number = next;
        next = sum;
    }
    return number;
}

uint64_t problem_fib_spawns(uint64_t n)
{
    return problem_fib(n + 1) - 1;
}

uint64_t problem_hash(uint64_t state)
{
    state += 0x9e3779b97f4a7c15;
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    state = (state ^ state >> 27) * 0x94d049bb133111eb;
    return state ^ state >> 31;
}

struct problem_node problem_tree_root(uint64_t size)
{
    enum { SEED = 21 }; /* with 4 levels about a million nodes, as in the mean */
    return (struct problem_node){problem_hash(SEED), size};
}

unsigned problem_tree_children(const struct problem_node *node,
                               struct problem_node ret_children[PROBLEM_MOST_CHILDREN])
{
    static const double probability = 0.99 / 8;
    unsigned num = PROBLEM_MOST_CHILDREN;
    if (node->level == 0)
        num = (double)(node->state >> 11) < probability * (double)(1ull << 53) ? 8 : 0;
    for (unsigned i = 0; i < num; i++)
        ret_children[i] =
            (struct problem_node){problem_hash(node->state + i), node->level - (node->level > 0)};
    return num;
}

uint64_t problem_tree_count(const struct problem_node *node)
{
    struct problem_node children[PROBLEM_MOST_CHILDREN];
    unsigned num = problem_tree_children(node, children);
    uint64_t count = 1;
    for (unsigned i = 0; i < num; i++)
        count += problem_tree_count(&children[i]);
    return count;
}

uint8_t *problem_marks_create(uint64_t num)
{
    return calloc(num, 1);
}

/* Not inlined, since then a loop over many items would be none. */
__attribute__((noinline)) void problem_mark(uint8_t *marks, uint64_t index)
{
    marks[index] = 1;
}

bool problem_marks_all(const uint8_t *marks, uint64_t num)
{
    for (uint64_t i = 0; i < num; i++)
        if (marks[i] != 1)
            return false;
    return true;
}

/* Each step waits for the one before, about 4 cycles. The mark depends on the last one, without
 * being any other for it. */
__attribute__((noinline)) void problem_mark_slowly(uint8_t *marks, uint64_t index)
{
    enum { NUM_STEPS = 1000 };
    uint64_t state = index;
    for (int i = 0; i < NUM_STEPS; i++)
        state = state * 6364136223846793005 + 1442695040888963407;
    marks[index] = (uint8_t)(1 + (state == 0));
}

uint64_t problem_sleep_ms(uint64_t index)
{
    return 1 + problem_hash(index) % 8;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

uint64_t problem_median(uint64_t *times, uint64_t num)
{
    qsort(times, num, sizeof(*times), compare);
    return times[num / 2];
}
