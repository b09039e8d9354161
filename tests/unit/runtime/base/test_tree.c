/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/tree.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM_ENTRIES = 1000, SPREAD = 7, SEED = 1 };

static struct entry {
    struct cohort__tree_node node;
    bool is_in;
} entries[NUM_ENTRIES];

static struct cohort__tree_node *node_at(int i)
{
    return i < NUM_ENTRIES ? &entries[i].node : NULL;
}

/* The keys are multiples of SPREAD. */
static void check_all(const struct cohort__tree *tree)
{
    int next = NUM_ENTRIES; /* the lowest that is in and not below */
    for (int i = NUM_ENTRIES - 1; i >= 0; i--) {
        uint64_t key = SPREAD * (uint64_t)i;
        CHECK(cohort__tree_find_from(tree, key + 1) == node_at(next));
        CHECK(cohort__tree_find(tree, key + 1) == NULL);
        next = entries[i].is_in ? i : next;
        CHECK(cohort__tree_find_from(tree, key) == node_at(next));
        CHECK(cohort__tree_find(tree, key) == (entries[i].is_in ? node_at(i) : NULL));
    }
}

static void test_against_an_array(void)
{
    struct cohort__random random;
    struct cohort__tree tree = {0};
    cohort__random_init(&random, SEED);
    check_all(&tree);
    for (int step = 0; step < 20000; step++) {
        int i = (int)cohort__random_below(&random, NUM_ENTRIES);
        if (entries[i].is_in)
            cohort__tree_remove(&tree, &entries[i].node);
        else
            cohort__tree_insert(&tree, &entries[i].node, SPREAD * (uint64_t)i);
        entries[i].is_in = !entries[i].is_in;
        if (step < 20 || step % 1000 == 0)
            check_all(&tree);
    }
    check_all(&tree);
}

static int depth_below(const struct cohort__tree_node *node)
{
    int left = node ? depth_below(node->left) : 0, right = node ? depth_below(node->right) : 0;
    return node ? 1 + (left > right ? left : right) : 0;
}

/* Keys that come in order are the usual ones. */
static void test_depth(void)
{
    struct cohort__tree tree = {0};
    memset(entries, 0, sizeof(entries));
    for (int i = 0; i < NUM_ENTRIES; i++)
        cohort__tree_insert(&tree, &entries[i].node, (uint64_t)i);
    CHECK(depth_below(tree.root) < 30);
    for (int i = 0; i < NUM_ENTRIES; i++) {
        CHECK(cohort__tree_find_from(&tree, 0) == node_at(i));
        cohort__tree_remove(&tree, &entries[i].node);
    }
    CHECK(!tree.root);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        {"against an array", test_against_an_array},
        {"depth", test_depth},
    };
    return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
