/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/pairs.h"

#include "collectives/algo/pattern/cost.h"

struct cohort__pairs cohort__pairs_of(uint32_t num_sites, uint32_t this_site)
{
    struct cohort__pairs pairs = {.num_ranks = 1U << cohort__log2_floor(num_sites)};
    pairs.num_spare = num_sites - pairs.num_ranks;
    bool is_paired = this_site / 2 < pairs.num_spare;
    pairs.is_spare = is_paired && this_site % 2 == 1;
    pairs.has_spare = is_paired && this_site % 2 == 0;
    pairs.this_rank = is_paired ? this_site / 2 : this_site - pairs.num_spare;
    return pairs;
}

uint32_t cohort__pairs_site(const struct cohort__pairs *pairs, uint32_t rank)
{
    return rank < pairs->num_spare ? 2 * rank : rank + pairs->num_spare;
}
