/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/commons.h"

#include "runtime/base/container.h"

/* A watch for which no call waits stays in the list for so many looks. Most calls are followed by
 * another one, and adding costs more than a look at a number. Not measured. */
enum { IDLE_LOOKS = 64 };

void cohort__watches_init(struct cohort__watches *watches)
{
    cohort__batch_queue_init(&watches->added);
    cohort__list_init(&watches->list);
}

void cohort__watch_begin(struct cohort__watches *watches, struct cohort__watch *watch)
{
    atomic_fetch_add(&watch->num_waiting, 1);
    if (!atomic_load(&watch->is_listed) && !atomic_exchange(&watch->is_listed, true))
        cohort__batch_queue_push(&watches->added, &watch->added);
}

static void take_added(struct cohort__watches *watches)
{
    if (cohort__batch_queue_is_empty(&watches->added))
        return; /* mostly */
    struct cohort__batch_queue_node *node = cohort__batch_queue_take(&watches->added);
    while (node) {
        struct cohort__watch *watch = COHORT_CONTAINER_OF(node, struct cohort__watch, added);
        node = node->next;
        watch->num_idle = 0;
        cohort__list_push_back(&watches->list, &watch->link);
    }
}

/* A call that begins to wait counts itself, and then looks whether its watch is listed. This looks
 * for calls after it has said that the watch is not. So one of both sees the other. */
static void drop(struct cohort__watches *watches, struct cohort__watch *watch)
{
    cohort__list_remove(&watch->link);
    atomic_store(&watch->is_listed, false);
    if (atomic_load(&watch->num_waiting) == 0 || atomic_exchange(&watch->is_listed, true))
        return;
    watch->num_idle = 0;
    cohort__list_push_back(&watches->list, &watch->link);
}

bool cohort__watches_look(struct cohort__watches *watches)
{
    bool any = false;
    struct cohort__list *next;
    take_added(watches);
    for (struct cohort__list *link = watches->list.next; link != &watches->list; link = next) {
        struct cohort__watch *watch = COHORT_CONTAINER_OF(link, struct cohort__watch, link);
        next = link->next;
        if (atomic_load_explicit(&watch->num_waiting, memory_order_relaxed) > 0) {
            watch->num_idle = 0;
            any |= watch->look(watch);
        } else if (++watch->num_idle == IDLE_LOOKS) {
            drop(watches, watch);
        }
    }
    return any;
}

void cohort__watches_remove(struct cohort__watches *watches, struct cohort__watch *watch)
{
    take_added(watches);
    if (atomic_load(&watch->is_listed))
        cohort__list_remove(&watch->link);
}

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
