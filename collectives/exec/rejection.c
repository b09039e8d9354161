/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/rejection.h"

#include <inttypes.h>

#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/plan_cache.h"
#include "runtime/base/slab.h"
#include "runtime/task/future.h"

struct rejection {
    struct cohort__operation operation; /* first */
    struct cohort__error why;
};

static void start(struct cohort__operation *operation)
{
    cohort__operation_fail(operation, &((struct rejection *)operation)->why);
}

static void fail(struct cohort__operation *operation)
{
    cohort__failure_tell(operation, true);
    cohort__operation_ended(operation);
}

static void release(struct cohort__operation *operation)
{
    struct rejection *rejection = (struct rejection *)operation;
    cohort__error_fini(&rejection->why);
    cohort__slab_free(rejection);
}

/* The operation ends when it starts, so no other event comes to it. */
static const struct cohort__operation_handlers handlers = {
    .start = start,
    .fail = fail,
    .release = release,
};

cohort_future *cohort__rejection_start(struct cohort_comm *comm, uint64_t generation,
                                       const struct cohort__signature *signature,
                                       const struct cohort__error *error, cohort_future **ret_rows)
{
    for (uint32_t row = 0; ret_rows && row < cohort_comm_num_sites(comm); row++)
        ret_rows[row] = cohort__future_of_status(error->status, error);
    cohort_future *future = cohort__future_create_about(COHORT__WAIT_COLLECTIVE);
    struct rejection *rejection = future ? cohort__slab_alloc(sizeof(*rejection)) : NULL;
    if (!rejection) {
        cohort__endpoint_leave_out(comm, generation);
        if (future)
            cohort__future_complete(future, error->status, error);
        return future ? future : cohort__future_of_status(error->status, error);
    }
    rejection->operation = (struct cohort__operation){
        .handlers = &handlers,
        .comm = comm,
        .future = future,
        .generation = generation,
        .fingerprint = cohort__fingerprint(signature),
    };
    rejection->operation.signature = *signature;
    rejection->why = (struct cohort__error){0};
    cohort__error_copy(&rejection->why, error);
    cohort__operation_call(&rejection->operation);
    return future;
}

cohort_future *cohort__rejection_no_memory(const struct cohort__planned_call *planned,
                                           const char *why)
{
    struct cohort__operation *sequel = planned->sequel;
    struct cohort__error error = {0};
    cohort__call_error(planned->comm, planned->generation, &planned->signature,
                       COHORT_ERR_NO_MEMORY, why, &error);
    cohort_future *future = cohort__rejection_start(planned->comm, planned->generation,
                                                    &planned->signature, &error, planned->ret_rows);
    if (sequel) {
        sequel->failure = error;
        sequel->handlers->release(sequel);
    }
    cohort__error_fini(&error);
    return future;
}
