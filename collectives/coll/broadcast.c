/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_broadcast_to(cohort_comm *comm, const void *in, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_broadcast_to",
        .collective = COHORT__BROADCAST,
        .role = COHORT__ROLE_ROOT,
        .needs_in = true,
        .comm = comm,
        .in = in,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}

cohort_future *cohort_broadcast_from(cohort_comm *comm, void *out, size_t count,
                                     cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_broadcast_from",
        .collective = COHORT__BROADCAST,
        .role = COHORT__ROLE_NON_ROOT,
        .needs_out = true,
        .comm = comm,
        .out = out,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}
