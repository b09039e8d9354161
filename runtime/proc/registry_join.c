/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger.h"
#include "runtime/names/requests.h"
#include "runtime/proc/death.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/registry_private.h"

/* The revocations by sites here, from request to answer, and what a revocation ends here. */

/* Under the lock: why nobody would answer a revocation at HOME. */
static cohort_status has_no_answer(const struct cohort__registry *registry, uint32_t home)
{
    struct cohort__process *process = registry->process;
    if (registry->broken.status)
        return cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (atomic_load(&process->stopped))
        return cohort_fail(COHORT_ERR_CANCELLED, "the job is over");
    bool may_die = home != COHORT__HOME_LAUNCHER && home != process->options.rank;
    return may_die && cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
}

void cohort__registry_revoke(struct cohort__registry *registry,
                             struct cohort__revocation *revocation)
{
    const struct cohort__membership *membership = revocation->membership;
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    cohort_status status = letter ? COHORT_OK : COHORT_ERR_NO_MEMORY;
    if (letter) {
        struct cohort__packer *packer = &letter->packer;
        cohort__pack_map(packer, 4);
        cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_REVOKE);
        cohort__pack_field_bytes(packer, "name", membership->name, membership->name_bytes);
        cohort__pack_field_unsigned(packer, "site", revocation->site);
        cohort__pack_field_unsigned(packer, "instance", membership->instance);
        status = packer->status;
    }
    if (status)
        (void)cohort_fail(status, "communicator \"%.60s\", site %u: no memory to revoke it",
                          (const char *)membership->name, revocation->site);
    pthread_mutex_lock(&registry->lock);
    if (!status)
        status = has_no_answer(registry, membership->home);
    if (!status)
        cohort__map_insert(&registry->revocations, &revocation->node,
                           cohort__hash_u64(membership->instance));
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        cohort__registry_deliver(registry, &outbox);
        return;
    }
    cohort__registry_discard(&outbox);
    revocation->done(revocation, status);
}

static bool is_of(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__revocation *revocation =
        COHORT_CONTAINER_OF(node, struct cohort__revocation, node);
    return revocation->membership->instance == *(const uint64_t *)key;
}

void cohort__registry_take_revocations(struct cohort__registry *registry, uint64_t instance,
                                       struct cohort__list *ended)
{
    struct cohort__map *map = &registry->revocations;
    const uint64_t hash = cohort__hash_u64(instance);
    struct cohort__map_node *node;
    while ((node = instance == 0 ? cohort__map_some(map)
                                 : cohort__map_find(map, hash, is_of, &instance))) {
        cohort__map_remove(map, node);
        cohort__list_push_back(ended,
                               &COHORT_CONTAINER_OF(node, struct cohort__revocation, node)->link);
    }
}

void cohort__registry_end_revocations(struct cohort__list *ended, cohort_status status,
                                      const char *text)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(ended))) {
        struct cohort__revocation *revocation =
            COHORT_CONTAINER_OF(link, struct cohort__revocation, link);
        if (status)
            cohort_fail(status, "%s", text);
        revocation->done(revocation, status);
    }
}

static void registry_take_children(struct cohort__registry *registry, uint64_t instance,
                                   struct cohort__list *ended);
/* Sets the error that JOIN ends with: SITE has revoked its parent. */
static cohort_status registry_fail_revoked(const struct cohort__join *join, uint32_t site)
{
    return cohort_fail(COHORT_ERR_REVOKED,
                       "communicator \"%.60s\", site %u: site %u of the one that it is made of has "
                       "revoked that",
                       join->name, join->site, site);
}

/* Who has the sites is told first, so that a join that is not listed yet sees it. */
cohort_status cohort__registry_revoked(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t instance, site;
    cohort_status status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "site", INT32_MAX, &site);
    if (status)
        return status;
    if (registry->revoked)
        registry->revoked(registry->revoked_context, instance, (uint32_t)site);
    struct cohort__list joins, revocations;
    struct cohort__join *join;
    cohort__list_init(&joins);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    registry_take_children(registry, instance, &joins);
    cohort__registry_take_revocations(registry, instance, &revocations);
    pthread_mutex_unlock(&registry->lock);
    while ((join = cohort__registry_next_ended(&joins)))
        join->done(join, registry_fail_revoked(join, (uint32_t)site), NULL);
    cohort__registry_end_revocations(&revocations, COHORT_OK, "");
    return COHORT_OK;
}

