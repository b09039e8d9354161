/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/error.h"
#include "runtime/task/mutex.h"
#include "runtime/task/parking.h"

struct cohort_condition {
    struct cohort__parking parking; /* first */
    struct cohort__parking_list waiting;
};

cohort_status cohort_condition_create(cohort_condition **ret_condition)
{
    const char *name = "cohort_condition_create";
    if (!ret_condition)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: ret_condition is NULL", name);
    cohort_condition *condition = cohort__parking_create(sizeof(*condition), name);
    if (!condition)
        return COHORT_ERR_NO_MEMORY;
    *ret_condition = condition;
    return COHORT_OK;
}

cohort_condition *cohort_condition_ref(cohort_condition *condition)
{
    if (!condition)
        return NULL;
    cohort__parking_check(&condition->parking, "condition", "cohort_condition_ref");
    cohort__parking_ref(&condition->parking);
    return condition;
}

void cohort_condition_unref(cohort_condition *condition)
{
    if (!condition)
        return;
    cohort__parking_check(&condition->parking, "condition", "cohort_condition_unref");
    cohort__parking_unref(&condition->parking, &condition->waiting, 1, NULL);
}

struct held {
    cohort_mutex *mutex;
    bool is_unlocked;
};

/* The caller is in the list by now, so that no signal is missed. */
static void unlock(void *arg)
{
    struct held *held = arg;
    cohort__mutex_unlock_held(held->mutex);
    held->is_unlocked = true;
}

cohort_status cohort_condition_wait(cohort_condition *condition, cohort_mutex *mutex,
                                    uint64_t nanoseconds)
{
    const char *name = "cohort_condition_wait";
    const void *caller = __builtin_return_address(0);
    if (!condition || !mutex)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: %s is NULL", name,
                           condition ? "mutex" : "condition");
    cohort__parking_check(&condition->parking, "condition", name);
    cohort__parking_check((const struct cohort__parking *)(const void *)mutex, "mutex", name);
    cohort_status status = cohort__mutex_check_held(mutex, name);
    if (status != COHORT_OK)
        return status;
    struct held held = {.mutex = mutex};
    struct cohort__parked parked = {0};
    struct cohort__parking_terms terms = {.function = name,
                                          .caller = caller,
                                          .what = (uintptr_t)condition + COHORT__WAIT_CONDITION,
                                          .nanoseconds = nanoseconds,
                                          .listed = unlock,
                                          .arg = &held};
    pthread_mutex_lock(&condition->parking.lock);
    status = cohort__parking_wait(&condition->parking, &condition->waiting, &parked, &terms);
    if (held.is_unlocked)
        cohort__mutex_lock_always(mutex, name, caller);
    return status;
}

/* Wakes up to MOST of those who wait. */
static void wake(cohort_condition *condition, uint64_t most)
{
    struct cohort__parking_list to_wake = {0};
    pthread_mutex_lock(&condition->parking.lock);
    while (most > 0 && cohort__parking_serve(&condition->waiting, COHORT_OK, &to_wake))
        most--;
    pthread_mutex_unlock(&condition->parking.lock);
    cohort__parking_wake(&to_wake);
}

void cohort_condition_signal(cohort_condition *condition)
{
    if (!condition)
        return;
    cohort__parking_check(&condition->parking, "condition", "cohort_condition_signal");
    wake(condition, 1);
}

void cohort_condition_broadcast(cohort_condition *condition)
{
    if (!condition)
        return;
    cohort__parking_check(&condition->parking, "condition", "cohort_condition_broadcast");
    wake(condition, UINT64_MAX);
}
