/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/join.h"

/* The owner of the join is the future that cohort_when_all has returned. */
static void complete(struct cohort__join *join)
{
    struct cohort__error error = {0};
    cohort_future *result = join->owner;
    cohort__inputs_end(&join->inputs);
    const cohort_future *failed = cohort__join_failed(join);
    if (failed)
        cohort__future_error(failed, &error);
    cohort__join_destroy(join);
    cohort__future_complete(result, error.status, &error);
    cohort__error_fini(&error);
}

cohort_future *cohort_when_all(cohort_future *const *futures, size_t count)
{
    if (count == 0)
        return cohort_future_of_value(NULL);
    const char *name = "cohort_when_all";
    const void *caller = __builtin_return_address(0);
    cohort_future *refused = cohort__futures_check(futures, count, name, caller);
    if (refused)
        return refused;
    cohort_future *result = cohort__future_create_about(COHORT__WAIT_SEVERAL);
    struct cohort__join *join = result ? cohort__join_create(futures, count, false) : NULL;
    if (!join) {
        cohort_future_unref(result); /* the completer's reference */
        cohort_future_unref(result);
        cohort__futures_unref(futures, count);
        return cohort__future_no_memory();
    }
    join->complete = complete;
    join->owner = result;
    cohort__join_start(join, name, caller);
    return result;
}