/* Sites that have left: their home has to hear of it, since those who gather (cohort/survivors.h)
 * would wait for them. What there is no memory to tell is told at a later tick. */

/* False: no memory. */
static bool tell(struct cohort__registry *registry, const struct cohort__membership *membership,
                 uint32_t site)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    if (!letter)
        return false;
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 4);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_LEAVE);
    cohort__pack_field_bytes(packer, "name", membership->name, membership->name_bytes);
    cohort__pack_field_unsigned(packer, "site", site);
    cohort__pack_field_unsigned(packer, "instance", membership->instance);
    const bool is_packed = !packer->status;
    if (is_packed)
        cohort__registry_deliver(registry, &outbox);
    else
        cohort__registry_discard(&outbox);
    return is_packed;
}

/* Under the lock. The site's byte of those that are untold, and its bit in that. */
static unsigned char *byte_of(struct cohort__membership *membership, uint32_t site)
{
    return &cohort__membership_untold(membership)[site / 8];
}

static unsigned char bit_of(uint32_t site)
{
    return (unsigned char)(1u << site % 8);
}

void cohort__registry_leave(struct cohort__registry *registry,
                            struct cohort__membership *membership, uint32_t site)
{
    if (tell(registry, membership, site))
        return;
    pthread_mutex_lock(&registry->lock);
    *byte_of(membership, site) |= bit_of(site);
    if (membership->num_untold++ == 0) {
        cohort__membership_ref(membership);
        cohort__list_push_back(&registry->untold, &membership->link);
    }
    pthread_mutex_unlock(&registry->lock);
}

/* Under the lock: the last instance called NAME that SITE has left without its home having been
 * told, or 0. */
static uint64_t registry_left_untold(struct cohort__registry *registry, const char *name,
                                     size_t bytes, uint32_t site)
{
    uint64_t latest = 0;
    struct cohort__list *untold = &registry->untold;
    for (struct cohort__list *link = untold->next; link != untold; link = link->next) {
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (membership->instance > latest && site < membership->num_sites &&
            (*byte_of(membership, site) & bit_of(site)) && membership->name_bytes == bytes &&
            memcmp(membership->name, name, bytes) == 0)
            latest = membership->instance;
    }
    return latest;
}

/* Until it is told, a join of that site has to say it: see registry_left_untold. Returns
 * whether all of MEMBERSHIP are told. */
static bool tell_again(struct cohort__registry *registry, struct cohort__membership *membership)
{
    bool are_all_told = false;
    for (uint32_t site = 0; !are_all_told && site < membership->num_sites; site++) {
        pthread_mutex_lock(&registry->lock);
        const bool is_untold = *byte_of(membership, site) & bit_of(site);
        pthread_mutex_unlock(&registry->lock);
        if (!is_untold || !tell(registry, membership, site))
            continue;
        pthread_mutex_lock(&registry->lock);
        *byte_of(membership, site) &= (unsigned char)~bit_of(site);
        are_all_told = --membership->num_untold == 0;
        if (are_all_told)
            cohort__list_remove(&membership->link);
        pthread_mutex_unlock(&registry->lock);
    }
    return are_all_told;
}

/* Others only append to the list. */
void cohort__registry_tell_untold(struct cohort__registry *registry)
{
    pthread_mutex_lock(&registry->lock);
    struct cohort__list *next, *link = registry->untold.next;
    while (link != &registry->untold) {
        next = link->next;
        pthread_mutex_unlock(&registry->lock);
        struct cohort__membership *membership =
            COHORT_CONTAINER_OF(link, struct cohort__membership, link);
        if (tell_again(registry, membership))
            cohort__membership_unref(membership);
        pthread_mutex_lock(&registry->lock);
        link = next;
    }
    pthread_mutex_unlock(&registry->lock);
}

void cohort__registry_drop_untold(struct cohort__registry *registry)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->untold)))
        cohort__membership_unref(COHORT_CONTAINER_OF(link, struct cohort__membership, link));
}

/* What a death changes among the joins and revocations of this locality. */

