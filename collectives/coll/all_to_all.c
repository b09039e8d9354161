/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "cohort/ragged.h"
#include "collectives/coll/call_start.h"

cohort_future *cohort_all_to_all(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_to_all",
        .collective = COHORT__ALL_TO_ALL,
        .in_place = COHORT__IN_PLACE_ALL,
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

cohort_future *cohort_all_to_allv(cohort_comm *comm, const void *in, const size_t *in_counts,
                                  const size_t *in_displacements, void *out,
                                  const size_t *out_counts, const size_t *out_displacements,
                                  cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .is_in_place_of_out = true,
        .in = {.name = "in_counts", .counts = in_counts, .displacements = in_displacements},
        .out = {.name = "out_counts", .counts = out_counts, .displacements = out_displacements},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_to_allv",
        .collective = COHORT__ALL_TO_ALL,
        .in_place = COHORT__IN_PLACE_ALL,
        .needs_in = true,
        .needs_out = true,
        .has_rows = true,
        .comm = comm,
        .in = in,
        .out = out,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}

cohort_future *cohort_all_to_allw(cohort_comm *comm, const void *in, const size_t *in_counts,
                                  const size_t *in_displacements, const cohort_datatype *in_types,
                                  void *out, const size_t *out_counts,
                                  const size_t *out_displacements, const cohort_datatype *out_types,
                                  uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_TYPES,
        .is_in_place_of_out = true,
        .in = {.name = "in_counts",
               .counts = in_counts,
               .displacements = in_displacements,
               .types = in_types},
        .out = {.name = "out_counts",
                .counts = out_counts,
                .displacements = out_displacements,
                .types = out_types},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_all_to_allw",
        .collective = COHORT__ALL_TO_ALL,
        .in_place = COHORT__IN_PLACE_ALL,
        .needs_in = true,
        .needs_out = true,
        .has_rows = true,
        .comm = comm,
        .in = in,
        .out = out,
        .generation = generation,
        .ragged = &ragged,
    });
}
