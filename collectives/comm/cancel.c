/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cohort/comm.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_misuse.h"
#include "collectives/comm/verdict.h"
#include "runtime/task/fork.h"

cohort_status cohort_comm_cancel(cohort_comm *comm, uint64_t generation)
{
    cohort__endpoint_check(comm, "cohort_comm_cancel");
    if (!comm)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_comm_cancel: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refuse("cohort_comm_cancel");
    if (generation == 0 || generation > COHORT__GENERATION_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_comm_cancel: communicator \"%.60s\", site %" PRIu32
                           ": there is no generation %" PRIu64,
                           cohort_comm_name(comm), comm->this_site, generation);
    const struct cohort__plea plea = {.kind = COHORT__PLEA_CANCEL, .site = comm->this_site};
    return cohort__verdict_ask(comm->group, generation, &plea);
}
