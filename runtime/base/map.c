/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/map.h"

#include <stdlib.h>

static size_t index_of(const struct cohort__map *map, uint64_t hash)
{
    return (size_t)hash & (map->num_buckets - 1);
}

static struct cohort__map_node **bucket_of(const struct cohort__map *map, uint64_t hash)
{
    return &map->buckets[index_of(map, hash)];
}

static void grow(struct cohort__map *map)
{
    struct cohort__map old = *map;
    size_t num_buckets = old.num_buckets < 8 ? 8 : 2 * old.num_buckets;
    struct cohort__map_node **buckets = calloc(num_buckets, sizeof(struct cohort__map_node *));
    if (!buckets)
        return;
    map->buckets = buckets;
    map->num_buckets = num_buckets;
    map->first_used = 0;
    struct cohort__map_node **old_buckets = old.num_buckets == 1 ? &map->first_bucket : old.buckets;
    for (size_t i = 0; i < old.num_buckets; i++) {
        struct cohort__map_node *node = old_buckets[i];
        while (node) {
            struct cohort__map_node *next = node->next;
            struct cohort__map_node **bucket = bucket_of(map, node->hash);
            node->next = *bucket;
            *bucket = node;
            node = next;
        }
    }
    if (old.num_buckets > 1)
        free(old.buckets);
}

void cohort__map_init(struct cohort__map *map)
{
    map->first_bucket = NULL;
    map->buckets = &map->first_bucket;
    map->num_buckets = 1;
    map->num_nodes = 0;
    map->first_used = 0;
}

void cohort__map_fini(struct cohort__map *map)
{
    if (!map)
        return;
    if (map->num_buckets > 1)
        free(map->buckets);
    cohort__map_init(map);
}

void cohort__map_insert(struct cohort__map *map, struct cohort__map_node *node, uint64_t hash)
{
    if (map->num_nodes >= map->num_buckets)
        grow(map);
    size_t index = index_of(map, hash);
    node->hash = hash;
    node->next = map->buckets[index];
    map->buckets[index] = node;
    if (index < map->first_used)
        map->first_used = index;
    map->num_nodes++;
}

struct cohort__map_node *cohort__map_find(const struct cohort__map *map, uint64_t hash,
                                          cohort__map_equal *equal, const void *key)
{
    struct cohort__map_node *node = *bucket_of(map, hash);
    while (node && !(node->hash == hash && (!equal || equal(node, key))))
        node = node->next;
    return node;
}

void cohort__map_remove(struct cohort__map *map, struct cohort__map_node *node)
{
    struct cohort__map_node **link = bucket_of(map, node->hash);
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    node->next = NULL;
    map->num_nodes--;
}

static struct cohort__map_node *first_from(const struct cohort__map *map, size_t bucket)
{
    for (; bucket < map->num_buckets; bucket++)
        if (map->buckets[bucket])
            return map->buckets[bucket];
    return NULL;
}

struct cohort__map_node *cohort__map_some(struct cohort__map *map)
{
    struct cohort__map_node *node = cohort__map_first(map);
    map->first_used = node ? index_of(map, node->hash) : map->num_buckets;
    return node;
}

struct cohort__map_node *cohort__map_first(const struct cohort__map *map)
{
    return first_from(map, map->first_used);
}

struct cohort__map_node *cohort__map_next(const struct cohort__map *map,
                                          const struct cohort__map_node *node)
{
    if (node->next)
        return node->next;
    return first_from(map, index_of(map, node->hash) + 1);
}
