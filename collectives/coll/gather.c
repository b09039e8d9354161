/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_gather_here(cohort_comm *comm, const void *in, void *out, size_t count,
                                  cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_gather_here",
        .collective = COHORT__GATHER,
        .role = COHORT__ROLE_ROOT,
        .in_place = COHORT__IN_PLACE_OWN,
        .needs_in = true,
        .needs_out = true,
        .has_rows = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}

cohort_future *cohort_gather_there(cohort_comm *comm, const void *in, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_gather_there",
        .collective = COHORT__GATHER,
        .role = COHORT__ROLE_NON_ROOT,
        .needs_in = true,
        .comm = comm,
        .in = in,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}
