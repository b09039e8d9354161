/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collectives/comm/channel.h"
#include "collectives/comm/endpoint_misuse.h"
#include "collectives/comm/operation.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"

enum { TEXT_BYTES = 16384 };

struct roll_call {
    struct cohort__item item;
    cohort_future *future;
};

static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct roll_call *call = COHORT_CONTAINER_OF(item, struct roll_call, item);
    char *text = malloc(TEXT_BYTES);
    size_t used = 0;
    if (text) {
        text[0] = 0;
        for (uint32_t i = 0; i < COHORT__WINDOW; i++)
            if (comm->slots[i].in_flight)
                used = comm->slots[i].in_flight->handlers->describe(comm->slots[i].in_flight, text,
                                                                    used, TEXT_BYTES);
        cohort__channels_describe(comm, text, used, TEXT_BYTES);
        cohort__future_fulfil(call->future, text);
    } else {
        cohort__future_fail(call->future, COHORT_ERR_NO_MEMORY,
                            "communicator \"%.60s\", site %u: no memory for a roll-call",
                            comm->group->name, comm->this_site);
    }
    cohort__slab_free(call);
}

cohort_future *cohort_comm_roll_call(cohort_comm *comm)
{
    cohort__endpoint_check(comm, "cohort_comm_roll_call");
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "cohort_comm_roll_call: no communicator");
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_comm_roll_call");
    struct roll_call *call = cohort__slab_alloc(sizeof(*call));
    cohort_future *future = call ? cohort__future_create() : NULL;
    if (!future) {
        cohort__slab_free(call);
        return cohort__future_no_memory();
    }
    call->item.run = run;
    call->future = future;
    cohort__endpoint_post(comm, &call->item);
    return future;
}
