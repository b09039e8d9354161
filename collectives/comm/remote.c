/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/remote.h"

#include <string.h>

#include "runtime/proc/send.h"
#include "runtime/wire/pack.h"

/* Fills in the fields that every message has. */
static void address(const struct cohort__group *group, uint32_t from, uint32_t to,
                    struct cohort__envelope *envelope)
{
    envelope->kind = COHORT__KIND_DATA;
    envelope->instance = group->membership->instance;
    envelope->source_site = from;
    envelope->dest_site = to;
}

void cohort__remote_send(const struct cohort__group *group, uint32_t from, uint32_t to,
                         struct cohort__send *send)
{
    address(group, from, to, &send->envelope);
    cohort__send_start(group->commons->process, group->membership->locality_of[to], send);
}

bool cohort__remote_try(const struct cohort__group *group, uint32_t from, uint32_t to,
                        struct cohort__envelope *envelope, const void *payload, size_t bytes)
{
    address(group, from, to, envelope);
    return cohort__send_try(group->commons->process, group->membership->locality_of[to], envelope,
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

static cohort_status fail_revoked(const struct cohort__group *group)
{
    uint32_t site = atomic_load(&group->membership->revoked_by) - 1;
    return cohort_fail(COHORT_ERR_REVOKED, "site %u (locality %u) has revoked the communicator",
                       site, group->membership->locality_of[site]);
}

cohort_status cohort__remote_lost(const struct cohort__group *group, uint32_t site)
{
    if (cohort__remote_is_revoked(group))
        return fail_revoked(group);
    bool is_dead =
        cohort__process_check_dead(group->commons->process, group->membership->locality_of[site]);
    return is_dead ? COHORT_ERR_PEER_DIED : COHORT_OK;
}

/* The first death of a locality with sites of GROUP behind the death with the order AFTER. */
static bool find_death(const struct cohort__group *group, uint32_t after, uint32_t *ret_site,
                       struct cohort__death *ret_death)
{
    bool any = false;
    if (group->is_whole || !cohort__process_any_dead(group->commons->process))
        return false;
    for (uint32_t i = 0; i < group->num_localities; i++) {
        uint32_t site = cohort__group_first_site(group, i);
        struct cohort__death death;
        if (!cohort__process_death_of(group->commons->process, group->membership->locality_of[site],
                                      &death) ||
            death.order <= after || (any && death.order >= ret_death->order))
            continue;
        *ret_site = site;
        *ret_death = death;
        any = true;
    }
    return any;
}

bool cohort__remote_first_death(const struct cohort__group *group, uint32_t *ret_site,
                                struct cohort__death *ret_death)
{
    return find_death(group, 0, ret_site, ret_death);
}

cohort_status cohort__remote_broken(const struct cohort__group *group)
{
    return cohort__remote_broken_after(group, 0);
}

cohort_status cohort__remote_broken_after(const struct cohort__group *group, uint32_t after)
{
    uint32_t site;
    struct cohort__death death;
    if (cohort__remote_is_revoked(group))
        return fail_revoked(group);
    if (!find_death(group, after, &site, &death))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_PEER_DIED, "site %u is lost: locality %u %s", site, death.rank,
                       death.why);
}

static void send_away(struct cohort__group *group, uint32_t site,
                      const struct cohort__message *message, uint64_t handle)
{
    struct cohort__packer packer = {0};
    uint32_t dead_site;
    struct cohort__death death;
    bool knows_death = cohort__message_carries_death(message) &&
                       cohort__remote_first_death(group, &dead_site, &death);
    cohort__message_pack(message, knows_death ? &death : NULL, &packer);
    struct cohort__envelope envelope = {
        .kind = message->kind,
        .instance = group->membership->instance,
        .generation = message->generation,
        .source_site = message->source_site,
        .dest_site = site,
        .fingerprint = message->fingerprint,
        .tag = message->tag,
        .handle = message->kind == COHORT__KIND_ANSWER ? message->last_called : handle,
    };
    if (cohort__message_carries_death(message))
        envelope.fingerprint = atomic_load(&group->membership->revoked_by);
    /* Who reads a message that lacks its words says so. One that never came would be waited for. */
    cohort__send_control(group->commons->process, group->membership->locality_of[site], &envelope,
                         packer.data, packer.status ? 0 : packer.bytes);
    cohort__packer_fini(&packer);
}

void cohort__mail_send(struct cohort__group *group, uint32_t site, struct cohort__message *message,
                       uint64_t handle)
{
    if (cohort__group_is_local(group, site)) {
        cohort__group_deliver(group, site, message);
        return;
    }
    send_away(group, site, message, handle);
    cohort__message_release(message);
}
