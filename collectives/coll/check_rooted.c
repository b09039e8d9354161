/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"

#include "collectives/coll/call_start.h"

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
