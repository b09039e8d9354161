/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_MESH_TREE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_MESH_TREE_H

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/plan/partition.h"

/* A binomial tree over a line of sites. The line is halved. The site that handles the data of the
 * whole line has a partner in the other half. Both go on in their halves. The first site's half is
 * the larger one. The partner is the site with the same place in its half. So if the line has a
 * power of two sites, it is the hypercube template, whose virtual label is the label XOR the root.
 * On a mesh, the sites of one line of the first dimension have a tree. Then all of these have trees
 * in their lines of the second dimension, and so on. Halves are ranges of real site numbers. So the
 * blocks of a subtree can be consecutive, and reductions keep the order of the sites, for every
 * root. */

enum { COHORT__MESH_MAX_CHILDREN = 2 * COHORT__MESH_MAX_DIMENSIONS };
#define COHORT__NO_SITE UINT32_MAX

enum cohort__mesh_order {
    COHORT__MESH_ROWS_FIRST, /* from the root: dimension 0, 1, ... */
    COHORT__MESH_ROWS_LAST,  /* from the root: ..., 1, 0; subtrees are ranges of sites */
};

struct cohort__mesh_child {
    uint32_t site;
    bool is_left;               /* its half is before this site's */
    struct cohort__range sites; /* with ROWS_LAST: its subtree */
};

/* The part of the tree that one site needs. */
struct cohort__mesh_tree {
    uint32_t this_site;
    uint32_t parent;            /* COHORT__NO_SITE at the root */
    struct cohort__range sites; /* with ROWS_LAST: its subtree, with itself */
    uint32_t num_children;
    /* From the root: the first ones have most sites below them. */
    struct cohort__mesh_child children[COHORT__MESH_MAX_CHILDREN];
};

void cohort__mesh_tree_init(struct cohort__mesh_tree *tree, const struct cohort__mesh *mesh,
                            enum cohort__mesh_order order, uint32_t root, uint32_t this_site);

/* Up and down the tree. Reduce: the blocks OWN are reduced
 * and sent to the parent. A site with children has its result in RESULT. Returns the step after
 * which RESULT is not used any more, or COHORT__NO_STEP if it is not used. Broadcast: BLOCK is
 * spread. At this site that starts after AFTER. */
uint32_t cohort__mesh_tree_reduce(struct cohort__plan_builder *builder,
                                  const struct cohort__mesh_tree *tree, uint32_t own,
                                  uint32_t result, size_t bytes, unsigned phase);
void cohort__mesh_tree_broadcast(struct cohort__plan_builder *builder,
                                 const struct cohort__mesh_tree *tree, uint32_t block,
                                 unsigned phase, uint32_t after);

/* The rooted collectives over the tree. */
void cohort__broadcast_over_mesh(struct cohort__plan_builder *builder,
                                 const struct cohort__request *request, struct cohort__mesh mesh);
void cohort__reduce_over_mesh(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, struct cohort__mesh mesh);
void cohort__gather_over_mesh(struct cohort__plan_builder *builder,
                              const struct cohort__request *request, struct cohort__mesh mesh);
void cohort__scatter_over_mesh(struct cohort__plan_builder *builder,
                               const struct cohort__request *request, struct cohort__mesh mesh);

/* Their costs, with memory: the sum of those of a line of each dimension. Gather costs the same as
 * scatter. */
struct cohort__cost cohort__broadcast_cost_over_mesh(const struct cohort__request *request,
                                                     struct cohort__mesh mesh);
struct cohort__cost cohort__reduce_cost_over_mesh(const struct cohort__request *request,
                                                  struct cohort__mesh mesh);
struct cohort__cost cohort__scatter_cost_over_mesh(const struct cohort__request *request,
                                                   struct cohort__mesh mesh);

#endif
