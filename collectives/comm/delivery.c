/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/delivery.h"

#include "collectives/comm/channel.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/reception.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/container.h"
#include "runtime/base/log.h"

void cohort__delivery_run(struct cohort__actor *actor, struct cohort__item *item)
{
    cohort__endpoint_receive(cohort__endpoint_of(actor),
                             COHORT_CONTAINER_OF(item, struct cohort__message, item));
}

/* A failure that all sites of this locality have to be told, or a part of a verdict. */
static bool arrive_for_all(struct cohort__group *group, struct cohort__arrival *arrival)
{
    if (arrival->envelope.kind == COHORT__KIND_VERDICT)
        return cohort__verdict_arrive(group, arrival);
    struct cohort__message *message = cohort__message_from_arrival(arrival);
    if (message)
        cohort__failure_tell_sites(group, message, message->source_site);
    else
        cohort__log(COHORT__LOG_ERROR, "communicator \"%s\": lost a message to all sites: %s",
                    group->name, cohort_error_message());
    cohort__message_release(message);
    return message != NULL;
}

/* Mostly the endpoint's turn can begin at once, and a get waits for the message. */
bool cohort__delivery_arrive(struct cohort__group *group, struct cohort__arrival *arrival)
{
    uint32_t site = arrival->envelope.dest_site;
    if (site == COHORT__NO_SITE)
        return arrive_for_all(group, arrival);
    struct cohort__actor *actor =
        atomic_load_explicit(&group->endpoints[site], memory_order_acquire);
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    bool is_turn = actor && cohort__actor_turn_begin(actor);
    bool is_taken =
        is_turn && arrival->envelope.generation == 0 && cohort__channels_take(comm, arrival);
    struct cohort__message *message = is_taken ? NULL : cohort__message_from_arrival(arrival);
    if (message && is_turn) {
        message->item.run = cohort__delivery_run; /* later, if it is early */
        cohort__endpoint_receive(comm, message);
    } else if (message) {
        cohort__group_deliver(group, site, message);
    } else if (!is_taken) {
        cohort__log(COHORT__LOG_ERROR, "communicator \"%s\": lost a message to site %u: %s",
                    group->name, site, cohort_error_message());
    }
    if (is_turn)
        cohort__actor_turn_end(actor);
    return message || is_taken;
}
