/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/model/select.h"

#include "collectives/plan/partition.h"

bool cohort__select_is_flat(uint32_t num_sites, uint32_t arity, uint32_t flat_fallback_threshold)
{
    struct cohort__range all = {.first = 0, .count = num_sites};
    return num_sites < flat_fallback_threshold || cohort__partition_is_leaf(all, arity);
}

const struct cohort__algorithm *cohort__select(const struct cohort__request *request, bool flat)
{
    return cohort__algorithm_find(request->collective, flat ? "linear" : "hierarchical");
}
