/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/later.h"

#include "runtime/base/container.h"

void cohort__later_more(struct cohort_comm *comm)
{
    struct cohort__commons *commons = comm->group->commons;
    pthread_mutex_lock(&commons->later_lock);
    if (cohort__list_is_empty(&comm->later)) {
        cohort__group_ref(comm->group);
        cohort__list_push_back(&commons->later, &comm->later);
    }
    pthread_mutex_unlock(&commons->later_lock);
    cohort__process_more(commons->process);
}

bool cohort__later_go_on(struct cohort__commons *commons)
{
    pthread_mutex_lock(&commons->later_lock);
    struct cohort__list *link = cohort__list_pop_front(&commons->later);
    const bool has_more = !cohort__list_is_empty(&commons->later);
    pthread_mutex_unlock(&commons->later_lock);
    if (!link)
        return false;
    struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, later);
    struct cohort__group *group = comm->group;
    if (!atomic_exchange(&comm->more.is_posted, true))
        cohort__endpoint_post(comm, &comm->more.item);
    cohort__group_unref(group);
    return has_more;
}