/* Under the lock: what cohort__registry_count_dead says. */
static uint32_t registry_count_dead_in_view(const struct cohort__registry *registry,
                                            const struct cohort__membership *membership,
                                            bool *is_dead)
{
    struct cohort__process *process = registry->process;
    uint32_t num_dead = 0;
    bool any = cohort__process_any_dead(process), is_before = false;
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        struct cohort__death death;
        uint32_t rank = membership->locality_of[site];
        if (site == 0 || rank != membership->locality_of[site - 1])
            is_before = any && cohort__process_death_of(process, rank, &death) &&
                        (death.order <= registry->view || death.order >= COHORT__DEATH_NOTICED);
        num_dead += is_before;
        if (is_dead)
            is_dead[site] = is_before;
    }
    return num_dead;
}

uint32_t cohort__registry_count_dead(struct cohort__registry *registry,
                                     const struct cohort__membership *membership, bool *is_dead)
{
    pthread_mutex_lock(&registry->lock);
    uint32_t num_dead = registry_count_dead_in_view(registry, membership, is_dead);
    pthread_mutex_unlock(&registry->lock);
    return num_dead;
}

/* Whether the death of RANK concerns JOIN. */
static bool concerns(const struct cohort__registry *registry, const struct cohort__join *join,
                     uint32_t rank)
{
    const struct cohort__membership *parent = join->parent;
    bool has_rank = !registry->process->options.letter || !parent;
    for (uint32_t site = 0; !has_rank && site < parent->num_sites; site++)
        has_rank = parent->locality_of[site] == rank;
    return has_rank;
}

static void registry_remove_waiting(struct cohort__registry *registry, struct cohort__join *join);

void cohort__registry_peer_died(struct cohort__registry *registry, uint32_t rank)
{
    struct cohort__list ended, revocations, *next;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    registry->view++;
    for (struct cohort__list *link = registry->waiting.next; link != &registry->waiting;
         link = next) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        next = link->next;
        if (!concerns(registry, join, rank))
            continue;
        registry_remove_waiting(registry, join);
        cohort__list_push_back(&ended, link);
    }
    if (!registry->process->options.letter) /* the home may have died */
        cohort__registry_take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__join *join;
    while ((join = cohort__registry_next_ended(&ended))) {
        if (registry->process->options.letter)
            cohort__process_check_dead(registry->process, rank); /* sets the message */
        else
            cohort__process_is_broken(registry->process);
        join->done(join, COHORT_ERR_PEER_DIED, NULL);
    }
    struct cohort__death death;
    if (!cohort__list_is_empty(&revocations) &&
        cohort__process_first_death(registry->process, &death)) {
        char text[64 + sizeof(death.why)];
        snprintf(text, sizeof(text), "locality %u %s", (unsigned)death.rank, death.why);
        cohort__registry_end_revocations(&revocations, COHORT_ERR_PEER_DIED, text);
    }
}

/* The joins of this locality that wait: from a site's request to its answer. */

size_t cohort__join_name_bytes(const struct cohort__join *join)
{
    return join->name_bytes ? join->name_bytes : strlen(join->name);
}

static uint32_t home_of(const struct cohort__registry *registry, const struct cohort__join *join)
{
    uint64_t hash = cohort__hash_u64(cohort__hash_bytes(join->name, cohort__join_name_bytes(join)));
    if (join->is_of_living) /* that of their parent, which knows who has left it */
        return join->home;
    if (registry->process->options.letter && !join->is_whole)
        return COHORT__HOME_LAUNCHER;
    return join->name_bytes ? join->home : (uint32_t)(hash % registry->process->options.size);
}

/* A site of a name: the key of `places`. */
struct place {
    const char *name;
    size_t bytes;
    uint32_t site;
};

static uint64_t hash_of(const struct place *place)
{
    return cohort__hash_mix(cohort__hash_bytes(place->name, place->bytes), place->site);
}

static bool is_at(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, node);
    const struct place *place = key;
    return join->site == place->site && cohort__join_name_bytes(join) == place->bytes &&
           memcmp(join->name, place->name, place->bytes) == 0;
}

/* Under the lock. */
static struct cohort__join *find_waiting(struct cohort__registry *registry, const char *name,
                                         size_t bytes, uint32_t site)
{
    struct place place = {name, bytes, site};
    struct cohort__map_node *node =
        cohort__map_find(&registry->places, hash_of(&place), is_at, &place);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__join, node) : NULL;
}

