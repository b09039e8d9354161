/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/ragged.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_exchange(cohort_comm *comm, const void *in, const cohort_neighbour *to,
                               size_t num_to, void *out, const cohort_neighbour *from,
                               size_t num_from, cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .is_graph = true,
        .in = {.name = "to", .neighbours = to, .num_neighbours = num_to},
        .out = {.name = "from", .neighbours = from, .num_neighbours = num_from},
    };
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_exchange",
        .collective = COHORT__EXCHANGE,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .datatype = datatype,
        .generation = generation,
        .ragged = &ragged,
    });
}
