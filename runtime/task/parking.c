/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/parking.h"

#include "runtime/base/error.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"
#include "runtime/task/worker.h"

/* --- objects --- */

void *cohort__parking_create(size_t bytes, const char *what)
{
    struct cohort__parking *parking = cohort__slab_alloc_zero(bytes);
    if (!parking) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for %zu bytes", what, bytes);
        return NULL;
    }
    pthread_mutex_init(&parking->lock, NULL);
    atomic_init(&parking->refs, 1);
    atomic_init(&parking->users, 1);
    return parking;
}

void cohort__parking_ref(struct cohort__parking *parking)
{
    atomic_fetch_add_explicit(&parking->refs, 1, memory_order_relaxed);
}

static void leave(struct cohort__parking *parking, void (*fini)(struct cohort__parking *parking))
{
    if (atomic_fetch_sub_explicit(&parking->users, 1, memory_order_acq_rel) != 1)
        return;
    if (fini)
        fini(parking);
    pthread_mutex_destroy(&parking->lock);
    cohort__slab_free(parking);
}

void cohort__parking_unref(struct cohort__parking *parking, struct cohort__parking_list *lists,
                           unsigned num_lists, void (*fini)(struct cohort__parking *parking))
{
    if (atomic_fetch_sub_explicit(&parking->refs, 1, memory_order_acq_rel) != 1)
        return;
    struct cohort__parking_list to_wake = {0};
    pthread_mutex_lock(&parking->lock);
    for (unsigned i = 0; i < num_lists; i++)
        while (cohort__parking_serve(&lists[i], COHORT_ERR_GONE, &to_wake))
            ;
    pthread_mutex_unlock(&parking->lock);
    cohort__parking_wake(&to_wake);
    leave(parking, fini);
}

/* --- lists --- */

static void append(struct cohort__parking_list *list, struct cohort__parked *parked)
{
    parked->list = list;
    parked->next = NULL;
    parked->prev = list->last;
    if (list->last)
        list->last->next = parked;
    else
        list->first = parked;
    list->last = parked;
    list->num++;
}

static void take_out(struct cohort__parked *parked)
{
    struct cohort__parking_list *list = parked->list;
    if (parked->prev)
        parked->prev->next = parked->next;
    else
        list->first = parked->next;
    if (parked->next)
        parked->next->prev = parked->prev;
    else
        list->last = parked->prev;
    list->num--;
    parked->list = NULL;
}

bool cohort__parking_serve(struct cohort__parking_list *list, cohort_status status,
                           struct cohort__parking_list *to_wake)
{
    struct cohort__parked *parked = list->first;
    if (!parked)
        return false;
    take_out(parked);
    parked->status = status;
    if (cohort__wait_claim(&parked->wait)) {
        append(to_wake, parked);
        parked->list = NULL;
    }
    return true;
}

void cohort__parking_wake(struct cohort__parking_list *to_wake)
{
    struct cohort__parked *parked = to_wake->first;
    while (parked) {
        struct cohort__parked *next = parked->next; /* it may go when it is woken */
        cohort__wait_wake(&parked->wait);
        parked = next;
    }
}

/* --- waiting --- */

static cohort_status fail(const struct cohort__parking_terms *terms, enum cohort_wait_end end)
{
    const cohort_scope *scope = cohort__scope_current();
    if (end == COHORT_WAIT_EXPIRED)
        return cohort_fail(COHORT_ERR_TIMEOUT, "%s: not within %.3f milliseconds", terms->function,
                           (double)terms->nanoseconds / 1e6);
    cohort__scope_explain(scope, terms->function, cohort__error_slot());
    return COHORT_ERR_CANCELLED;
}

/* Before it waits. */
static cohort_status begin(struct cohort__parked *parked, const struct cohort__parking_terms *terms)
{
    const cohort_scope *scope = cohort__scope_current();
    if (terms->always)
        return cohort__wait_begin_always(&parked->wait, terms->function);
    if (scope && cohort__scope_is_cancelled(scope))
        return fail(terms, COHORT_WAIT_CANCELLED);
    if (terms->nanoseconds == 0)
        return fail(terms, COHORT_WAIT_EXPIRED);
    return cohort__wait_begin(&parked->wait, terms->nanoseconds, terms->function);
}

static cohort_status status_of(const struct cohort__parked *parked,
                               const struct cohort__parking_terms *terms)
{
    if (parked->status != COHORT_ERR_GONE)
        return parked->status;
    return cohort_fail(COHORT_ERR_GONE, "%s: closed or given back by others", terms->function);
}

/* Its time has passed, or its scope is cancelled. Whether it was served all the same. */
static bool withdraw(struct cohort__parking *parking, struct cohort__parked *parked,
                     const struct cohort__parking_terms *terms)
{
    pthread_mutex_lock(&parking->lock);
    bool is_served = !parked->list;
    if (!is_served) {
        take_out(parked);
        if (terms->withdraw)
            terms->withdraw(parking);
    }
    pthread_mutex_unlock(&parking->lock);
    return is_served;
}

/* The thread may be another one now. */
COHORT__IN_THREAD_OF_NOW static cohort_status ended(struct cohort__parking *parking,
                                                    struct cohort__parked *parked,
                                                    const struct cohort__parking_terms *terms,
                                                    enum cohort_wait_end end)
{
    bool is_served = end == COHORT_WAIT_COMPLETE || withdraw(parking, parked, terms);
    cohort_status status = is_served ? status_of(parked, terms) : fail(terms, end);
    cohort__wait_fini(&parked->wait);
    leave(parking, terms->fini);
    return status;
}

cohort_status cohort__parking_wait(struct cohort__parking *parking,
                                   struct cohort__parking_list *list, struct cohort__parked *parked,
                                   const struct cohort__parking_terms *terms)
{
    cohort_status status = begin(parked, terms);
    if (status != COHORT_OK) {
        pthread_mutex_unlock(&parking->lock);
        return status;
    }
    atomic_fetch_add_explicit(&parking->users, 1, memory_order_relaxed);
    append(list, parked);
    pthread_mutex_unlock(&parking->lock);
    if (terms->listed)
        terms->listed(terms->arg);
    return ended(parking, parked, terms,
                 cohort__wait_suspend(&parked->wait, terms->what, terms->caller));
}
