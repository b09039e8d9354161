/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/race.h"

cohort_future *cohort_when_some(cohort_future *const *futures, size_t count, size_t wanted,
                                size_t *ret_indices)
{
    const char *name = "cohort_when_some";
    cohort_future *refused = NULL;
    if (count > 0)
        refused = cohort__futures_check(futures, count, name, __builtin_return_address(0));
    if (refused)
        return refused;
    if (wanted > 0 && wanted <= count)
        return cohort__race(futures, count, wanted, ret_indices, false);
    cohort__futures_unref(futures, count);
    if (wanted == 0)
        return cohort_future_of_value(NULL);
    return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: %zu futures wanted of %zu", name,
                                  wanted, count);
}
