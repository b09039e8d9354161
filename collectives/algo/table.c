/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/table.h"

#include <string.h>

const struct cohort__algorithm *const cohort__algorithms[] = {
    &cohort__gather_linear,        &cohort__gather_hierarchical,
    &cohort__scatter_linear,       &cohort__scatter_hierarchical,
    &cohort__broadcast_linear,     &cohort__broadcast_hierarchical,
    &cohort__reduce_linear,        &cohort__reduce_hierarchical,
    &cohort__all_gather_linear,    &cohort__all_gather_hierarchical,
    &cohort__all_reduce_linear,    &cohort__all_reduce_hierarchical,
    &cohort__all_to_all_linear,    &cohort__all_to_all_hierarchical,
    &cohort__all_to_all_padded,    &cohort__barrier_linear,
    &cohort__barrier_hierarchical,
};
const uint32_t cohort__num_algorithms = sizeof(cohort__algorithms) / sizeof(cohort__algorithms[0]);

const struct cohort__algorithm *cohort__algorithm_find(enum cohort__collective collective,
                                                       const char *name)
{
    for (uint32_t i = 0; i < cohort__num_algorithms; i++)
        if (cohort__algorithms[i]->collective == collective &&
            strcmp(cohort__algorithms[i]->name, name) == 0)
            return cohort__algorithms[i];
    return NULL;
}

const char *cohort__collective_name(enum cohort__collective collective)
{
    static const char *const names[COHORT__NUM_COLLECTIVES] = {
        [COHORT__GATHER] = "gather",         [COHORT__SCATTER] = "scatter",
        [COHORT__BROADCAST] = "broadcast",   [COHORT__REDUCE] = "reduce",
        [COHORT__ALL_GATHER] = "all_gather", [COHORT__ALL_REDUCE] = "all_reduce",
        [COHORT__ALL_TO_ALL] = "all_to_all", [COHORT__BARRIER] = "barrier",
    };
    return names[collective];
}

/* The largest memory of a plan is that of two matrices of padded blocks. */
static bool fits(const struct cohort__request *request)
{
    size_t bytes;
    return !__builtin_mul_overflow(request->bytes, request->num_sites, &bytes) &&
           !__builtin_mul_overflow(bytes, request->num_sites, &bytes) && bytes <= SIZE_MAX / 8;
}

cohort_status cohort__algorithm_build(const struct cohort__algorithm *algorithm,
                                      const struct cohort__request *request,
                                      struct cohort__plan **ret_plan)
{
    const char *wrong = NULL;
    if (algorithm->collective != request->collective)
        wrong = "it is for another collective";
    else if (request->this_site >= request->num_sites)
        wrong = "no such site";
    else if (request->root >= request->num_sites)
        wrong = "no such root";
    else if (request->arity < 2)
        wrong = "the arity is below 2";
    else if (!fits(request))
        wrong = "the blocks are too large";
    if (wrong)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "algorithm %s for %s at site %u of %u, root %u, arity %u, %zu bytes: %s",
                           algorithm->name, cohort__collective_name(request->collective),
                           request->this_site, request->num_sites, request->root, request->arity,
                           request->bytes, wrong);
    return algorithm->build(request, ret_plan);
}
