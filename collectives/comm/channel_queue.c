/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel_queue.h"

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"

static struct cohort__channel_source *source_find(struct cohort__channels *channels, uint32_t site)
{
    uint64_t hash = cohort__hash_u64(site);
    struct cohort__map_node *node = cohort__map_find(&channels->sources, hash, NULL, NULL);
    if (node)
        return COHORT_CONTAINER_OF(node, struct cohort__channel_source, node);
    struct cohort__channel_source *source = cohort__slab_alloc_zero(sizeof(*source));
    if (!source)
        return NULL;
    source->site = site;
    cohort__list_init(&source->doomed);
    cohort__list_init(&source->overtaking);
    cohort__list_init(&source->queues);
    cohort__map_insert(&channels->sources, &source->node, hash);
    return source;
}

struct cohort__channel_source *cohort__channel_source_of(struct cohort__channels *channels,
                                                         uint32_t site)
{
    if (!channels->last_source || channels->last_source->site != site)
        channels->last_source = source_find(channels, site);
    return channels->last_source;
}

static uint64_t queue_hash(struct cohort__channel_key key)
{
    return cohort__hash_mix(key.site, key.tag);
}

static bool queue_equal(const struct cohort__map_node *node, const void *looked_for)
{
    const struct cohort__channel_key *key = looked_for;
    const struct cohort__channel_queue *queue =
        COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node);
    return queue->tag == key->tag && queue->source->site == key->site;
}

struct cohort__channel_queue *cohort__channel_queue_find(const struct cohort__channels *channels,
                                                         struct cohort__channel_key key)
{
    struct cohort__map_node *node =
        cohort__map_find(&channels->queues, queue_hash(key), queue_equal, &key);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node) : NULL;
}

static struct cohort__channel_queue *queue_make(struct cohort__channels *channels,
                                                struct cohort__channel_source *source, uint64_t tag)
{
    struct cohort__channel_queue *queue = cohort__slab_alloc(sizeof(*queue));
    if (!queue)
        return NULL;
    queue->source = source;
    cohort__list_push_back(&source->queues, &queue->of_source);
    queue->tag = tag;
    cohort__list_init(&queue->messages);
    cohort__list_init(&queue->gets);
    struct cohort__channel_key key = {source->site, tag};
    cohort__map_insert(&channels->queues, &queue->node, queue_hash(key));
    return queue;
}

void cohort__channel_queue_tidy(struct cohort__channels *channels,
                                struct cohort__channel_queue *queue)
{
    if (queue == queue->source->last || !cohort__list_is_empty(&queue->messages) ||
        !cohort__list_is_empty(&queue->gets))
        return;
    cohort__map_remove(&channels->queues, &queue->node);
    cohort__list_remove(&queue->of_source);
    cohort__slab_free(queue);
}

/* If the queue is not the one used last: finds or makes it, and drops the last one if it is empty.
 * NULL: out of memory. */
static struct cohort__channel_queue *
queue_change(struct cohort__channels *channels, struct cohort__channel_source *source, uint64_t tag)
{
    struct cohort__channel_queue *queue =
        cohort__channel_queue_find(channels, (struct cohort__channel_key){source->site, tag});
    if (!queue)
        queue = queue_make(channels, source, tag);
    struct cohort__channel_queue *last = source->last;
    source->last = queue;
    if (last)
        cohort__channel_queue_tidy(channels, last);
    return queue;
}

struct cohort__channel_queue *cohort__channel_queue_of(struct cohort__channels *channels,
                                                       struct cohort__channel_source *source,
                                                       uint64_t tag)
{
    struct cohort__channel_queue *last = source->last;
    return last && last->tag == tag ? last : queue_change(channels, source, tag);
}

void cohort__channel_queues_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&channels->queues))) {
        cohort__map_remove(&channels->queues, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node));
    }
    while ((node = cohort__map_some(&channels->sources))) {
        cohort__map_remove(&channels->sources, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_source, node));
    }
    cohort__map_fini(&channels->queues);
    cohort__map_fini(&channels->sources);
}
