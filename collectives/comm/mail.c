/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/mail.h"

#include "collectives/comm/remote.h"
#include "runtime/proc/send.h"
#include "runtime/wire/pack.h"

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
