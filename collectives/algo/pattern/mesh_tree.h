/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_MESH_TREE_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_MESH_TREE_H

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/plan/partition.h"

/* A binomial tree over a line of sites: the line is halved, the site that has to do with the data
 * of the whole has a partner for the other half, and both go on in their halves, the larger one
 * being that of the former. The partner is the one with the same place in its half; so where the
 * line has a power of two sites it is the hypercube template, the virtual label being the label
 * XOR the root. On a mesh the sites of one line of the first dimension have a tree, then all of
 * them in their lines of the second one, and so on. Halves are of true site numbers, so blocks of a
 * subtree can be neighbours and reductions keep the order of the sites, whatever the root. */

enum { COHORT__MESH_MAX_CHILDREN = 2 * COHORT__MESH_MAX_DIMENSIONS };
#define COHORT__NO_SITE UINT32_MAX

enum cohort__mesh_order {
    COHORT__MESH_ROWS_FIRST, /* from the root: dimension 0, 1, ... */
    COHORT__MESH_ROWS_LAST,  /* from the root: ..., 1, 0; subtrees are ranges of sites */
};

struct cohort__mesh_child {
    uint32_t site;
    bool is_left;               /* its half is before this site's */
    struct cohort__range sites; /* ROWS_LAST: its subtree */
};

/* The part of one site. */
struct cohort__mesh_tree {
    uint32_t this_site;
    uint32_t parent;            /* COHORT__NO_SITE at the root */
    struct cohort__range sites; /* ROWS_LAST: its subtree, itself too */
    uint32_t num_children;
    struct cohort__mesh_child children[COHORT__MESH_MAX_CHILDREN]; /* from the root: the first ones
                                                                      have most below them */
};

void cohort__mesh_tree_init(struct cohort__mesh_tree *tree, const struct cohort__mesh *mesh,
                            enum cohort__mesh_order order, uint32_t root, uint32_t this_site);

/* Where a site keeps the blocks of its subtree: the root in the caller's buffer SPACE, everybody
 * else its own in OWN and the others in new TMP. */
struct cohort__mesh_store {
    const struct cohort__mesh_tree *tree;
    size_t bytes; /* of a block */
    uint32_t own;
    enum cohort__space space;
    size_t offset;
};

struct cohort__mesh_store cohort__mesh_store_make(struct cohort__plan_builder *builder,
                                                  const struct cohort__mesh_tree *tree,
                                                  enum cohort__space space, uint32_t own,
                                                  size_t bytes);

/* The blocks of SITES, of its subtree, in their order. Returns how many. */
enum { COHORT__MESH_MAX_PARTS = 3 };
uint32_t cohort__mesh_store_parts(struct cohort__plan_builder *builder,
                                  const struct cohort__mesh_store *store,
                                  struct cohort__range sites,
                                  uint32_t ret_parts[COHORT__MESH_MAX_PARTS]);

/* Up and down the tree, in reduce/mesh.c and broadcast/mesh.c: blocks OWN are reduced, at sites
 * with children in RESULT, and sent to the parent; BLOCK is spread, which
 * at this site starts after AFTER. The first one returns the step after which RESULT is done with,
 * COHORT__NO_STEP where it is not used. */
uint32_t cohort__mesh_tree_reduce(struct cohort__plan_builder *builder,
                                  const struct cohort__mesh_tree *tree, uint32_t own,
                                  uint32_t result, size_t bytes, unsigned phase);
void cohort__mesh_tree_broadcast(struct cohort__plan_builder *builder,
                                 const struct cohort__mesh_tree *tree, uint32_t block,
                                 unsigned phase, uint32_t after);

/* The rooted collectives over the tree, in <collective>/mesh.c. NAME is the plan's. */
cohort_status cohort__broadcast_over_mesh(const struct cohort__request *request,
                                          const struct cohort__mesh *mesh, const char *name,
                                          struct cohort__plan **ret_plan);
cohort_status cohort__reduce_over_mesh(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan);
cohort_status cohort__gather_over_mesh(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan);
cohort_status cohort__scatter_over_mesh(const struct cohort__request *request,
                                        const struct cohort__mesh *mesh, const char *name,
                                        struct cohort__plan **ret_plan);

/* Their costs, the sum of those of a line of each dimension, with memory; gather's is scatter's. */
struct cohort__cost cohort__broadcast_cost_over_mesh(const struct cohort__mesh *mesh, size_t bytes);
struct cohort__cost cohort__reduce_cost_over_mesh(const struct cohort__mesh *mesh, size_t bytes);
struct cohort__cost cohort__scatter_cost_over_mesh(const struct cohort__mesh *mesh, size_t bytes);

#endif
