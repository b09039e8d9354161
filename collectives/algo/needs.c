/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/needs.h"

const char cohort__needs_power_of_two[] = "a power of two sites";

bool cohort__is_power_of_two(const struct cohort__request *request)
{
    return (request->num_sites & (request->num_sites - 1)) == 0;
}

const char cohort__needs_commutative[] = "a commutative operation";

bool cohort__is_commutative(const struct cohort__request *request)
{
    return request->commutative;
}
