/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "cohort/ragged.h"
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

cohort_future *cohort_gatherv_here(cohort_comm *comm, const void *in, size_t in_count, void *out,
                                   const size_t *counts, const size_t *displacements,
                                   cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .checks_own = true,
        .out = {.name = "counts", .counts = counts, .displacements = displacements},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_gatherv_here",
        .collective = COHORT__GATHER,
        .role = COHORT__ROLE_ROOT,
        .in_place = COHORT__IN_PLACE_OWN,
        .needs_in = true,
        .needs_out = true,
        .has_rows = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = in_count,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}

cohort_future *cohort_gatherv_there(cohort_comm *comm, const void *in, size_t count,
                                    cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {.variant = COHORT__VARIANT_COUNTS};
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_gatherv_there",
        .collective = COHORT__GATHER,
        .role = COHORT__ROLE_NON_ROOT,
        .needs_in = true,
        .comm = comm,
        .in = in,
        .count = count,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}
