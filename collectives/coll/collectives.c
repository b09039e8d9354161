/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives with blocks of elements, as the program calls them: each says what is special
 * about its call, and starts it. */
#include "cohort/collectives.h"
#include "cohort/ragged.h"
#include "collectives/coll/call_start.h"

/* Starts CALL, of which this is the rest. Inline, so that what a collective has is known when the
 * library is compiled. */
__attribute__((always_inline)) static inline cohort_future *
start(struct cohort__call *call, cohort_comm *comm, const void *in, void *out, size_t count,
      cohort_datatype datatype, uint64_t generation)
{
    call->comm = comm;
    call->in = in;
    call->out = out;
    call->count = count;
    call->datatype = datatype;
    call->generation = generation;
    cohort__call_take_form(call);
    return cohort__call_start(call);
}

cohort_future *cohort_barrier(cohort_comm *comm, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_barrier",
        .collective = COHORT__BARRIER,
        .comm = comm,
        .generation = generation,
    });
}

cohort_future *cohort_broadcast_to(cohort_comm *comm, const void *in, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_broadcast_to",
                                        .collective = COHORT__BROADCAST,
                                        .role = COHORT__ROLE_ROOT},
                 comm, in, NULL, count, datatype, generation);
}

cohort_future *cohort_broadcast_from(cohort_comm *comm, void *out, size_t count,
                                     cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_broadcast_from",
                                        .collective = COHORT__BROADCAST,
                                        .role = COHORT__ROLE_NON_ROOT},
                 comm, NULL, out, count, datatype, generation);
}

cohort_future *cohort_reduce_here(cohort_comm *comm, const void *in, void *out, size_t count,
                                  cohort_datatype datatype, const cohort_op *op,
                                  uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_reduce_here",
                                        .collective = COHORT__REDUCE,
                                        .role = COHORT__ROLE_ROOT,
                                        .op = op},
                 comm, in, out, count, datatype, generation);
}

cohort_future *cohort_reduce_there(cohort_comm *comm, const void *in, size_t count,
                                   cohort_datatype datatype, const cohort_op *op,
                                   uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_reduce_there",
                                        .collective = COHORT__REDUCE,
                                        .role = COHORT__ROLE_NON_ROOT,
                                        .op = op},
                 comm, in, NULL, count, datatype, generation);
}

cohort_future *cohort_all_reduce(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, const cohort_op *op, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_all_reduce",
                                        .collective = COHORT__ALL_REDUCE,
                                        .op = op},
                 comm, in, out, count, datatype, generation);
}

cohort_future *cohort_reduce_scatter(cohort_comm *comm, const void *in, void *out, size_t count,
                                     cohort_datatype datatype, const cohort_op *op,
                                     uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_reduce_scatter",
                                        .collective = COHORT__REDUCE_SCATTER,
                                        .op = op},
                 comm, in, out, count, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_reduce_scatterv",
                                        .collective = COHORT__REDUCE_SCATTER,
                                        .op = op,
                                        .ragged = &ragged},
                 comm, in, out, comm && counts ? counts[cohort_comm_this_site(comm)] : 0, datatype,
                 generation);
}

cohort_future *cohort_scan(cohort_comm *comm, const void *in, void *out, size_t count,
                           cohort_datatype datatype, const cohort_op *op, uint64_t generation)
{
    return start(
        &(struct cohort__call){.function = "cohort_scan", .collective = COHORT__SCAN, .op = op},
        comm, in, out, count, datatype, generation);
}

cohort_future *cohort_exclusive_scan(cohort_comm *comm, const void *in, void *out, size_t count,
                                     cohort_datatype datatype, const cohort_op *op,
                                     uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_exclusive_scan",
                                        .collective = COHORT__EXCLUSIVE_SCAN,
                                        .op = op},
                 comm, in, out, count, datatype, generation);
}

cohort_future *cohort_gather_here(cohort_comm *comm, const void *in, void *out, size_t count,
                                  cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_gather_here",
                                        .collective = COHORT__GATHER,
                                        .role = COHORT__ROLE_ROOT},
                 comm, in, out, count, datatype, generation);
}

