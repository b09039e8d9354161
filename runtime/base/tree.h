/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_TREE_H
#define COHORT_RUNTIME_BASE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/list.h"

/* An intrusive ordered map: a treap, whose priorities are hashes of the keys. So its depth is about
 * twice the logarithm of its size for whatever keys, it needs no memory but the nodes, and nothing
 * can fail. Nodes with the same key are a ring, of which the first one is in the tree. A tree with
 * all bytes zero is empty. Nodes are embedded in the mapped objects, and the tree owns none of
 * them. One thread at a time. */
struct cohort__tree_node {
    struct cohort__tree_node *left;
    struct cohort__tree_node *right;
    struct cohort__list same; /* the others with its key, in the order in which they came */
    uint64_t key;
};
struct cohort__tree {
    struct cohort__tree_node *root;
};

/* NODE must be in no tree. It is the last one with KEY. */
void cohort__tree_insert(struct cohort__tree *tree, struct cohort__tree_node *node, uint64_t key);

/* NODE must be in TREE. */
void cohort__tree_remove(struct cohort__tree *tree, struct cohort__tree_node *node);

/* Removes NODE, the first one with its key, and all others with it. Appends them to TAKEN, linked
 * by `same`, in their order. */
void cohort__tree_take(struct cohort__tree *tree, struct cohort__tree_node *node,
                       struct cohort__list *taken);

/* The first node with KEY; and the first one with the lowest key that is not below KEY. NULL: there
 * is none. */
struct cohort__tree_node *cohort__tree_find(const struct cohort__tree *tree, uint64_t key);
struct cohort__tree_node *cohort__tree_find_from(const struct cohort__tree *tree, uint64_t key);

#endif
