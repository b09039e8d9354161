/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, pairwise: the rounds of all_to_all/linear.c, one after the other. In round j a site
 * sends to the j-th site after it and receives from the j-th site before it. So a site is never
 * sent more than one block at a time.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: Thakur, Rabenseifner, Gropp (IJHPCA 2005), long messages. */
#include "collectives/algo/pattern/all_to_all_direct.h"
#include "collectives/algo/table.h"

enum { WINDOW = 1 };

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_to_all_direct(request, "all_to_all_pairwise", COHORT__PARTNERS_BY_OFFSET,
                                     WINDOW, ret_plan);
}

const struct cohort__algorithm cohort__all_to_all_pairwise = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "pairwise",
    .ragged = true,
    .build = build,
    .cost = cohort__all_to_all_direct_cost,
};
