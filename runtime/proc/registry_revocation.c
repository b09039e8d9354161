/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

#include <stdatomic.h>

#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/proc/peer.h"

/* The revocations by sites here, from request to answer, and what a revocation ends here. */

/* Under the lock: why nobody would answer a revocation at HOME. */
static cohort_status has_no_answer(const struct cohort__registry *registry, uint32_t home)
{
    struct cohort__process *process = registry->process;
    if (registry->broken.status)
        return cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (atomic_load(&process->stopped))
        return cohort_fail(COHORT_ERR_CANCELLED, "the job is over");
    bool may_die = home != COHORT__HOME_LAUNCHER && home != process->options.rank;
    return may_die && cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
}

void cohort__registry_revoke(struct cohort__registry *registry,
                             struct cohort__revocation *revocation)
{
    const struct cohort__membership *membership = revocation->membership;
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    cohort_status status = letter ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (letter) {
        struct cohort__packer *packer = &letter->packer;
        cohort__pack_map(packer, 4);
        cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_REVOKE);
        cohort__pack_field_bytes(packer, "name", membership->name, membership->name_bytes);
        cohort__pack_field_unsigned(packer, "site", revocation->site);
        cohort__pack_field_unsigned(packer, "instance", membership->instance);
        status = packer->status;
    }
    if (status)
        (void)cohort_fail(status, "communicator \"%.60s\", site %u: no memory to revoke it",
                          (const char *)membership->name, revocation->site);
    pthread_mutex_lock(&registry->lock);
    if (!status)
        status = has_no_answer(registry, membership->home);
    if (!status)
        cohort__map_insert(&registry->revocations, &revocation->node,
                           cohort__hash_u64(membership->instance));
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        cohort__registry_deliver(registry, &outbox);
        return;
    }
    cohort__registry_discard(&outbox);
    revocation->done(revocation, status);
}

static bool is_of(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__revocation *revocation =
        COHORT_CONTAINER_OF(node, struct cohort__revocation, node);
    return revocation->membership->instance == *(const uint64_t *)key;
}

void cohort__registry_take_revocations(struct cohort__registry *registry, uint64_t instance,
                                       struct cohort__list *ended)
{
    struct cohort__map *map = &registry->revocations;
    const uint64_t hash = cohort__hash_u64(instance);
    struct cohort__map_node *node;
    while ((node = instance == 0 ? cohort__map_some(map)
                                 : cohort__map_find(map, hash, is_of, &instance))) {
        cohort__map_remove(map, node);
        cohort__list_push_back(ended,
                               &COHORT_CONTAINER_OF(node, struct cohort__revocation, node)->link);
    }
}

void cohort__registry_end_revocations(struct cohort__list *ended, cohort_status status,
                                      const char *text)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(ended))) {
        struct cohort__revocation *revocation =
            COHORT_CONTAINER_OF(link, struct cohort__revocation, link);
        if (status)
            cohort_fail(status, "%s", text);
        revocation->done(revocation, status);
    }
}

/* Who has the sites is told first, so that a join that is not listed yet sees it. */
cohort_status cohort__registry_revoked(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t instance, site;
    cohort_status status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "site", INT32_MAX, &site);
    if (status)
        return status;
    if (registry->revoked)
        registry->revoked(registry->revoked_context, instance, (uint32_t)site);
    struct cohort__list joins, revocations, *link;
    cohort__list_init(&joins);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    cohort__registry_take_children(registry, instance, &joins);
    cohort__registry_take_revocations(registry, instance, &revocations);
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&joins))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        join->done(join, cohort__registry_fail_revoked(join, (uint32_t)site), NULL);
    }
    cohort__registry_end_revocations(&revocations, COHORT_OK, "");
    return COHORT_OK;
}
