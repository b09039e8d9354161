/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/remote.h"

#include <string.h>

static struct cohort__process *process_of(const struct cohort_comm *comm)
{
    return comm->group->commons->process;
}

/* Fills in the fields that every message to SITE has. */
static void address(const struct cohort_comm *comm, uint32_t site,
                    struct cohort__envelope *envelope)
{
    envelope->kind = COHORT__KIND_DATA;
    envelope->instance = comm->group->membership->instance;
    envelope->source_site = comm->this_site;
    envelope->dest_site = site;
}

static void start(const struct cohort_comm *comm, uint32_t site, struct cohort__send *send)
{
    address(comm, site, &send->envelope);
    cohort__send_start(process_of(comm), comm->group->membership->locality_of[site], send);
}

void cohort__remote_send(const struct cohort__operation *operation, uint32_t site, uint32_t tag,
                         const void *payload, size_t bytes, struct cohort__send *send)
{
    send->payload = payload;
    send->bytes = bytes;
    send->envelope = (struct cohort__envelope){
        .generation = operation->generation, .fingerprint = operation->fingerprint, .tag = tag};
    start(operation->comm, site, send);
}

void cohort__remote_send_channel(const struct cohort_comm *comm, uint32_t site, uint64_t tag,
                                 uint32_t sequence, const void *payload, size_t bytes,
                                 struct cohort__send *send)
{
    send->payload = payload;
    send->bytes = bytes;
    send->envelope = (struct cohort__envelope){.fingerprint = tag, .tag = sequence};
    start(comm, site, send);
}

bool cohort__remote_try_channel(const struct cohort_comm *comm, uint32_t site, uint64_t tag,
                                uint32_t sequence, const void *payload, size_t bytes)
{
    struct cohort__envelope envelope = {.fingerprint = tag, .tag = sequence};
    address(comm, site, &envelope);
    return cohort__send_try(process_of(comm), comm->group->membership->locality_of[site], &envelope,
                            payload, bytes);
}

void cohort__remote_fetch(struct cohort__message *message, void *destination,
                          struct cohort__fetch *fetch)
{
    const struct cohort__arrival *arrival = message->arrival;
    struct cohort__process *process = arrival->process;
    fetch->rank = arrival->envelope.source_locality;
    fetch->handle = arrival->envelope.handle;
    fetch->destination = destination;
    fetch->bytes = message->bytes;
    memcpy(fetch->token.bytes, arrival->data, COHORT__NET_TOKEN_BYTES);
    message->taken_up = true;
    cohort__message_release(message);
    cohort__fetch_start(process, fetch);
}

bool cohort__remote_check_dead(const struct cohort_comm *comm, uint32_t site)
{
    return cohort__process_check_dead(process_of(comm), comm->group->membership->locality_of[site]);
}

bool cohort__remote_first_death(const struct cohort_comm *comm, uint32_t *ret_site,
                                struct cohort__death *ret_death)
{
    const struct cohort__group *group = comm->group;
    bool any = false;
    if (group->is_whole || !cohort__remote_any_dead(comm))
        return false;
    for (uint32_t i = 0; i < group->num_localities; i++) {
        uint32_t site = cohort__group_first_site(group, i);
        struct cohort__death death;
        if (!cohort__process_death_of(process_of(comm), group->membership->locality_of[site],
                                      &death) ||
            (any && death.order >= ret_death->order))
            continue;
        *ret_site = site;
        *ret_death = death;
        any = true;
    }
    return any;
}

bool cohort__remote_is_broken(const struct cohort_comm *comm)
{
    uint32_t site;
    struct cohort__death death;
    if (!cohort__remote_first_death(comm, &site, &death))
        return false;
    (void)cohort_fail(COHORT_ERR_PEER_DIED, "site %u is lost: locality %u %s", site, death.rank,
                      death.why);
    return true;
}

bool cohort__remote_any_dead(const struct cohort_comm *comm)
{
    return cohort__process_any_dead(process_of(comm));
}
