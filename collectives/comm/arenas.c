/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/arenas.h"

#include <stdint.h>

#include "runtime/base/container.h"

/* So many are asked in vain, each of which goes to the end of the list: some may be in use for
 * ever, since a locality has died. */
enum { MOST_REFUSALS = 8 };

void cohort__arenas_init(struct cohort__arenas *arenas)
{
    pthread_mutex_init(&arenas->lock, NULL);
    cohort__list_init(&arenas->list);
    arenas->bytes = 0;
}

void cohort__arenas_fini(struct cohort__arenas *arenas)
{
    pthread_mutex_destroy(&arenas->lock);
}

/* With the lock held. */
static void set_bytes(struct cohort__arenas *arenas, struct cohort__arena *arena, size_t bytes)
{
    if (arena->bytes > 0)
        cohort__list_remove(&arena->link);
    arenas->bytes += bytes - arena->bytes;
    arena->bytes = bytes;
    if (bytes > 0)
        cohort__list_push_back(&arenas->list, &arena->link);
}

void cohort__arenas_grow(struct cohort__arenas *arenas, struct cohort__arena *arena, size_t bytes)
{
    pthread_mutex_lock(&arenas->lock);
    set_bytes(arenas, arena, bytes);
    uint32_t num_refusals = 0;
    while (arenas->bytes > COHORT__ARENAS_MOST && arenas->list.next != &arena->link &&
           num_refusals < MOST_REFUSALS) {
        struct cohort__arena *first =
            COHORT_CONTAINER_OF(arenas->list.next, struct cohort__arena, link);
        size_t had = first->bytes;
        cohort__list_remove(&first->link);
        if (first->give_back(first)) {
            arenas->bytes -= had;
        } else {
            cohort__list_push_back(&arenas->list, &first->link);
            num_refusals++;
        }
    }
    pthread_mutex_unlock(&arenas->lock);
}

void cohort__arenas_remove(struct cohort__arenas *arenas, struct cohort__arena *arena)
{
    pthread_mutex_lock(&arenas->lock);
    set_bytes(arenas, arena, 0);
    pthread_mutex_unlock(&arenas->lock);
}

void cohort__arenas_look(struct cohort__arenas *arenas, const struct cohort__arena *arena,
                         size_t *ret_bytes, size_t *ret_all_bytes)
{
    pthread_mutex_lock(&arenas->lock);
    *ret_bytes = arena->bytes;
    *ret_all_bytes = arenas->bytes;
    pthread_mutex_unlock(&arenas->lock);
}
