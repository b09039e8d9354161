/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_shift(cohort_comm *comm, const void *in, void *out, size_t count,
                            cohort_datatype datatype, int64_t q, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_shift",
        .collective = COHORT__SHIFT,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .count = count,
        .datatype = datatype,
        .q = q,
        .generation = generation,
    });
}
