/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/choice.h"

#include "collectives/comm/endpoint.h"

cohort_status cohort__choice_question(cohort_comm *comm, const struct cohort__request *request,
                                      struct cohort__question *ret_question)
{
    const struct cohort__tuning *tuning;
    struct cohort__forced forced = comm->forced[request->collective];
    cohort_status status = cohort__tuning_get(comm, &tuning);
    if (status)
        return status;
    *ret_question = (struct cohort__question){
        .request = request,
        .parameters = &tuning->parameters,
        .placement = &tuning->placement,
        .mode = comm->is_flat          ? COHORT__MODE_FLAT
                : comm->is_tree_forced ? COHORT__MODE_TREE
                                       : COHORT__MODE_ANY,
        .forced = forced.row ? cohort__algorithms[forced.row - 1] : NULL,
        .forced_inner = forced.inner,
        .is_reproducible = comm->reproducible,
        .memory_budget = comm->memory_budget,
    };
    return COHORT_OK;
}
