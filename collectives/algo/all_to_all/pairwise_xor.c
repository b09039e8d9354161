/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, pairwise by XOR: in round j site i exchanges blocks with site i XOR j, one round
 * after the other. In a hypercube with E-cube routing no two messages of a round meet on a link.
 * Cost: (t_s + t_w m)(N-1), which is optimal in a hypercube. TMP: none.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.5.3: the optimal
 * algorithm. */
#include "collectives/algo/pattern/all_to_all_direct.h"
#include "collectives/algo/pattern/needs.h"
#include "collectives/algo/table.h"

enum { WINDOW = 1 };

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    return cohort__all_to_all_direct(request, "all_to_all_pairwise_xor", COHORT__PARTNERS_BY_XOR,
                                     WINDOW, ret_plan);
}

const struct cohort__algorithm cohort__all_to_all_pairwise_xor = {
    .collective = COHORT__ALL_TO_ALL,
    .name = "pairwise_xor",
    .ragged = true,
    .needs = cohort__needs_power_of_two,
    .accepts = cohort__is_power_of_two,
    .build = build,
    .cost = cohort__all_to_all_direct_cost,
};