static enum cohort__join_kind kind_of(const struct cohort__join *join)
{
    if (join->agrees)
        return COHORT__JOIN_AGREEMENT;
    if (join->is_of_living)
        return COHORT__JOIN_SHRINK;
    return join->name_bytes > 0 ? COHORT__JOIN_SPLIT : COHORT__JOIN_NAME;
}

/* For those who look on; without memory they don't see it. A name that a user gives ends at its
 * 0. */
static void write_line(const struct cohort__registry *registry, struct cohort__join *join)
{
    struct cohort__join_line *line = cohort__ledger_take(COHORT__LEDGER_JOINS);
    join->line = line;
    if (!line)
        return;
    memcpy(line->name, join->name, strnlen(join->name, sizeof(line->name) - 1));
    atomic_store_explicit(&line->future, (uintptr_t)join->future, memory_order_relaxed);
    atomic_store_explicit(&line->site, join->site, memory_order_relaxed);
    atomic_store_explicit(&line->num_sites, join->num_sites, memory_order_relaxed);
    atomic_store_explicit(&line->rank, registry->process->options.rank, memory_order_relaxed);
    atomic_store_explicit(&line->kind, (uint32_t)kind_of(join), memory_order_relaxed);
    atomic_store_explicit(&line->parent, join->is_of_living ? join->parent->instance : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&line->of_site, join->parent_site, memory_order_relaxed);
    atomic_store_explicit(&line->since, cohort__clock_now(), memory_order_release);
}

/* Whether it does not go on once its parent is revoked. */
static bool ends_with_parent(const struct cohort__join *join)
{
    return join->parent && !join->is_of_living;
}

static void add_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    struct place place = {join->name, cohort__join_name_bytes(join), join->site};
    cohort__list_push_back(&registry->waiting, &join->link);
    cohort__map_insert(&registry->places, &join->node, hash_of(&place));
    if (ends_with_parent(join))
        cohort__map_insert(&registry->children, &join->child,
                           cohort__hash_u64(join->parent->instance));
    write_line(registry, join);
}

/* registry_join.c. Under the lock: JOIN waits no longer. */
static void registry_remove_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    cohort__list_remove(&join->link);
    cohort__map_remove(&registry->places, &join->node);
    if (ends_with_parent(join))
        cohort__map_remove(&registry->children, &join->child);
    cohort__ledger_give_back(COHORT__LEDGER_JOINS, join->line);
    join->line = NULL;
}

struct cohort__join *cohort__registry_next_ended(struct cohort__list *ended)
{
    struct cohort__list *link = cohort__list_pop_front(ended);
    struct cohort__join *join = link ? COHORT_CONTAINER_OF(link, struct cohort__join, link) : NULL;
    if (join)
        cohort__patience_end(join->patience);
    return join;
}

/* Under the lock. The last instance that its site has left: the home may not have been told. */
static uint64_t left_by(struct cohort__registry *registry, const struct cohort__join *join)
{
    const uint64_t untold =
        registry_left_untold(registry, join->name, cohort__join_name_bytes(join), join->site);
    return untold ? untold : join->left_instance;
}

/* Under the lock, so that the join is of the view in which it is listed: the next death ends it. */
static cohort_status write_join(struct cohort__registry *registry, struct cohort__list *outbox,
                                uint32_t home, const struct cohort__join *join)
{
    struct cohort__registry_letter *letter = cohort__registry_letter_add(outbox, &home, 1);
    if (!letter)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for joining \"%s\"", join->name);
    if (join->settings_bytes > COHORT__SETTINGS_BYTES_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "communicator \"%s\": site %u joins with %zu bytes of settings; %d are "
                           "possible",
                           join->name, join->site, join->settings_bytes,
                           COHORT__SETTINGS_BYTES_MAX);
    struct cohort__packer *packer = &letter->packer;
    const struct cohort__membership *of = join->is_of_living ? join->parent : NULL;
    cohort__pack_map(packer, of ? 14 : 12);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_JOIN);
    cohort__pack_field_bytes(packer, "name", join->name, cohort__join_name_bytes(join));
    cohort__pack_field_unsigned(packer, "site", join->site);
    cohort__pack_field_unsigned(packer, "sequence", join->sequence);
    cohort__pack_field_unsigned(packer, "num_sites", join->num_sites);
    cohort__pack_field_bytes(packer, "terms", join->terms, strlen(join->terms));
    cohort__pack_field_bytes(packer, "settings", join->settings, join->settings_bytes);
    cohort__pack_field_unsigned(packer, "instance", left_by(registry, join));
    cohort__pack_field_signed(packer, "failed", join->failed);
    cohort__pack_field_unsigned(packer, "view", registry->view);
    cohort__pack_field_bool(packer, "agrees", join->agrees);
    cohort__pack_field_unsigned(packer, "value", join->value);
    if (of) {
        cohort__pack_field_unsigned(packer, "of", of->instance);
        cohort__pack_field_bytes(packer, "of_name", of->name, of->name_bytes);
    }
    return packer->status ? cohort_fail(packer->status, "no memory for joining \"%s\"", join->name)
                          : COHORT_OK;
}

