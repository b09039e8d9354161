/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/needs.h"

#include <stdint.h>

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

/* How many blocks a row has at one site, at most. The root of a linear reduction has one of each
 * site. If a site's data is itself a vector of blocks, such a root, or a leader for its group, has
 * that of each site. */
static size_t most_blocks(enum cohort__collective collective, size_t num_sites)
{
    bool is_square = collective == COHORT__ALL_TO_ALL || collective == COHORT__REDUCE_SCATTER;
    return is_square ? num_sites * num_sites : num_sites;
}

bool cohort__sizes_fit(enum cohort__collective collective, uint32_t num_sites, size_t count,
                       size_t element)
{
    size_t bytes;
    return !__builtin_mul_overflow(count, element, &bytes) &&
           !__builtin_mul_overflow(bytes, most_blocks(collective, num_sites), &bytes) &&
           bytes <= PTRDIFF_MAX / 4;
}
