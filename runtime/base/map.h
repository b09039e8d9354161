/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_MAP_H
#define COHORT_RUNTIME_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An intrusive hash map with chains. Nodes are embedded in what is mapped; the map owns none of
 * them. Inserting can't fail: where there is no memory for more buckets, chains grow longer. One
 * thread at a time; neither moved nor copied while in use. */
struct cohort__map_node {
    struct cohort__map_node *next;
    uint64_t hash;
};
struct cohort__map {
    struct cohort__map_node **buckets;
    size_t num_buckets; /* a power of two */
    size_t num_nodes;
    struct cohort__map_node *first_bucket; /* until there are more */
};

/* Whether NODE is the one that is looked for with KEY; called for equal hashes only. */
typedef bool cohort__map_equal(const struct cohort__map_node *node, const void *key);

void cohort__map_init(struct cohort__map *map);

/* Frees the buckets. The nodes that are left are not touched. */
void cohort__map_fini(struct cohort__map *map);

/* NODE must be in no map, and no other node with its key in MAP. */
void cohort__map_insert(struct cohort__map *map, struct cohort__map_node *node, uint64_t hash);

/* NULL if there is none. EQUAL may be NULL where the hash is the key. */
struct cohort__map_node *cohort__map_find(const struct cohort__map *map, uint64_t hash,
                                          cohort__map_equal *equal, const void *key);

/* NODE must be in MAP. */
void cohort__map_remove(struct cohort__map *map, struct cohort__map_node *node);

/* A walk in no particular order: the first node, the one after NODE; NULL at the end. Take the
 * successor before removing a node; don't insert meanwhile. */
struct cohort__map_node *cohort__map_first(const struct cohort__map *map);
struct cohort__map_node *cohort__map_next(const struct cohort__map *map,
                                          const struct cohort__map_node *node);

#endif