/* Why JOIN can't become anything: its parent is revoked, or because of a death. The sites of a dead
 * locality can't join any more, and which sites these are is not known. If the job goes on, who
 * joins under a name of a user from now on knows of the death. */
static cohort_status is_in_vain(const struct cohort__registry *registry,
                                const struct cohort__join *join)
{
    struct cohort__process *process = registry->process;
    uint32_t revoked_by = join->parent ? atomic_load(&join->parent->revoked_by) : 0;
    if (revoked_by > 0 && !join->is_of_living)
        return registry_fail_revoked(join, revoked_by - 1);
    if (!process->options.letter)
        return cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
    if (!join->parent || !cohort__process_any_dead(process))
        return COHORT_OK;
    if (join->is_of_living)
        return registry_count_dead_in_view(registry, join->parent, NULL) == join->num_dead
                   ? COHORT_OK
                   : cohort_fail(COHORT_ERR_PEER_DIED, "another locality has died meanwhile");
    for (uint32_t site = 0; site < join->parent->num_sites; site++)
        if (cohort__process_check_dead(process, join->parent->locality_of[site]))
            return COHORT_ERR_PEER_DIED;
    return COHORT_OK;
}

cohort_status cohort__registry_fail_as_over(const struct cohort__join *join)
{
    return cohort_fail(COHORT_ERR_CANCELLED,
                       "communicator \"%.60s\", site %u waits for the others: the job is over",
                       join->name, join->site);
}

/* Where JOIN's scope is cancelled already, it joins as one that can't take part: so the others are
 * told, and not even as the last one it makes them all begin. */
static void fail_if_cancelled(struct cohort__join *join, char *reason)
{
    if (!cohort__patience_is_cancelled(join->patience, reason))
        return;
    join->failed = COHORT_ERR_CANCELLED;
    join->terms = reason; /* which are only written */
}

void cohort__registry_join(struct cohort__registry *registry, struct cohort__join *join)
{
    struct cohort__list outbox;
    char reason[COHORT__REASON_BYTES];
    cohort__list_init(&outbox);
    uint32_t home = home_of(registry, join);
    join->sequence = atomic_fetch_add(&registry->num_joins, 1);
    struct cohort__patience *patience;
    cohort_status status = cohort__patience_create(&patience, registry, join, home);
    join->patience = patience;
    fail_if_cancelled(join, reason);
    pthread_mutex_lock(&registry->lock);
    if (!status)
        status = write_join(registry, &outbox, home, join);
    const bool is_lost = status == COHORT_ERR_NO_MEMORY && join->name_bytes > 0;
    if (!status)
        status = is_in_vain(registry, join);
    if (!status && registry->broken.status)
        status =
            cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (!status && atomic_load(&registry->process->stopped))
        status = cohort__registry_fail_as_over(join);
    if (!status && find_waiting(registry, join->name, cohort__join_name_bytes(join), join->site))
        status = cohort_fail(COHORT_ERR_DUPLICATE_SITE,
                             "communicator \"%s\": site %u joins, but is waiting for the others "
                             "already, in this locality (%u)",
                             join->name, join->site, registry->process->options.rank);
    if (!status)
        add_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        cohort__registry_deliver(registry, &outbox);
        cohort__patience_joined(patience);
        return;
    }
    cohort__registry_discard(&outbox);
    cohort__patience_end(patience);
    cohort__patience_joined(patience);
    join->done(join, status, NULL);
    if (is_lost) /* the other sites of its parent wait for it */
        cohort__registry_lost(registry, registry->process->options.rank, status);
}

