/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/race.h"

cohort_future *cohort_when_any(cohort_future *const *futures, size_t count, size_t *ret_index)
{
    const char *name = "cohort_when_any";
    if (count == 0)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no futures", name);
    cohort_future *refused =
        cohort__futures_check(futures, count, name, __builtin_return_address(0));
    if (refused)
        return refused;
    return cohort__race(futures, count, 1, ret_index, true);
}
