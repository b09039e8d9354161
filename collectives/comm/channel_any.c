/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel_any.h"

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"

struct cohort__channel_any *cohort__channel_any_find(const struct cohort__channels *channels,
                                                     uint64_t tag)
{
    if (channels->any.num_nodes == 0)
        return NULL;
    struct cohort__map_node *node =
        cohort__map_find(&channels->any, cohort__hash_u64(tag), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_any, node) : NULL;
}

struct cohort__channel_any *cohort__channel_any_need(struct cohort__channels *channels,
                                                     uint64_t tag)
{
    struct cohort__channel_any *any = cohort__channel_any_find(channels, tag);
    if (any)
        return any;
    any = cohort__slab_alloc(sizeof(*any));
    if (!any)
        return NULL;
    any->tag = tag;
    cohort__list_init(&any->messages);
    cohort__list_init(&any->gets);
    cohort__map_insert(&channels->any, &any->node, cohort__hash_u64(tag));
    return any;
}

static struct cohort__message *message_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__message, of_tag);
}

/* What is sorted came before all that is not. */
bool cohort__channel_any_first(struct cohort__channels *channels, uint64_t tag,
                               struct cohort__message **ret_message)
{
    struct cohort__channel_any *any = cohort__channel_any_find(channels, tag);
    struct cohort__list *link, *unsorted = &channels->unsorted;
    *ret_message = NULL;
    if (any && !cohort__list_is_empty(&any->messages)) {
        *ret_message = message_of(any->messages.next);
        return true;
    }
    while ((link = unsorted->next) != unsorted) {
        if (message_of(link)->fingerprint == tag) {
            *ret_message = message_of(link);
            return true;
        }
        any = cohort__channel_any_need(channels, message_of(link)->fingerprint);
        if (!any)
            return false;
        cohort__list_remove(link);
        cohort__list_push_back(&any->messages, link);
    }
    return true;
}

static void drop(struct cohort__channels *channels, struct cohort__channel_any *any)
{
    cohort__map_remove(&channels->any, &any->node);
    cohort__slab_free(any);
}

void cohort__channel_any_tidy(struct cohort__channels *channels, struct cohort__channel_any *any)
{
    if (cohort__list_is_empty(&any->messages) && cohort__list_is_empty(&any->gets))
        drop(channels, any);
}

void cohort__channel_any_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&channels->any)))
        drop(channels, COHORT_CONTAINER_OF(node, struct cohort__channel_any, node));
    cohort__map_fini(&channels->any);
}
