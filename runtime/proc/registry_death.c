/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry_private.h"

#include <stdio.h>

#include "runtime/base/container.h"
#include "runtime/proc/death.h"
#include "runtime/proc/peer.h"

/* What a death changes among the joins and revocations of this locality. */

uint32_t cohort__registry_count_dead_in_view(const struct cohort__registry *registry,
                                             const struct cohort__membership *membership,
                                             bool *is_dead)
{
    struct cohort__process *process = registry->process;
    uint32_t num_dead = 0;
    bool any = cohort__process_any_dead(process), is_before = false;
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        struct cohort__death death;
        uint32_t rank = membership->locality_of[site];
        if (site == 0 || rank != membership->locality_of[site - 1])
            is_before = any && cohort__process_death_of(process, rank, &death) &&
                        (death.order <= registry->view || death.order >= COHORT__DEATH_NOTICED);
        num_dead += is_before;
        if (is_dead)
            is_dead[site] = is_before;
    }
    return num_dead;
}

uint32_t cohort__registry_count_dead(struct cohort__registry *registry,
                                     const struct cohort__membership *membership, bool *is_dead)
{
    pthread_mutex_lock(&registry->lock);
    uint32_t num_dead = cohort__registry_count_dead_in_view(registry, membership, is_dead);
    pthread_mutex_unlock(&registry->lock);
    return num_dead;
}

/* Whether the death of RANK concerns JOIN. */
static bool concerns(const struct cohort__registry *registry, const struct cohort__join *join,
                     uint32_t rank)
{
    const struct cohort__membership *parent = join->parent;
    bool has_rank = !registry->process->options.letter || !parent;
    for (uint32_t site = 0; !has_rank && site < parent->num_sites; site++)
        has_rank = parent->locality_of[site] == rank;
    return has_rank;
}

void cohort__registry_peer_died(struct cohort__registry *registry, uint32_t rank)
{
    struct cohort__list ended, revocations, *next;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    registry->view++;
    for (struct cohort__list *link = registry->waiting.next; link != &registry->waiting;
         link = next) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        next = link->next;
        if (!concerns(registry, join, rank))
            continue;
        cohort__registry_remove_waiting(registry, join);
        cohort__list_push_back(&ended, link);
    }
    if (!registry->process->options.letter) /* the home may have died */
        cohort__registry_take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        if (registry->process->options.letter)
            cohort__process_check_dead(registry->process, rank); /* sets the message */
        else
            cohort__process_is_broken(registry->process);
        join->done(join, COHORT_ERR_PEER_DIED, NULL);
    }
    struct cohort__death death;
    if (!cohort__list_is_empty(&revocations) &&
        cohort__process_first_death(registry->process, &death)) {
        char text[64 + sizeof(death.why)];
        snprintf(text, sizeof(text), "locality %u %s", (unsigned)death.rank, death.why);
        cohort__registry_end_revocations(&revocations, COHORT_ERR_PEER_DIED, text);
    }
}
