/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/message.h"
#include "runtime/base/container.h"
#include "runtime/base/ledger.h"
#include "runtime/proc/positions.h"

static struct cohort__message *unclaimed_of(struct cohort__list *same)
{
    struct cohort__tree_node *node = COHORT_CONTAINER_OF(same, struct cohort__tree_node, same);
    return COHORT_CONTAINER_OF(node, struct cohort__message, in_order);
}

/* Where the sites are. */
static cohort_status find_machine(struct cohort__group *group)
{
    const struct cohort__membership *membership = group->membership;
    const struct cohort__process *process = group->commons->process;
    struct cohort__machine_level outer[2 + COHORT__NAMED_LEVELS_MAX] = {
        {"domain", cohort__positions_domains(process)}, {"host", cohort__positions_hosts(process)}};
    uint32_t num = cohort__positions_num_levels(process);
    for (uint32_t i = 0; i < num; i++)
        outer[2 + i] = (struct cohort__machine_level){cohort__positions_level_name(process, i),
                                                      cohort__positions_level(process, i)};
    cohort_status status =
        cohort__machine_create(&group->machine, membership->locality_of, membership->num_sites,
                               cohort__process_size(process), outer, 2 + num);
    if (status)
        return status;
    group->num_localities = cohort__machine_num_subgroups(group->machine, COHORT__LEVEL_LOCALITY);
    group->max_local_sites = cohort__machine_largest(group->machine, COHORT__LEVEL_LOCALITY);
    group->is_whole = group->num_localities == 1;
    atomic_init(&group->standing,
                group->is_whole ? COHORT__STANDING_WHOLE : COHORT__STANDING_SPREAD);
    for (uint32_t i = 0; i < group->num_localities; i++)
        if (cohort__group_is_local(group, cohort__group_first_site(group, i)))
            group->local = cohort__machine_members(group->machine, COHORT__LEVEL_LOCALITY, i);
    return COHORT_OK;
}

struct cohort__children cohort__group_host_localities(const struct cohort__group *group)
{
    uint32_t host = cohort__machine_find(group->machine, "host");
    uint32_t subgroup = cohort__machine_subgroup(group->machine, host, group->local.sites[0]);
    return cohort__machine_children(group->machine, host, subgroup, COHORT__LEVEL_LOCALITY);
}

cohort_status cohort__group_hosts_sharing(const struct cohort__group *group, uint32_t *ret_sharing)
{
    const struct cohort__process *process = group->commons->process;
    const uint32_t *cores = cohort__positions_cores(process);
    uint32_t host = cohort__machine_find(group->machine, "host"), most = 0;
    uint32_t *num_hosts = calloc(cohort__process_size(process), sizeof(*num_hosts)); /* by cores */
    if (!num_hosts)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for its model",
                           group->name);
    for (uint32_t i = 0; i < cohort__machine_num_subgroups(group->machine, host); i++) {
        uint32_t site = cohort__machine_members(group->machine, host, i).sites[0];
        uint32_t num = ++num_hosts[cores[group->membership->locality_of[site]]];
        most = num > most ? num : most;
    }
    free(num_hosts);
    *ret_sharing = most;
    return COHORT_OK;
}

/* Whether this locality and NUM ones from FIRST on share memory: they all come to the same result.
 */
static bool share_memory(const struct cohort__group *group, uint32_t first, uint32_t num)
{
    const struct cohort__membership *membership = group->membership;
    bool shares = num > 1 && membership->number != COHORT__NO_NUMBER;
    for (uint32_t i = 0; shares && i < num; i++) {
        uint32_t site = cohort__group_first_site(group, first + i);
        shares = cohort__boards_shares(group->commons->process, membership->locality_of[site]);
    }
    return shares;
}

/* This locality uses nothing of the group any more. */
static void give_back(const struct cohort__group *group)
{
    if (group->has_ended)
        cohort__registry_return(cohort__process_registry(group->commons->process),
                                group->membership);
}

static void home_ref(struct cohort__actor_home *home)
{
    cohort__group_ref(COHORT_CONTAINER_OF(home, struct cohort__group, home));
}

static void home_unref(struct cohort__actor_home *home)
{
    cohort__group_unref(COHORT_CONTAINER_OF(home, struct cohort__group, home));
}

static bool take_line(struct cohort__group *group)
{
    struct cohort__group_line *line = cohort__ledger_take(COHORT__LEDGER_GROUPS);
    group->line = line;
    if (!line)
        return false;
    memcpy(line->name, group->name, sizeof(group->name));
    atomic_store_explicit(&line->num_sites, group->membership->num_sites, memory_order_relaxed);
    atomic_store_explicit(&line->rank, group->rank, memory_order_relaxed);
    atomic_store_explicit(&line->instance, group->membership->instance, memory_order_release);
    return true;
}