cohort_status cohort__registry_refused(struct cohort__registry *registry,
                                       const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    const void *name, *text;
    size_t bytes, text_bytes;
    uint64_t site;
    int64_t status;
    cohort_status wrong = cohort__get_bytes(unpacked, map, "name", &name, &bytes);
    if (!wrong)
        wrong = cohort__get_unsigned(unpacked, map, "site", INT32_MAX, &site);
    if (!wrong)
        wrong = cohort__get_signed(unpacked, map, "status", &status);
    if (!wrong)
        wrong = cohort__get_text(unpacked, map, "text", (const char **)&text, &text_bytes);
    if (!wrong && (status >= 0 || status < INT32_MIN))
        wrong = cohort_fail(COHORT_ERR_PROTOCOL, "a refusal with status %d", (int)status);
    if (wrong)
        return wrong;
    pthread_mutex_lock(&registry->lock);
    struct cohort__join *join = find_waiting(registry, name, bytes, (uint32_t)site);
    if (join)
        registry_remove_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (join) {
        cohort__patience_end(join->patience);
        cohort_fail((cohort_status)status, "%.*s", (int)text_bytes, (const char *)text);
        join->done(join, (cohort_status)status, NULL);
    }
    return COHORT_OK;
}

/* Under the lock: takes out all local joins that MEMBERSHIP answers. */
static void take_joined(struct cohort__registry *registry,
                        const struct cohort__membership *membership, struct cohort__list *joined)
{
    for (uint32_t site = 0; site < membership->num_sites; site++) {
        bool is_here = membership->locality_of[site] == registry->process->options.rank;
        struct cohort__join *join =
            is_here ? find_waiting(registry, membership->name, membership->name_bytes, site) : NULL;
        if (!join || join->num_sites != membership->num_sites)
            continue;
        registry_remove_waiting(registry, join);
        cohort__list_push_back(joined, &join->link);
    }
}

/* The joins of the sites here have ended before the map has come, since their parent was revoked:
 * there will be nothing of the instance here. */
static void leave_unused(struct cohort__registry *registry, struct cohort__membership *membership)
{
    if (atomic_load(&registry->process->stopped))
        return;
    for (uint32_t site = 0; site < membership->num_sites; site++)
        if (membership->locality_of[site] == registry->process->options.rank)
            cohort__registry_leave(registry, membership, site);
    if (registry->unused)
        registry->unused(registry->unused_context, membership);
    cohort__registry_return(registry, membership);
}

cohort_status cohort__registry_mapped(struct cohort__registry *registry, uint32_t home,
                                      const struct cohort__unpacked *unpacked)
{
    struct cohort__membership *membership;
    cohort_status status =
        cohort__membership_read(&membership, unpacked, home, registry->process->options.size);
    if (status)
        return status;
    struct cohort__list joined;
    cohort__list_init(&joined);
    pthread_mutex_lock(&registry->lock);
    take_joined(registry, membership, &joined);
    pthread_mutex_unlock(&registry->lock);
    if (cohort__list_is_empty(&joined))
        leave_unused(registry, membership);
    struct cohort__join *join;
    while ((join = cohort__registry_next_ended(&joined))) {
        cohort__membership_ref(membership);
        join->done(join, COHORT_OK, membership);
    }
    cohort__membership_unref(membership);
    return COHORT_OK;
}

static bool is_child(const struct cohort__map_node *node, const void *key)
{
    const struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, child);
    return join->parent->instance == *(const uint64_t *)key;
}

static void registry_take_children(struct cohort__registry *registry, uint64_t instance,
                                   struct cohort__list *ended)
{
    const uint64_t hash = cohort__hash_u64(instance);
    struct cohort__map_node *node;
    while ((node = cohort__map_find(&registry->children, hash, is_child, &instance))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(node, struct cohort__join, child);
        registry_remove_waiting(registry, join);
        cohort__list_push_back(ended, &join->link);
    }
}

void cohort__registry_take_waiting(struct cohort__registry *registry, struct cohort__list *ended)
{
    while (!cohort__list_is_empty(&registry->waiting)) {
        struct cohort__list *link = registry->waiting.next;
        registry_remove_waiting(registry, COHORT_CONTAINER_OF(link, struct cohort__join, link));
        cohort__list_push_back(ended, link);
    }
}
