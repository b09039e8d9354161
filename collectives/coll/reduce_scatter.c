/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_reduce_scatter(cohort_comm *comm, const void *in, void *out, size_t count,
                                     cohort_datatype datatype, const cohort_op *op,
                                     uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_reduce_scatter",
        .collective = COHORT__REDUCE_SCATTER,
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

cohort_future *cohort_reduce_scatterv(cohort_comm *comm, const void *in, void *out,
                                      const size_t *counts, cohort_datatype datatype,
                                      const cohort_op *op, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .counts_agree = true,
        .in = {.name = "counts", .counts = counts},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_reduce_scatterv",
        .collective = COHORT__REDUCE_SCATTER,
        .in_place = COHORT__IN_PLACE_ALL,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = comm && counts ? counts[cohort_comm_this_site(comm)] : 0,
        .datatype = datatype,
        .op = op,
        .generation = generation,
        .ragged = &ragged,
    });
}
