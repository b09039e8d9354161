/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/container.h"
#include "runtime/base/misuse.h"
#include "runtime/task/fork.h"

/* Later --------------------------------------------------------------------------------------- */

void cohort__later_add(struct cohort_comm *comm)
{
    struct cohort__commons *commons = comm->group->commons;
    pthread_mutex_lock(&commons->later_lock);
    if (cohort__list_is_empty(&comm->later)) {
        cohort__group_ref(comm->group);
        cohort__list_push_back(&commons->later, &comm->later);
        cohort__commons_count_work(commons, 1);
    }
    pthread_mutex_unlock(&commons->later_lock);
}

void cohort__later_more(struct cohort_comm *comm)
{
    cohort__later_add(comm);
    cohort__process_more(comm->group->commons->process);
}

/* Lets one go on. False: there is none. */
static bool go_on_with_one(struct cohort__commons *commons)
{
    pthread_mutex_lock(&commons->later_lock);
    struct cohort__list *link = cohort__list_pop_front(&commons->later);
    pthread_mutex_unlock(&commons->later_lock);
    if (!link)
        return false;
    struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, later);
    struct cohort__group *group = comm->group;
    if (!atomic_exchange(&comm->more.is_posted, true))
        cohort__endpoint_post(comm, &comm->more.item);
    cohort__group_unref(group);
    cohort__commons_count_work(commons, -1);
    return true;
}

/* An endpoint in which nothing fails counts as one thing that does. */
bool cohort__later_go_on(struct cohort__commons *commons)
{
    const uint32_t before = atomic_load(&commons->num_failed);
    for (uint32_t num = 0;
         num + atomic_load(&commons->num_failed) - before < COHORT__ENDS_OF_A_TURN; num++)
        if (!go_on_with_one(commons))
            return false;
    return true;
}

/* Misuse -------------------------------------------------------------------------------------- */

/* So many endpoints that are gone keep their memory, some 15 KiB each. */
enum { NUM_KEPT = 64 };

static struct {
    pthread_mutex_t lock;
    struct cohort_comm *kept[NUM_KEPT];
    unsigned oldest;
} buried = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cohort__endpoint_bury(struct cohort_comm *comm)
{
    comm->group = NULL;
    atomic_store(&comm->refs, 0);
    pthread_mutex_lock(&buried.lock);
    struct cohort_comm *oldest = buried.kept[buried.oldest];
    buried.kept[buried.oldest] = comm;
    buried.oldest = (buried.oldest + 1) % NUM_KEPT;
    pthread_mutex_unlock(&buried.lock);
    free(oldest);
}

void cohort__endpoint_misuse(const struct cohort_comm *comm, const char *function,
                             const void *caller)
{
    char about[128];
    snprintf(about, sizeof(about), ": site %u of communicator \"%.60s\"", comm->this_site,
             comm->name);
    cohort__misuse_of("endpoint", comm, about, COHORT__MISUSE_UNREF, function, caller);
}

void cohort__endpoint_refuse(const struct cohort_comm *comm, const char *function,
                             const void *caller)
{
    if (cohort__is_gone(&comm->refs) || !cohort__fork_is_child())
        cohort__endpoint_misuse(comm, function, caller);
}
