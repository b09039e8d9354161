/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/failure.h"

#include "collectives/comm/early.h"
#include "collectives/comm/endpoint.h"
#include "runtime/proc/send.h"
#include "runtime/wire/pack.h"

void cohort__failure_tell_sites(struct cohort__group *group, const struct cohort__message *failure,
                                uint32_t source_site)
{
    for (uint32_t i = 0; i < group->local.num; i++) {
        uint32_t site = group->local.sites[i];
        if (site == source_site)
            continue;
        struct cohort__message *message =
            cohort__message_create(COHORT__KIND_ERROR, source_site, failure->generation,
                                   failure->fingerprint, COHORT__TAG_CALL);
        if (!message)
            return; /* without memory: the other sites will ask */
        cohort__error_copy(&message->error, &failure->error);
        cohort__group_deliver(group, site, message);
    }
}

/* Tells each other locality that has sites of the group. */
static void tell_localities(const struct cohort__operation *operation,
                            const struct cohort__packer *words)
{
    const struct cohort__group *group = operation->comm->group;
    const struct cohort__membership *membership = group->membership;
    struct cohort__process *process = group->commons->process;
    for (uint32_t i = 0; i < group->num_localities; i++) {
        uint32_t rank = membership->locality_of[cohort__group_first_site(group, i)];
        if (rank == group->rank)
            continue;
        cohort__send_control(process, rank,
                             &(struct cohort__envelope){
                                 .kind = COHORT__KIND_ERROR,
                                 .instance = membership->instance,
                                 .generation = operation->generation,
                                 .source_site = operation->comm->this_site,
                                 .dest_site = COHORT__NO_SITE,
                                 .fingerprint = operation->fingerprint,
                                 .tag = COHORT__TAG_CALL,
                             },
                             words->data, words->bytes);
    }
}

void cohort__failure_tell(struct cohort__operation *operation, bool is_for_all)
{
    struct cohort_comm *comm = operation->comm;
    if (operation->are_all_told || cohort__early_is_told(comm, operation->generation))
        return;
    const struct cohort__message failure = {.generation = operation->generation,
                                            .fingerprint = operation->fingerprint,
                                            .error = operation->failure};
    cohort__failure_tell_sites(comm->group, &failure, comm->this_site);
    operation->are_all_told = is_for_all; /* each segment of a call may come here */
    if (!is_for_all || comm->group->is_whole)
        return;
    struct cohort__packer words = {0};
    cohort__message_pack_error(&words, &operation->failure);
    if (!words.status) /* without memory for it, the other sites will ask */
        tell_localities(operation, &words);
    cohort__packer_fini(&words);
}
