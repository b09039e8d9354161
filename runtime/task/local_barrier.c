/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/sync.h"
#include "runtime/base/error.h"
#include "runtime/task/parking.h"

struct cohort_local_barrier {
    struct cohort__parking parking; /* first */
    struct cohort__parking_list waiting;
    uint64_t count;
};

cohort_status cohort_local_barrier_create(uint64_t count, cohort_local_barrier **ret_barrier)
{
    const char *name = "cohort_local_barrier_create";
    if (!ret_barrier || count == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s", name,
                           ret_barrier ? "count is 0" : "ret_barrier is NULL");
    cohort_local_barrier *barrier = cohort__parking_create(sizeof(*barrier), name);
    if (!barrier)
        return COHORT_ERR_NO_MEMORY;
    barrier->count = count;
    *ret_barrier = barrier;
    return COHORT_OK;
}

cohort_local_barrier *cohort_local_barrier_ref(cohort_local_barrier *barrier)
{
    if (!barrier)
        return NULL;
    cohort__parking_check(&barrier->parking, "local barrier", "cohort_local_barrier_ref");
    cohort__parking_ref(&barrier->parking);
    return barrier;
}

void cohort_local_barrier_unref(cohort_local_barrier *barrier)
{
    if (!barrier)
        return;
    cohort__parking_check(&barrier->parking, "local barrier", "cohort_local_barrier_unref");
    cohort__parking_unref(&barrier->parking, &barrier->waiting, 1, NULL);
}

/* Under the lock, which it gives back: the caller is the last one. */
static void let_all_go(cohort_local_barrier *barrier)
{
    struct cohort__parking_list to_wake = {0};
    while (cohort__parking_serve(&barrier->waiting, COHORT_OK, &to_wake))
        ;
    pthread_mutex_unlock(&barrier->parking.lock);
    cohort__parking_wake(&to_wake);
}

/* Under the lock, which it gives back. */
static cohort_status wait(cohort_local_barrier *barrier, const struct cohort__parking_terms *terms)
{
    struct cohort__parked parked = {0};
    return cohort__parking_wait(&barrier->parking, &barrier->waiting, &parked, terms);
}

cohort_status cohort_local_barrier_wait(cohort_local_barrier *barrier, uint64_t nanoseconds,
                                        bool *ret_is_last)
{
    const char *name = "cohort_local_barrier_wait";
    struct cohort__parking_terms terms = {.function = name,
                                          .caller = __builtin_return_address(0),
                                          .what = (uintptr_t)barrier + COHORT__WAIT_LOCAL_BARRIER,
                                          .nanoseconds = nanoseconds};
    cohort_status status = COHORT_OK;
    if (!barrier)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: barrier is NULL", name);
    cohort__parking_check(&barrier->parking, "local barrier", name);
    pthread_mutex_lock(&barrier->parking.lock);
    bool is_last = barrier->waiting.num + 1 == barrier->count;
    if (is_last)
        let_all_go(barrier);
    else
        status = wait(barrier, &terms);
    if (status == COHORT_OK && ret_is_last)
        *ret_is_last = is_last;
    return status;
}
