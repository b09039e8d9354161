/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "cohort/ragged.h"
#include "collectives/coll/call_start.h"

cohort_future *cohort_scatter_to(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_scatter_to",
        .collective = COHORT__SCATTER,
        .role = COHORT__ROLE_ROOT,
        .in_place = COHORT__IN_PLACE_OUT,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}

cohort_future *cohort_scatter_from(cohort_comm *comm, void *out, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_scatter_from",
        .collective = COHORT__SCATTER,
        .role = COHORT__ROLE_NON_ROOT,
        .needs_out = true,
        .comm = comm,
        .out = out,
        .count = count,
        .datatype = datatype,
        .generation = generation,
    });
}

cohort_future *cohort_scatterv_to(cohort_comm *comm, const void *in, const size_t *counts,
                                  const size_t *displacements, void *out, size_t out_count,
                                  cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .checks_own = true,
        .in = {.name = "counts", .counts = counts, .displacements = displacements},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_scatterv_to",
        .collective = COHORT__SCATTER,
        .role = COHORT__ROLE_ROOT,
        .in_place = COHORT__IN_PLACE_OUT,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = out_count,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}

cohort_future *cohort_scatterv_from(cohort_comm *comm, void *out, size_t count,
                                    cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {.variant = COHORT__VARIANT_COUNTS};
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_scatterv_from",
        .collective = COHORT__SCATTER,
        .role = COHORT__ROLE_NON_ROOT,
        .needs_out = true,
        .comm = comm,
        .out = out,
        .count = count,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}
