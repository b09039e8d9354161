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
    struct cohort__list of_key;
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

TEST(against_an_array)
{
    struct cohort__tree tree = {0};
    struct cohort__random random = cohort__random_seeded(SEED);
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
TEST(depth)
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

enum { NUM_KEYS = 10 };

/* What a tree and lists of the entries with each key have is compared. */
static void check_same(const struct cohort__tree *tree, struct cohort__list *lists)
{
    for (uint64_t key = 0; key < NUM_KEYS; key++) {
        struct cohort__tree_node *first = cohort__tree_find(tree, key);
        struct cohort__list *link = lists[key].next;
        CHECK((first != NULL) == !cohort__list_is_empty(&lists[key]));
        for (struct cohort__list *same = first ? &first->same : NULL; same; same = same->next) {
            if (same == &first->same && link != lists[key].next)
                break;
            struct entry *entry = COHORT_CONTAINER_OF(
                COHORT_CONTAINER_OF(same, struct cohort__tree_node, same), struct entry, node);
            CHECK(&entry->of_key == link);
            link = link->next;
        }
        CHECK(link == &lists[key]);
    }
}

static void take(struct cohort__tree *tree, struct cohort__list *list, uint64_t key)
{
    struct cohort__tree_node *first = cohort__tree_find(tree, key);
    struct cohort__list taken, *link;
    cohort__list_init(&taken);
    if (first)
        cohort__tree_take(tree, first, &taken);
    while ((link = cohort__list_pop_front(&taken))) {
        struct entry *entry = COHORT_CONTAINER_OF(
            COHORT_CONTAINER_OF(link, struct cohort__tree_node, same), struct entry, node);
        CHECK(cohort__list_pop_front(list) == &entry->of_key);
        entry->is_in = false;
    }
    CHECK(cohort__list_is_empty(list));
}

TEST(same_keys)
{
    struct cohort__tree tree = {0};
    struct cohort__list lists[NUM_KEYS];
    struct cohort__random random = cohort__random_seeded(SEED);
    memset(entries, 0, sizeof(entries));
    for (int key = 0; key < NUM_KEYS; key++)
        cohort__list_init(&lists[key]);
    for (int step = 0; step < 20000; step++) {
        uint64_t key = cohort__random_below(&random, NUM_KEYS);
        struct entry *entry = &entries[cohort__random_below(&random, 50)];
        if (step % 100 == 99) {
            take(&tree, &lists[key], key);
        } else if (entry->is_in) {
            cohort__tree_remove(&tree, &entry->node);
            cohort__list_remove(&entry->of_key);
            entry->is_in = false;
        } else {
            cohort__tree_insert(&tree, &entry->node, key);
            cohort__list_push_back(&lists[key], &entry->of_key);
            entry->is_in = true;
        }
        check_same(&tree, lists);
    }
}
