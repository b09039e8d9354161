/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/tree.h"

#include <stdbool.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"

/* Left of a node are lower keys, right of it higher ones, and a node is above those with lower
 * priorities. The hash is a bijection, so no two are equal. */
static bool is_above(const struct cohort__tree_node *node, const struct cohort__tree_node *other)
{
    return cohort__hash_u64(node->key) > cohort__hash_u64(other->key);
}

/* The tree of ROOT comes below NODE. */
static void split(struct cohort__tree_node *root, struct cohort__tree_node *node)
{
    struct cohort__tree_node **lower = &node->left, **higher = &node->right;
    while (root) {
        bool is_lower = root->key < node->key;
        struct cohort__tree_node ***end = is_lower ? &lower : &higher;
        **end = root;
        *end = is_lower ? &root->right : &root->left;
        root = **end;
    }
    *lower = NULL;
    *higher = NULL;
}

void cohort__tree_insert(struct cohort__tree *tree, struct cohort__tree_node *node, uint64_t key)
{
    struct cohort__tree_node **link = &tree->root;
    node->key = key;
    cohort__list_init(&node->same);
    while (*link && is_above(*link, node))
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    if (*link && (*link)->key == key) {
        cohort__list_push_back(&(*link)->same, &node->same);
        return;
    }
    split(*link, node);
    *link = node;
}

/* Where the first node with KEY is linked, which there is. */
static struct cohort__tree_node **link_of(struct cohort__tree *tree, uint64_t key)
{
    struct cohort__tree_node **link = &tree->root;
    while ((*link)->key != key)
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    return link;
}

/* *LINK is out of the tree then. */
static void cut(struct cohort__tree_node **link)
{
    struct cohort__tree_node *left = (*link)->left, *right = (*link)->right;
    while (left && right) {
        bool is_left = is_above(left, right);
        *link = is_left ? left : right;
        link = is_left ? &left->right : &right->left;
        *(is_left ? &left : &right) = *link;
    }
    *link = left ? left : right;
}

void cohort__tree_remove(struct cohort__tree *tree, struct cohort__tree_node *node)
{
    struct cohort__tree_node **link = link_of(tree, node->key);
    if (*link == node && cohort__list_is_empty(&node->same)) {
        cut(link);
    } else if (*link == node) {
        *link = COHORT_CONTAINER_OF(node->same.next, struct cohort__tree_node, same);
        (*link)->left = node->left;
        (*link)->right = node->right;
    }
    cohort__list_remove(&node->same);
}

void cohort__tree_take(struct cohort__tree *tree, struct cohort__tree_node *node,
                       struct cohort__list *taken)
{
    cut(link_of(tree, node->key));
    struct cohort__list ring; /* with a head, which makes it a list */
    cohort__list_insert_after(node->same.prev, &ring);
    cohort__list_splice_back(taken, &ring);
}

struct cohort__tree_node *cohort__tree_find(const struct cohort__tree *tree, uint64_t key)
{
    struct cohort__tree_node *node = tree->root;
    while (node && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node;
}

struct cohort__tree_node *cohort__tree_find_from(const struct cohort__tree *tree, uint64_t key)
{
    struct cohort__tree_node *node = tree->root, *found = NULL;
    while (node) {
        bool fits = node->key >= key;
        found = fits ? node : found;
        node = fits ? node->left : node->right;
    }
    return found;
}
