/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_all_reduce(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, const cohort_op *op, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_reduce",
        .collective = COHORT__ALL_REDUCE,
        .in_place = COHORT__IN_PLACE_ALL,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = count,
        .datatype = datatype,
        .op = op,
        .generation = generation,
    });
}