cohort_future *cohort_gather_there(cohort_comm *comm, const void *in, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_gather_there",
                                        .collective = COHORT__GATHER,
                                        .role = COHORT__ROLE_NON_ROOT},
                 comm, in, NULL, count, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_gatherv_here",
                                        .collective = COHORT__GATHER,
                                        .role = COHORT__ROLE_ROOT,
                                        .ragged = &ragged},
                 comm, in, out, in_count, datatype, generation);
}

cohort_future *cohort_gatherv_there(cohort_comm *comm, const void *in, size_t count,
                                    cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {.variant = COHORT__VARIANT_COUNTS};
    return start(&(struct cohort__call){.function = "cohort_gatherv_there",
                                        .collective = COHORT__GATHER,
                                        .role = COHORT__ROLE_NON_ROOT,
                                        .ragged = &ragged},
                 comm, in, NULL, count, datatype, generation);
}

cohort_future *cohort_scatter_to(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_scatter_to",
                                        .collective = COHORT__SCATTER,
                                        .role = COHORT__ROLE_ROOT},
                 comm, in, out, count, datatype, generation);
}

cohort_future *cohort_scatter_from(cohort_comm *comm, void *out, size_t count,
                                   cohort_datatype datatype, uint64_t generation)
{
    return start(&(struct cohort__call){.function = "cohort_scatter_from",
                                        .collective = COHORT__SCATTER,
                                        .role = COHORT__ROLE_NON_ROOT},
                 comm, NULL, out, count, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_scatterv_to",
                                        .collective = COHORT__SCATTER,
                                        .role = COHORT__ROLE_ROOT,
                                        .ragged = &ragged},
                 comm, in, out, out_count, datatype, generation);
}

cohort_future *cohort_scatterv_from(cohort_comm *comm, void *out, size_t count,
                                    cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {.variant = COHORT__VARIANT_COUNTS};
    return start(&(struct cohort__call){.function = "cohort_scatterv_from",
                                        .collective = COHORT__SCATTER,
                                        .role = COHORT__ROLE_NON_ROOT,
                                        .ragged = &ragged},
                 comm, NULL, out, count, datatype, generation);
}

cohort_future *cohort_all_gather(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return start(
        &(struct cohort__call){.function = "cohort_all_gather", .collective = COHORT__ALL_GATHER},
        comm, in, out, count, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_all_gatherv",
                                        .collective = COHORT__ALL_GATHER,
                                        .ragged = &ragged},
                 comm, in, out, comm && counts ? counts[cohort_comm_this_site(comm)] : 0, datatype,
                 generation);
}

cohort_future *cohort_all_to_all(cohort_comm *comm, const void *in, void *out, size_t count,
                                 cohort_datatype datatype, uint64_t generation)
{
    return start(
        &(struct cohort__call){.function = "cohort_all_to_all", .collective = COHORT__ALL_TO_ALL},
        comm, in, out, count, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_all_to_allv",
                                        .collective = COHORT__ALL_TO_ALL,
                                        .ragged = &ragged},
                 comm, in, out, 0, datatype, generation);
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
    return start(&(struct cohort__call){.function = "cohort_all_to_allw",
                                        .collective = COHORT__ALL_TO_ALL,
                                        .ragged = &ragged},
                 comm, in, out, 0, 0, generation);
}

cohort_future *cohort_shift(cohort_comm *comm, const void *in, void *out, size_t count,
                            cohort_datatype datatype, int64_t q, uint64_t generation)
{
    return start(
        &(struct cohort__call){.function = "cohort_shift", .collective = COHORT__SHIFT, .q = q},
        comm, in, out, count, datatype, generation);
}

cohort_future *cohort_check_rooted(cohort_comm *comm, cohort_datatype datatype, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_check_rooted",
        .collective = COHORT__CHECK,
        .comm = comm,
        .datatype = datatype,
        .generation = generation,
    });
}