cohort_status cohort__group_create(struct cohort__group **ret_group,
                                   struct cohort__commons *commons, const char *name,
                                   struct cohort__membership *membership)
{
    struct cohort__group *group =
        calloc(1, sizeof(*group) + membership->num_sites * sizeof(group->endpoints[0]));
    if (!group)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory for %u sites",
                           name, membership->num_sites);
    atomic_init(&group->refs, 1);
    group->home = (struct cohort__actor_home){home_ref, home_unref};
    group->commons = commons;
    group->membership = membership;
    group->rank = cohort__process_rank(commons->process);
    snprintf(group->name, sizeof(group->name), "%s", name);
    /* Then this locality has given all back: see cohort__inbox_give_up. */
    const bool is_revoked = atomic_load(&membership->revoked_by) != 0;
    cohort_status status = find_machine(group);
    if (!status && !take_line(group))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "communicator \"%s\": no memory", name);
    if (status) {
        cohort__machine_destroy(group->machine);
        free(group);
        return status;
    }
    if (is_revoked) {
        atomic_store(&group->standing, COHORT__STANDING_REVOKED);
    } else {
        const struct cohort__children here = cohort__group_host_localities(group);
        group->has_board = share_memory(group, 0, group->num_localities);
        group->has_notes = share_memory(group, here.first, here.num);
    }
    pthread_mutex_init(&group->lock, NULL);
    cohort__list_init(&group->retired);
    *ret_group = group;
    return COHORT_OK;
}

void cohort__group_revoke(struct cohort__group *group, uint32_t site)
{
    atomic_store(&group->membership->revoked_by, site + 1);
    atomic_store(&group->standing, COHORT__STANDING_REVOKED);
}

static void annex_destroy(struct cohort__annex *annex)
{
    if (annex)
        annex->destroy(annex);
}

void cohort__group_destroy(struct cohort__group *group)
{
    cohort__group_drop_unclaimed(group);
    for (uint32_t i = 0; i < group->local.num; i++)
        group->commons->destroy(atomic_load(&group->endpoints[group->local.sites[i]]));
    for (uint32_t i = 0; i < COHORT__NUM_SUBGROUPS; i++)
        annex_destroy(atomic_load(&group->meetings[i]));
    annex_destroy(atomic_load(&group->noticeboard));
    annex_destroy(atomic_load(&group->verdicts));
    give_back(group);
    pthread_mutex_destroy(&group->lock);
    cohort__ledger_give_back(COHORT__LEDGER_GROUPS, group->line);
    cohort__membership_unref(group->membership);
    cohort__machine_destroy(group->machine);
    free(atomic_load(&group->tuning));
    free(group);
}

/* The group may be gone after the unref. */
void cohort__group_unref(struct cohort__group *group)
{
    if (!group)
        return;
    struct cohort__commons *commons = group->commons;
    uint64_t instance = group->membership->instance;
    if (atomic_fetch_sub(&group->refs, 1) == 1)
        commons->unused(commons, instance);
}

/* Keeps MESSAGE until the endpoint is made. False: it has just been made. Where the group is
 * revoked, nobody needs it any more, and perhaps there will be no endpoint. */
static bool keep(struct cohort__group *group, uint32_t site, struct cohort__message *message)
{
    pthread_mutex_lock(&group->lock);
    bool kept = !atomic_load(&group->endpoints[site]);
    bool is_needed = atomic_load(&group->standing) != COHORT__STANDING_REVOKED;
    if (kept && is_needed) {
        cohort__tree_insert(&group->unclaimed, &message->in_order, site);
    }
    pthread_mutex_unlock(&group->lock);
    if (kept && !is_needed)
        cohort__message_release(message);
    return kept;
}

void cohort__group_drop_unclaimed(struct cohort__group *group)
{
    struct cohort__list all, *link;
    struct cohort__tree_node *first;
    cohort__list_init(&all);
    pthread_mutex_lock(&group->lock);
    while ((first = cohort__tree_find_from(&group->unclaimed, 0)))
        cohort__tree_take(&group->unclaimed, first, &all);
    pthread_mutex_unlock(&group->lock);
    while ((link = cohort__list_pop_front(&all)))
        cohort__message_release(unclaimed_of(link));
}

void cohort__group_deliver(struct cohort__group *group, uint32_t site,
                           struct cohort__message *message)
{
    struct cohort__actor *endpoint =
        atomic_load_explicit(&group->endpoints[site], memory_order_acquire);
    message->item.run = group->commons->receive;
    if (!endpoint) {
        if (keep(group, site, message))
            return;
        endpoint = atomic_load(&group->endpoints[site]);
    }
    cohort__actor_post(endpoint, &message->item);
}

void cohort__group_add(struct cohort__group *group, uint32_t site, struct cohort__actor *endpoint)
{
    struct cohort__list mine;
    cohort__list_init(&mine);
    pthread_mutex_lock(&group->lock);
    atomic_store(&group->endpoints[site], endpoint);
    struct cohort__tree_node *first = cohort__tree_find(&group->unclaimed, site);
    if (first)
        cohort__tree_take(&group->unclaimed, first, &mine);
    pthread_mutex_unlock(&group->lock);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&mine)))
        cohort__actor_post(endpoint, &unclaimed_of(link)->item);
}
