/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/past.h"

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/proc/membership.h"

void cohort__past_init(struct cohort__past *past)
{
    cohort__list_init(&past->order);
    cohort__map_init(&past->recent);
    cohort__map_init(&past->highest);
}

static struct cohort__past_item *item_of(struct cohort__map_node *node)
{
    return node ? COHORT_CONTAINER_OF(node, struct cohort__past_item, node) : NULL;
}

static void clear(struct cohort__map *map)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_first(map))) {
        cohort__map_remove(map, node);
        cohort__slab_free(item_of(node));
    }
    cohort__map_fini(map);
}

void cohort__past_fini(struct cohort__past *past)
{
    clear(&past->recent);
    clear(&past->highest);
}

static struct cohort__past_item *highest_of(const struct cohort__past *past, uint64_t instance)
{
    uint64_t hash = cohort__hash_u64(cohort__instance_home(instance));
    return item_of(cohort__map_find(&past->highest, hash, NULL, NULL));
}

/* ITEM was known before all creations under way. */
static void settle(struct cohort__past *past, struct cohort__past_item *item)
{
    struct cohort__past_item *highest = highest_of(past, item->instance);
    cohort__map_remove(&past->recent, &item->node);
    if (!highest) {
        cohort__map_insert(&past->highest, &item->node,
                           cohort__hash_u64(cohort__instance_home(item->instance)));
        return;
    }
    if (item->instance > highest->instance)
        highest->instance = item->instance;
    cohort__slab_free(item);
}

static void settle_all(struct cohort__past *past)
{
    while (!cohort__list_is_empty(&past->order)) {
        struct cohort__past_item *first =
            COHORT_CONTAINER_OF(past->order.next, struct cohort__past_item, link);
        if (first->instance == 0)
            return;
        cohort__list_remove(&first->link);
        settle(past, first);
    }
}

void cohort__past_begin(struct cohort__past *past, struct cohort__past_item *creation)
{
    creation->instance = 0;
    cohort__list_push_back(&past->order, &creation->link);
}

void cohort__past_end(struct cohort__past *past, struct cohort__past_item *creation)
{
    cohort__list_remove(&creation->link);
    settle_all(past);
}

bool cohort__past_is_open(const struct cohort__past *past)
{
    return !cohort__list_is_empty(&past->order);
}

static bool is_known(const struct cohort__past *past, uint64_t instance)
{
    const struct cohort__past_item *highest = highest_of(past, instance);
    return (highest && instance <= highest->instance) ||
           cohort__map_find(&past->recent, cohort__hash_u64(instance), NULL, NULL);
}

void cohort__past_add(struct cohort__past *past, struct cohort__past_item *item, uint64_t instance)
{
    if (is_known(past, instance)) {
        cohort__slab_free(item);
        return;
    }
    item->instance = instance;
    cohort__list_push_back(&past->order, &item->link);
    cohort__map_insert(&past->recent, &item->node, cohort__hash_u64(instance));
    settle_all(past);
}

bool cohort__past_has(const struct cohort__past *past, uint64_t instance)
{
    return !cohort__past_is_open(past) || is_known(past, instance);
}
