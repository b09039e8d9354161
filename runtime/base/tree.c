/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/tree.h"

#include <stdbool.h>

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
    while (*link && is_above(*link, node))
        link = key < (*link)->key ? &(*link)->left : &(*link)->right;
    split(*link, node);
    *link = node;
}

void cohort__tree_remove(struct cohort__tree *tree, struct cohort__tree_node *node)
{
    struct cohort__tree_node **link = &tree->root;
    struct cohort__tree_node *left = node->left, *right = node->right;
    while (*link != node)
        link = node->key < (*link)->key ? &(*link)->left : &(*link)->right;
    while (left && right) {
        bool is_left = is_above(left, right);
        *link = is_left ? left : right;
        link = is_left ? &left->right : &right->left;
        *(is_left ? &left : &right) = *link;
    }
    *link = left ? left : right;
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
