/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cohort/survivors.h"

#include "collectives/comm/commons.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_misuse.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/remote.h"
#include "runtime/base/container.h"
#include "runtime/task/future.h"

/* A site's revocation. It goes through the home of the communicator's name, so that all localities
 * hear of the same one, whatever becomes of the site. */
struct call {
    struct cohort__revocation revocation;
    struct cohort__group *group; /* a reference */
    cohort_future *future;       /* the reference that completes it */
};

static void on_done(struct cohort__revocation *revocation, cohort_status status)
{
    struct call *call = COHORT_CONTAINER_OF(revocation, struct call, revocation);
    cohort__future_complete(call->future, status, status ? cohort__error_slot() : NULL);
    cohort__group_unref(call->group);
    free(call);
}

cohort_future *cohort_comm_revoke(cohort_comm *comm)
{
    cohort__endpoint_check(comm, "cohort_comm_revoke");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_revoke: no communicator");
    struct cohort__group *group = comm->group;
    if (cohort__remote_is_revoked(group))
        return cohort_future_of_value(NULL);
    struct call *call = malloc(sizeof(*call));
    cohort_future *future = call ? cohort__endpoint_begin(comm, COHORT__WAIT_PLAIN) : NULL;
    if (!future) {
        free(call);
        return cohort__future_no_memory();
    }
    *call = (struct call){
        .revocation = {.membership = group->membership, .site = comm->this_site, .done = on_done},
        .group = group,
        .future = future,
    };
    cohort__group_ref(group);
    cohort__registry_revoke(cohort__process_registry(group->commons->process), &call->revocation);
    return future;
}
