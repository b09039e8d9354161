/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

cohort_future *cohort_barrier(cohort_comm *comm, uint64_t generation)
{
    return cohort__call_start(&(struct cohort__call){
        .function = "cohort_barrier",
        .collective = COHORT__BARRIER,
        .comm = comm,
        .generation = generation,
    });
}
