/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

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

void cohort__registry_leave(struct cohort__registry *registry,
                            struct cohort__membership *membership, uint32_t site)
{
    if (tell(registry, membership, site))
        return;
    pthread_mutex_lock(&registry->lock);
    cohort__membership_untold(membership)[site / 8] |= (unsigned char)(1u << site % 8);
    if (!membership->is_untold) {
        membership->is_untold = true;
        cohort__membership_ref(membership);
        cohort__list_push_back(&registry->untold, &membership->link);
    }
    pthread_mutex_unlock(&registry->lock);
}

/* What has been taken out of the list. */
static void tell_again(struct cohort__registry *registry, struct cohort__membership *membership)
{
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        unsigned char *byte = &cohort__membership_untold(membership)[site / 8];
        const unsigned char bit = (unsigned char)(1u << site % 8);
        pthread_mutex_lock(&registry->lock);
        const bool is_untold = *byte & bit;
        *byte &= (unsigned char)~bit;
        pthread_mutex_unlock(&registry->lock);
        if (is_untold)
            cohort__registry_leave(registry, membership, site);
    }
}

void cohort__registry_tell_untold(struct cohort__registry *registry)
{
    struct cohort__list all, *link;
    cohort__list_init(&all);
    pthread_mutex_lock(&registry->lock);
    while ((link = cohort__list_pop_front(&registry->untold))) {
        COHORT_CONTAINER_OF(link, struct cohort__membership, link)->is_untold = false;
        cohort__list_push_back(&all, link);
    }
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&all))) {
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        tell_again(registry, membership);
        cohort__membership_unref(membership);
    }
}

void cohort__registry_drop_untold(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->untold)))
        cohort__membership_unref(COHORT_CONTAINER_OF(link, struct cohort__membership, link));
}
