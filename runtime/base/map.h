/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_MAP_H
#define COHORT_RUNTIME_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An intrusive hash map with chains. Nodes are embedded in the mapped objects, and the map owns
 * none of them. Inserting can't fail: if there is no memory for more buckets, the chains grow
 * longer. One thread at a time. A map must not be moved or copied while in use. */
struct cohort__map_node {
    struct cohort__map_node *next;
    uint64_t hash;
};
struct cohort__map {
    struct cohort__map_node **buckets;
    size_t num_buckets; /* a power of two */
    size_t num_nodes;
    size_t first_used;                     /* no bucket below has a node */
    struct cohort__map_node *first_bucket; /* the only one, until there are more */
};

/* Whether NODE has KEY. Called only for nodes whose hash is equal. */
typedef bool cohort__map_equal(const struct cohort__map_node *node, const void *key);

void cohort__map_init(struct cohort__map *map);

/* Frees the buckets. Nodes that are still in the map are not touched. */
void cohort__map_fini(struct cohort__map *map);

/* NODE must be in no map. Of nodes with the same key any may be found first; to remove another one
 * takes a time linear in their number. */
void cohort__map_insert(struct cohort__map *map, struct cohort__map_node *node, uint64_t hash);

/* NULL if there is none. EQUAL may be NULL if the hash is the key. */
struct cohort__map_node *cohort__map_find(const struct cohort__map *map, uint64_t hash,
                                          cohort__map_equal *equal, const void *key);

/* NODE must be in MAP. */
void cohort__map_remove(struct cohort__map *map, struct cohort__map_node *node);

/* A node of the map, whichever; NULL if there is none. To empty a map, remove what this gives until
 * there is none: that takes a time linear in the map's size, since it remembers how far it has
 * looked. */
struct cohort__map_node *cohort__map_some(struct cohort__map *map);

/* To walk the map in no particular order: the first node, and the one after NODE. NULL at the end.
 * Take the successor before you remove a node, and don't insert during the walk. */
struct cohort__map_node *cohort__map_first(const struct cohort__map *map);
struct cohort__map_node *cohort__map_next(const struct cohort__map *map,
                                          const struct cohort__map_node *node);

#endif
