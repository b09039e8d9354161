/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

#include <string.h>

#include "runtime/base/container.h"

/* Sites that have left: their home has to hear of it, since those who gather (cohort/survivors.h)
 * would wait for them. What there is no memory to tell is told at a later tick. */

/* False: no memory. */
static bool tell(struct cohort__registry *registry, const struct cohort__membership *membership,
                 uint32_t site)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    if (!letter)
        return false;
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 4);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_LEAVE);
    cohort__pack_field_bytes(packer, "name", membership->name, membership->name_bytes);
    cohort__pack_field_unsigned(packer, "site", site);
    cohort__pack_field_unsigned(packer, "instance", membership->instance);
    const bool is_packed = !packer->status;
    if (is_packed)
        cohort__registry_deliver(registry, &outbox);
    else
        cohort__registry_discard(&outbox);
    return is_packed;
}

/* Under the lock. The site's byte of those that are untold, and its bit in that. */
static unsigned char *byte_of(struct cohort__membership *membership, uint32_t site)
{
    return &cohort__membership_untold(membership)[site / 8];
}

static unsigned char bit_of(uint32_t site)
{
    return (unsigned char)(1u << site % 8);
}

void cohort__registry_leave(struct cohort__registry *registry,
                            struct cohort__membership *membership, uint32_t site)
{
    if (tell(registry, membership, site))
        return;
    pthread_mutex_lock(&registry->lock);
    *byte_of(membership, site) |= bit_of(site);
    if (membership->num_untold++ == 0) {
        cohort__membership_ref(membership);
        cohort__list_push_back(&registry->untold, &membership->link);
    }
    pthread_mutex_unlock(&registry->lock);
}

uint64_t cohort__registry_left_untold(struct cohort__registry *registry, const char *name,
                                      size_t bytes, uint32_t site)
{
    uint64_t latest = 0;
    struct cohort__list *untold = &registry->untold;
    for (struct cohort__list *link = untold->next; link != untold; link = link->next) {
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (membership->instance > latest && site < membership->num_sites &&
            (*byte_of(membership, site) & bit_of(site)) && membership->name_bytes == bytes &&
            memcmp(membership->name, name, bytes) == 0)
            latest = membership->instance;
    }
    return latest;
}

/* Until it is told, a join of that site has to say it: see cohort__registry_left_untold. Returns
 * whether all of MEMBERSHIP are told. */
static bool tell_again(struct cohort__registry *registry, struct cohort__membership *membership)
{
    bool are_all_told = false;
    for (uint32_t site = 0; !are_all_told && site < membership->num_sites; site++) {
        pthread_mutex_lock(&registry->lock);
        const bool is_untold = *byte_of(membership, site) & bit_of(site);
        pthread_mutex_unlock(&registry->lock);
        if (!is_untold || !tell(registry, membership, site))
            continue;
        pthread_mutex_lock(&registry->lock);
        *byte_of(membership, site) &= (unsigned char)~bit_of(site);
        are_all_told = --membership->num_untold == 0;
        if (are_all_told)
            cohort__list_remove(&membership->link);
        pthread_mutex_unlock(&registry->lock);
    }
    return are_all_told;
}

/* Others only append to the list. */
void cohort__registry_tell_untold(struct cohort__registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    struct cohort__list *next, *link = registry->untold.next;
    while (link != &registry->untold) {
        next = link->next;
        pthread_mutex_unlock(&registry->lock);
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (tell_again(registry, membership))
            cohort__membership_unref(membership);
        pthread_mutex_lock(&registry->lock);
        link = next;
    }
    pthread_mutex_unlock(&registry->lock);
}

void cohort__registry_drop_untold(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->untold)))
        cohort__membership_unref(COHORT_CONTAINER_OF(link, struct cohort__membership, link));
}
