/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, spread: the rounds of all_to_all/linear.c, with at most four of them under way. The
 * message of round j is sent when those of round j - 4 have been sent and received. So a site is
 * sent few blocks at a time, and a late site does not delay all others at once as in
 * all_to_all/pairwise.c.
 * Cost: (t_s + t_w m)(N-1); N-1 messages out of and into each site, one block each. TMP: none.
 * Source: Thakur, Rabenseifner, Gropp (IJHPCA 2005), medium messages; the window is that of MPICH's
 * scattered all-to-all, but sliding instead of in batches. */
#include "collectives/algo/pattern/all_to_all_direct.h"
#include "collectives/algo/table.h"

enum { WINDOW = 4 };

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_to_all_direct(request, "all_to_all_spread", COHORT__PARTNERS_BY_OFFSET,
                                     WINDOW, ret_plan);
}

const struct cohort__algorithm cohort__all_to_all_spread = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "spread",
    .ragged = true,
    .build = build,
    .cost = cohort__all_to_all_direct_cost,
};
