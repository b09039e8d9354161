/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/names/requests.h"

/* Withdrawals at this home wait until it is known whose programs have returned, so that their
 * errors can name them. */

/* A WITHDRAW, while that is asked. */
struct withdrawal {
    struct cohort__list link;
    uint32_t source;
    size_t bytes;
    unsigned char message[];
};

void cohort__registry_drop_withdrawals(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        free(COHORT_CONTAINER_OF(link, struct withdrawal, link));
}

bool cohort__registry_put_off(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes)
{
    struct withdrawal *withdrawal =
        registry->ask_returned ? malloc(sizeof(*withdrawal) + bytes) : NULL;
    if (!withdrawal)
        return false;
    withdrawal->source = source;
    withdrawal->bytes = bytes;
    memcpy(withdrawal->message, data, bytes);
    pthread_mutex_lock(&registry->lock);
    const bool is_first = cohort__list_is_empty(&registry->withdrawals);
    cohort__list_push_back(&registry->withdrawals, &withdrawal->link);
    if (is_first)
        registry->num_ticks = 0;
    pthread_mutex_unlock(&registry->lock);
    if (is_first && !registry->ask_returned(registry->ask_context))
        cohort__registry_returned(registry, "");
    return true;
}

void cohort__registry_returned(struct cohort__registry *registry, const char *text)
{
    struct cohort__list *link, all;
    cohort__list_init(&all);
    pthread_mutex_lock(&registry->lock);
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        cohort__list_push_back(&all, link);
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&all))) {
        struct withdrawal *withdrawal = COHORT_CONTAINER_OF(link, struct withdrawal, link);
        struct cohort__unpacked *unpacked = NULL;
        cohort_status status =
            cohort__unpack(&unpacked, withdrawal->message, withdrawal->bytes, "registry message");
        if (!status)
            status = cohort__registry_at_home(registry, withdrawal->source,
                                              COHORT__REGISTRY_WITHDRAW, unpacked, text);
        cohort__unpacked_destroy(unpacked);
        if (status)
            cohort__registry_lost(registry, withdrawal->source, status);
        free(withdrawal);
    }
}

/* A launcher that is stopped does not answer. Nobody waits longer than a second for it. */
void cohort__registry_tick(struct cohort__registry *registry)
{
    enum { PATIENCE_TICKS = 10 };
    pthread_mutex_lock(&registry->lock);
    const bool is_late =
        !cohort__list_is_empty(&registry->withdrawals) && ++registry->num_ticks >= PATIENCE_TICKS;
    pthread_mutex_unlock(&registry->lock);
    if (is_late)
        cohort__registry_returned(registry, "");
    cohort__registry_tell_untold(registry);
}
