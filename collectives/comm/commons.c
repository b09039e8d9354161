/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/commons.h"

void cohort__commons_init(struct cohort__commons *commons, struct cohort__process *process)
{
    commons->process = process;
    cohort__watches_init(&commons->watches);
    cohort__arenas_init(&commons->arenas);
    atomic_init(&commons->plans.bytes, 0);
    atomic_init(&commons->plans.num_caches, 0);
    atomic_init(&commons->num_works, 0);
    pthread_mutex_init(&commons->later_lock, NULL);
    cohort__list_init(&commons->later);
    atomic_init(&commons->num_failed, 0);
}

void cohort__commons_fini(struct cohort__commons *commons)
{
    pthread_mutex_destroy(&commons->later_lock);
    cohort__arenas_fini(&commons->arenas);
}

void cohort__commons_count_work(struct cohort__commons *commons, int change)
{
    atomic_fetch_add(&commons->num_works, (uint64_t)(int64_t)change);
}

bool cohort__commons_are_busy(const struct cohort__commons *commons)
{
    return atomic_load(&commons->num_works) > 0;
}
