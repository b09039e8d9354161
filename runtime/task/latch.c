/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/sync.h"
#include "runtime/base/error.h"
#include "runtime/task/parking.h"

struct cohort_latch {
    struct cohort__parking parking; /* first */
    struct cohort__parking_list waiting;
    uint64_t count;
};

cohort_status cohort_latch_create(uint64_t count, cohort_latch **ret_latch)
{
    const char *name = "cohort_latch_create";
    if (!ret_latch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_latch is NULL", name);
    cohort_latch *latch = cohort__parking_create(sizeof(*latch), name);
    if (!latch)
        return COHORT_ERR_NO_MEMORY;
    latch->count = count;
    *ret_latch = latch;
    return COHORT_OK;
}

cohort_latch *cohort_latch_ref(cohort_latch *latch)
{
    if (!latch)
        return NULL;
    cohort__parking_check(&latch->parking, "latch", "cohort_latch_ref");
    cohort__parking_ref(&latch->parking);
    return latch;
}

void cohort_latch_unref(cohort_latch *latch)
{
    if (!latch)
        return;
    cohort__parking_check(&latch->parking, "latch", "cohort_latch_unref");
    cohort__parking_unref(&latch->parking, &latch->waiting, 1, NULL);
}

cohort_status cohort_latch_count_down(cohort_latch *latch, uint64_t count)
{
    const char *name = "cohort_latch_count_down";
    struct cohort__parking_list to_wake = {0};
    if (!latch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: latch is NULL", name);
    cohort__parking_check(&latch->parking, "latch", name);
    pthread_mutex_lock(&latch->parking.lock);
    uint64_t left = latch->count;
    if (count <= left)
        latch->count -= count;
    while (latch->count == 0 && cohort__parking_serve(&latch->waiting, COHORT_OK, &to_wake))
        ;
    pthread_mutex_unlock(&latch->parking.lock);
    cohort__parking_wake(&to_wake);
    return count <= left ? COHORT_OK
                         : cohort_fail(COHORT_ERR_STATE, "%s: by %llu, but only %llu are left",
                                       name, (unsigned long long)count, (unsigned long long)left);
}

cohort_status cohort_latch_wait(cohort_latch *latch, uint64_t nanoseconds)
{
    const char *name = "cohort_latch_wait";
    const void *caller = __builtin_return_address(0);
    if (!latch)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: latch is NULL", name);
    cohort__parking_check(&latch->parking, "latch", name);
    pthread_mutex_lock(&latch->parking.lock);
    if (latch->count == 0) {
        pthread_mutex_unlock(&latch->parking.lock);
        return COHORT_OK;
    }
    struct cohort__parked parked = {0};
    struct cohort__parking_terms terms = {.function = name,
                                          .caller = caller,
                                          .what = (uintptr_t)latch + COHORT__WAIT_LATCH,
                                          .nanoseconds = nanoseconds};
    return cohort__parking_wait(&latch->parking, &latch->waiting, &parked, &terms);
}
