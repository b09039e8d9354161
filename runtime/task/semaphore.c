/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/sync.h"
#include "runtime/base/error.h"
#include "runtime/task/parking.h"

/* While somebody waits there are no permits. */
struct cohort_semaphore {
    struct cohort__parking parking; /* first */
    struct cohort__parking_list waiting;
    uint64_t count;
};

cohort_status cohort_semaphore_create(uint64_t count, cohort_semaphore **ret_semaphore)
{
    const char *name = "cohort_semaphore_create";
    if (!ret_semaphore)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_semaphore is NULL", name);
    cohort_semaphore *semaphore = cohort__parking_create(sizeof(*semaphore), name);
    if (!semaphore)
        return COHORT_ERR_NO_MEMORY;
    semaphore->count = count;
    *ret_semaphore = semaphore;
    return COHORT_OK;
}

cohort_semaphore *cohort_semaphore_ref(cohort_semaphore *semaphore)
{
    if (!semaphore)
        return NULL;
    cohort__parking_check(&semaphore->parking, "semaphore", "cohort_semaphore_ref");
    cohort__parking_ref(&semaphore->parking);
    return semaphore;
}

void cohort_semaphore_unref(cohort_semaphore *semaphore)
{
    if (!semaphore)
        return;
    cohort__parking_check(&semaphore->parking, "semaphore", "cohort_semaphore_unref");
    cohort__parking_unref(&semaphore->parking, &semaphore->waiting, 1, NULL);
}

cohort_status cohort_semaphore_acquire(cohort_semaphore *semaphore, uint64_t nanoseconds)
{
    const char *name = "cohort_semaphore_acquire";
    const void *caller = __builtin_return_address(0);
    if (!semaphore)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: semaphore is NULL", name);
    cohort__parking_check(&semaphore->parking, "semaphore", name);
    pthread_mutex_lock(&semaphore->parking.lock);
    if (semaphore->count > 0) {
        semaphore->count--;
        pthread_mutex_unlock(&semaphore->parking.lock);
        return COHORT_OK;
    }
    struct cohort__parked parked = {0};
    struct cohort__parking_terms terms = {.function = name,
                                          .caller = caller,
                                          .what = (uintptr_t)semaphore + COHORT__WAIT_SEMAPHORE,
                                          .nanoseconds = nanoseconds};
    return cohort__parking_wait(&semaphore->parking, &semaphore->waiting, &parked, &terms);
}

cohort_status cohort_semaphore_release(cohort_semaphore *semaphore, uint64_t count)
{
    const char *name = "cohort_semaphore_release";
    struct cohort__parking_list to_wake = {0};
    if (!semaphore)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: semaphore is NULL", name);
    cohort__parking_check(&semaphore->parking, "semaphore", name);
    pthread_mutex_lock(&semaphore->parking.lock);
    if (count > UINT64_MAX - semaphore->count) {
        pthread_mutex_unlock(&semaphore->parking.lock);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %llu more permits are too many", name,
                           (unsigned long long)count);
    }
    while (count > 0 && cohort__parking_serve(&semaphore->waiting, COHORT_OK, &to_wake))
        count--;
    semaphore->count += count;
    pthread_mutex_unlock(&semaphore->parking.lock);
    cohort__parking_wake(&to_wake);
    return COHORT_OK;
}
