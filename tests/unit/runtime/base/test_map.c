/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/map.h"

#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"
#include "tests/support/test.h"

enum { NUM_ENTRIES = 3000, SEED = 1 };

struct entry {
    struct cohort__map_node node;
    int key;
    bool is_in;
};

static struct entry entries[NUM_ENTRIES];

static bool equal(const struct cohort__map_node *node, const void *key)
{
    return COHORT_CONTAINER_OF(node, const struct entry, node)->key == *(const int *)key;
}

/* Only few different hashes, so that chains contain other keys with the same hash. */
static uint64_t hash(int key)
{
    return cohort__hash_u64((uint64_t)key / 3);
}

static void check_all(const struct cohort__map *map)
{
    size_t count = 0;
    for (int i = 0; i < NUM_ENTRIES; i++) {
        struct cohort__map_node *node = cohort__map_find(map, hash(i), equal, &i);
        CHECK(node == (entries[i].is_in ? &entries[i].node : NULL));
        count += entries[i].is_in;
    }
    CHECK_INT(map->num_nodes, count);
    for (struct cohort__map_node *n = cohort__map_first(map); n; n = cohort__map_next(map, n)) {
        CHECK(COHORT_CONTAINER_OF(n, struct entry, node)->is_in);
        count--;
    }
    CHECK_INT(count, 0);
}

TEST(against_an_array)
{
    struct cohort__random random = cohort__random_seeded(SEED);
    struct cohort__map map;
    cohort__map_init(&map);
    memset(entries, 0, sizeof(entries));
    check_all(&map);
    for (int step = 0; step < 20000; step++) {
        int key = (int)cohort__random_below(&random, NUM_ENTRIES);
        struct entry *entry = &entries[key];
        entry->key = key;
        if (entry->is_in)
            cohort__map_remove(&map, &entry->node);
        else
            cohort__map_insert(&map, &entry->node, hash(key));
        entry->is_in = !entry->is_in;
        if (step < 20 || step % 1000 == 0)
            check_all(&map);
    }
    check_all(&map);
    cohort__map_fini(&map);
    CHECK(!cohort__map_first(&map));
    cohort__map_fini(NULL);
}

/* What is inserted while a map is emptied is found, too, also in buckets that were passed. */
TEST(emptying)
{
    struct cohort__map map;
    struct cohort__map_node *node;
    struct cohort__random random = cohort__random_seeded(SEED);
    cohort__map_init(&map);
    memset(entries, 0, sizeof(entries));
    int num_left = 5000, num = 0;
    for (int i = 0; i < NUM_ENTRIES; i++, num++) {
        entries[i].key = i;
        cohort__map_insert(&map, &entries[i].node, hash(i));
    }
    while ((node = cohort__map_some(&map))) {
        struct entry *entry = COHORT_CONTAINER_OF(node, struct entry, node);
        cohort__map_remove(&map, node);
        num--;
        if (num_left > 0 && cohort__random_below(&random, 3) > 0) {
            cohort__map_insert(&map, &entry->node, hash(entry->key));
            num_left--;
            num++;
        }
    }
    CHECK_INT(num, 0);
    CHECK_INT(map.num_nodes, 0);
    cohort__map_fini(&map);
}

TEST(hash_as_key)
{
    struct cohort__map map;
    struct cohort__map_node nodes[3];
    cohort__map_init(&map);
    for (uint64_t i = 0; i < 3; i++)
        cohort__map_insert(&map, &nodes[i], i << 40);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(cohort__map_find(&map, i << 40, NULL, NULL) == &nodes[i]);
    CHECK(!cohort__map_find(&map, 5, NULL, NULL));
    cohort__map_fini(&map);
}
