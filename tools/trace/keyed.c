/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: what is found by two numbers. */
#include "tools/trace/keyed.h"

#include <stdlib.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"

struct key {
    uint64_t first, second;
};

static bool has_key(const struct cohort__map_node *node, const void *context)
{
    const struct keyed *keyed = COHORT_CONTAINER_OF(node, struct keyed, node);
    const struct key *key = context;
    return keyed->first == key->first && keyed->second == key->second;
}

static uint64_t hash_of(uint64_t first, uint64_t second)
{
    return cohort__hash_mix(cohort__hash_u64(first), second);
}

void *keyed_find(const struct cohort__map *map, uint64_t first, uint64_t second)
{
    struct key key = {first, second};
    struct cohort__map_node *node = cohort__map_find(map, hash_of(first, second), has_key, &key);
    return node ? keyed_of(node) : NULL;
}

void *keyed_get(struct cohort__map *map, size_t bytes, uint64_t first, uint64_t second,
                bool *ret_is_new)
{
    void *found = keyed_find(map, first, second);
    *ret_is_new = !found;
    if (found)
        return found;
    struct keyed *keyed = calloc(1, bytes);
    if (!keyed)
        return NULL;
    keyed->first = first;
    keyed->second = second;
    cohort__map_insert(map, &keyed->node, hash_of(first, second));
    return keyed;
}

struct keyed *keyed_of(struct cohort__map_node *node)
{
    return COHORT_CONTAINER_OF(node, struct keyed, node);
}

void keyed_free(struct cohort__map *map)
{
    struct cohort__map_node *node = cohort__map_first(map);
    while (node) {
        struct cohort__map_node *next = cohort__map_next(map, node);
        free(keyed_of(node));
        node = next;
    }
    cohort__map_fini(map);
}
