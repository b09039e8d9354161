/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "cohort/ragged.h"
#include "collectives/coll/call_start.h"

cohort_future *cohort_all_gather(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_gather",
        .collective = COHORT__ALL_GATHER,
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

cohort_future *cohort_all_gatherv(cohort_comm *comm, const void *in, void *out,
                                  const size_t *counts, const size_t *displacements,
                                  cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .counts_agree = true,
        .out = {.name = "counts", .counts = counts, .displacements = displacements},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_gatherv",
        .collective = COHORT__ALL_GATHER,
        .in_place = COHORT__IN_PLACE_OWN,
        .needs_in = true,
        .needs_out = true,
        .has_rows = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = comm && counts ? counts[cohort_comm_this_site(comm)] : 0,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}
