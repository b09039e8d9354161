/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/quiet.h"

#include "collectives/comm/endpoint.h"

/* Whether each endpoint, at the moment it was looked at, had left and had nothing to do. */
static bool look(const struct cohort__group *group)
{
    for (uint32_t i = 0; i < group->local.num; i++) {
        const struct cohort_comm *comm = cohort__endpoint_at(group, group->local.sites[i]);
        if (comm && !(atomic_load(&comm->finished) && cohort__actor_is_idle(&comm->actor)))
            return false;
    }
    return true;
}

/* Endpoints are looked at one after the other. So one look can miss an item that goes from an
 * endpoint not yet looked at to one already looked at. But an endpoint that has left sends only
 * answers, and an answer causes no other message. After a look that finds all endpoints finished,
 * the only new items are answers to messages that were under way. After the second look, all these
 * answers have been sent. The third look finds them.
 *
 * Any other thread that could cause something has a reference, and none can get one now. A thread
 * that has just ended the turn of an endpoint has a reference, too, from before the queue was
 * released (actor.c). It gives it back after these looks if it has not finished, and then comes
 * here. */
bool cohort__quiet_has_come(const struct cohort__group *group)
{
    return atomic_load(&group->refs) == 0 && look(group) && look(group) && look(group) &&
           atomic_load(&group->refs) == 0;
}
