/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/names/requests.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/letter.h"
#include "runtime/proc/peer.h"

struct cohort__registry {
    struct cohort__process *process;
    void (*ended)(void *context, uint64_t instance);
    void *context;
    cohort_status (*revoked)(void *context, uint64_t instance, uint32_t site);
    void *revoked_context;
    void (*unused)(void *context, const struct cohort__membership *membership);
    void *unused_context;
    pthread_mutex_t lock;            /* of all below; callbacks and sends happen outside of it */
    struct cohort__list waiting;     /* joins of this locality that have no answer yet */
    struct cohort__map places;       /* the same, by name and site */
    struct cohort__list revocations; /* by sites here, that have no answer yet */
    struct cohort__registry_home home;
    bool (*ask_returned)(void *context);
    void *ask_context;
    struct cohort__list withdrawals; /* that wait for the answer */
    unsigned num_ticks;              /* for so many ticks */
    uint32_t view;                   /* how many deaths have ended joins here */
    struct cohort__error broken;     /* why joins are not reliable any more, or COHORT_OK */
};

/* A WITHDRAW, while it is asked whose programs have returned. */
struct withdrawal {
    struct cohort__list link;
    uint32_t source;
    size_t bytes;
    unsigned char message[];
};

/* A message that is lost at one locality (no memory, or it makes no sense) may be one that a join
 * in any locality waits for, and it is not known any more which sites have joined. So the registry
 * is then broken in all localities: waiting joins end with the reason, and so do all later ones. */

cohort_status cohort__registry_create(struct cohort__registry **ret_registry,
                                      struct cohort__process *process)
{
    struct cohort__registry *registry = calloc(1, sizeof(*registry));
    if (!registry)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the name registry");
    registry->process = process;
    pthread_mutex_init(&registry->lock, NULL);
    cohort__list_init(&registry->waiting);
    cohort__list_init(&registry->withdrawals);
    cohort__list_init(&registry->revocations);
    cohort__map_init(&registry->places);
    cohort__registry_home_init(&registry->home, process->options.rank, process->options.size);
    *ret_registry = registry;
    return COHORT_OK;
}

void cohort__registry_destroy(struct cohort__registry *registry)
{
    if (!registry)
        return;
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        free(COHORT_CONTAINER_OF(link, struct withdrawal, link));
    cohort__registry_home_fini(&registry->home);
    cohort__map_fini(&registry->places);
    cohort__error_fini(&registry->broken);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

void cohort__registry_set_ended(struct cohort__registry *registry,
                                void (*ended)(void *context, uint64_t instance), void *context)
{
    registry->ended = ended;
    registry->context = context;
}

void cohort__registry_set_unused(struct cohort__registry *registry,
                                 void (*unused)(void *context,
                                                const struct cohort__membership *membership),
                                 void *context)
{
    registry->unused = unused;
    registry->unused_context = context;
}

void cohort__registry_set_revoked(struct cohort__registry *registry,
                                  cohort_status (*revoked)(void *context, uint64_t instance,
                                                           uint32_t site),
                                  void *context)
{
    registry->revoked = revoked;
    registry->revoked_context = context;
}

void cohort__registry_set_ask_returned(struct cohort__registry *registry,
                                       bool (*ask)(void *context), void *context)
{
    registry->ask_returned = ask;
    registry->ask_context = context;
}

struct cohort__registry *cohort__process_registry(struct cohort__process *process)
{
    return process->registry;
}

static size_t name_bytes(const struct cohort__join *join)
{
    return join->name_bytes ? join->name_bytes : strlen(join->name);
}

static uint32_t home_of(const struct cohort__registry *registry, const struct cohort__join *join)
{
    uint64_t hash = cohort__hash_u64(cohort__hash_bytes(join->name, name_bytes(join)));
    if (registry->process->options.letter && !join->is_whole)
        return COHORT__HOME_LAUNCHER;
    return join->name_bytes ? join->home : (uint32_t)(hash % registry->process->options.size);
}

/* A letter for this locality itself is handled at once. */
static void deliver_to(struct cohort__registry *registry, uint32_t rank,
                       const struct cohort__packer *packer)
{
    struct cohort__process *process = registry->process;
    if (rank == process->options.rank)
        cohort__registry_message(registry, rank, packer->data, packer->bytes);
    else if (rank == COHORT__HOME_LAUNCHER)
        process->options.letter(process->options.launcher, packer->data, packer->bytes);
    else
        cohort__letter_send(process, rank, packer->data, packer->bytes);
}

static void deliver(struct cohort__registry *registry, struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox))) {
        struct cohort__registry_letter *letter =
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link);
        /* If the letter could not be packed, the registry becomes broken. */
        for (uint32_t i = 0; !letter->packer.status && i < letter->num_ranks; i++)
            deliver_to(registry, letter->ranks[i], &letter->packer);
        cohort__registry_letter_destroy(letter);
    }
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
    return join->site == place->site && name_bytes(join) == place->bytes &&
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

static void add_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    struct place place = {join->name, name_bytes(join), join->site};
    cohort__list_push_back(&registry->waiting, &join->link);
    cohort__map_insert(&registry->places, &join->node, hash_of(&place));
    write_line(registry, join);
}

static void remove_waiting(struct cohort__registry *registry, struct cohort__join *join)
{
    cohort__list_remove(&join->link);
    cohort__map_remove(&registry->places, &join->node);
    cohort__ledger_give_back(COHORT__LEDGER_JOINS, join->line);
    join->line = NULL;
}

static cohort_status write_join(struct cohort__list *outbox, uint32_t home, uint32_t view,
                                const struct cohort__join *join)
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
    cohort__pack_map(packer, of ? 13 : 11);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_JOIN);
    cohort__pack_field_bytes(packer, "name", join->name, name_bytes(join));
    cohort__pack_field_unsigned(packer, "site", join->site);
    cohort__pack_field_unsigned(packer, "num_sites", join->num_sites);
    cohort__pack_field_bytes(packer, "terms", join->terms, strlen(join->terms));
    cohort__pack_field_bytes(packer, "settings", join->settings, join->settings_bytes);
    cohort__pack_field_unsigned(packer, "instance", join->left_instance);
    cohort__pack_field_signed(packer, "failed", join->failed);
    cohort__pack_field_unsigned(packer, "view", view);
    cohort__pack_field_bool(packer, "agrees", join->agrees);
    cohort__pack_field_unsigned(packer, "value", join->value);
    if (of) {
        cohort__pack_field_unsigned(packer, "of", of->instance);
        cohort__pack_field_bytes(packer, "of_name", of->name, of->name_bytes);
    }
    return packer->status ? cohort_fail(packer->status, "no memory for joining \"%s\"", join->name)
                          : COHORT_OK;
}

/* With the lock held. */
static uint32_t count_dead(const struct cohort__registry *registry,
                           const struct cohort__membership *membership, bool *is_dead)
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
    uint32_t num_dead = count_dead(registry, membership, is_dead);
    pthread_mutex_unlock(&registry->lock);
    return num_dead;
}

/* Whether the sites of JOIN come from INSTANCE, and don't join any more once that is revoked. */
static bool is_child_of(const struct cohort__join *join, uint64_t instance)
{
    return join->parent && join->parent->instance == instance && !join->is_of_living;
}

static cohort_status fail_revoked(const struct cohort__join *join, uint32_t site)
{
    return cohort_fail(COHORT_ERR_REVOKED,
                       "communicator \"%.60s\", site %u: site %u of the one that it is made of has "
                       "revoked that",
                       join->name, join->site, site);
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
        return fail_revoked(join, revoked_by - 1);
    if (!process->options.letter)
        return cohort__process_is_broken(process) ? COHORT_ERR_PEER_DIED : COHORT_OK;
    if (!join->parent || !cohort__process_any_dead(process))
        return COHORT_OK;
    if (join->is_of_living)
        return count_dead(registry, join->parent, NULL) == join->num_dead
                   ? COHORT_OK
                   : cohort_fail(COHORT_ERR_PEER_DIED, "another locality has died meanwhile");
    for (uint32_t site = 0; site < join->parent->num_sites; site++)
        if (cohort__process_check_dead(process, join->parent->locality_of[site]))
            return COHORT_ERR_PEER_DIED;
    return COHORT_OK;
}

static void discard(struct cohort__list *outbox)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(outbox)))
        cohort__registry_letter_destroy(
            COHORT_CONTAINER_OF(link, struct cohort__registry_letter, link));
}

static cohort_status fail_as_over(const struct cohort__join *join)
{
    return cohort_fail(COHORT_ERR_CANCELLED,
                       "communicator \"%.60s\", site %u waits for the others: the job is over",
                       join->name, join->site);
}

void cohort__registry_join(struct cohort__registry *registry, struct cohort__join *join)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    uint32_t home = home_of(registry, join);
    pthread_mutex_lock(&registry->lock);
    /* Under the lock, so that the join is of the view in which it is listed: the next death ends
     * it. */
    cohort_status status = write_join(&outbox, home, registry->view, join);
    const bool is_lost = status == COHORT_ERR_NO_MEMORY && join->name_bytes > 0;
    if (!status)
        status = is_in_vain(registry, join);
    if (!status && registry->broken.status)
        status =
            cohort_fail(registry->broken.status, "%s", cohort__error_message(&registry->broken));
    if (!status && atomic_load(&registry->process->stopped))
        status = fail_as_over(join);
    if (!status && find_waiting(registry, join->name, name_bytes(join), join->site))
        status = cohort_fail(COHORT_ERR_DUPLICATE_SITE,
                             "communicator \"%s\": site %u joins, but is waiting for the others "
                             "already, in this locality (%u)",
                             join->name, join->site, registry->process->options.rank);
    if (!status)
        add_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        deliver(registry, &outbox);
        return;
    }
    discard(&outbox);
    join->done(join, status, NULL);
    if (is_lost) /* the other sites of its parent wait for it */
        cohort__registry_lost(registry, registry->process->options.rank, status);
}

void cohort__registry_withdraw(struct cohort__registry *registry, const struct cohort__join *join,
                               uint64_t nanoseconds)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    uint32_t home = home_of(registry, join);
    struct cohort__registry_letter *letter = cohort__registry_letter_add(&outbox, &home, 1);
    if (letter) {
        struct cohort__packer *packer = &letter->packer;
        cohort__pack_map(packer, 4);
        cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_WITHDRAW);
        cohort__pack_field_bytes(packer, "name", join->name, name_bytes(join));
        cohort__pack_field_unsigned(packer, "site", join->site);
        cohort__pack_field_unsigned(packer, "nanoseconds", nanoseconds);
    }
    if (!letter || letter->packer.status)
        cohort__log(COHORT__LOG_WARN,
                    "communicator \"%s\", site %u: no memory to say that it waits no longer",
                    join->name, join->site);
    deliver(registry, &outbox);
}

void cohort__registry_leave(struct cohort__registry *registry,
                            const struct cohort__membership *membership, uint32_t site)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    if (!letter)
        return; /* then the instance's memory is kept until the job ends; no other harm */
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 4);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_LEAVE);
    cohort__pack_field_bytes(packer, "name", membership->name, membership->name_bytes);
    cohort__pack_field_unsigned(packer, "site", site);
    cohort__pack_field_unsigned(packer, "instance", membership->instance);
    if (!packer->status)
        deliver(registry, &outbox);
    else
        cohort__registry_letter_destroy(letter);
}

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
        cohort__list_push_back(&registry->revocations, &revocation->link);
    pthread_mutex_unlock(&registry->lock);
    if (!status) {
        deliver(registry, &outbox);
        return;
    }
    discard(&outbox);
    revocation->done(revocation, status);
}

/* Under the lock: moves the revocations of INSTANCE, or all if it is 0, to ENDED. */
static void take_revocations(struct cohort__registry *registry, uint64_t instance,
                             struct cohort__list *ended)
{
    struct cohort__list *next, *link;
    for (link = registry->revocations.next; link != &registry->revocations; link = next) {
        const struct cohort__revocation *revocation =
            COHORT_CONTAINER_OF(link, struct cohort__revocation, link);
        next = link->next;
        if (instance != 0 && revocation->membership->instance != instance)
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(ended, link);
    }
}

/* TEXT: of STATUS, if that is not COHORT_OK. */
static void end_revocations(struct cohort__list *ended, cohort_status status, const char *text)
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

void cohort__registry_return(struct cohort__registry *registry,
                             const struct cohort__membership *membership)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    if (membership->number == COHORT__NO_NUMBER || atomic_load(&registry->process->stopped))
        return;
    struct cohort__registry_letter *letter =
        cohort__registry_letter_add(&outbox, &membership->home, 1);
    if (!letter)
        return; /* then the number is not lent again */
    struct cohort__packer *packer = &letter->packer;
    cohort__pack_map(packer, 3);
    cohort__pack_field_unsigned(packer, "type", COHORT__REGISTRY_RETURN);
    cohort__pack_field_unsigned(packer, "instance", membership->instance);
    cohort__pack_field_unsigned(packer, "number", membership->number);
    if (!packer->status)
        deliver(registry, &outbox);
    else
        cohort__registry_letter_destroy(letter);
}

/* RETURNED: of a WITHDRAW. */
static cohort_status at_home(struct cohort__registry *registry, uint32_t source, uint64_t type,
                             const struct cohort__unpacked *unpacked, const char *returned)
{
    struct cohort__list outbox;
    cohort__list_init(&outbox);
    pthread_mutex_lock(&registry->lock);
    cohort_status status =
        cohort__home_take(&registry->home, source, type, unpacked, returned, &outbox);
    pthread_mutex_unlock(&registry->lock);
    deliver(registry, &outbox);
    return status;
}

/* Keeps a WITHDRAW until it is known whose programs have returned. False: nobody knows that. */
static bool put_off(struct cohort__registry *registry, uint32_t source, const void *data,
                    size_t bytes)
{
    struct withdrawal *withdrawal =
        registry->ask_returned ? malloc(sizeof(*withdrawal) + bytes) : NULL;
    if (!withdrawal)
        return false;
    withdrawal->source = source;
    withdrawal->bytes = bytes;
    memcpy(withdrawal->message, data, bytes);
    pthread_mutex_lock(&registry->lock);
    const bool is_first = cohort__list_is_empty(&registry->withdrawals);
    cohort__list_push_back(&registry->withdrawals, &withdrawal->link);
    if (is_first)
        registry->num_ticks = 0;
    pthread_mutex_unlock(&registry->lock);
    if (is_first && !registry->ask_returned(registry->ask_context))
        cohort__registry_returned(registry, "");
    return true;
}

void cohort__registry_returned(struct cohort__registry *registry, const char *text)
{
    struct cohort__list *link, all;
    cohort__list_init(&all);
    pthread_mutex_lock(&registry->lock);
    while ((link = cohort__list_pop_front(&registry->withdrawals)))
        cohort__list_push_back(&all, link);
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&all))) {
        struct withdrawal *withdrawal = COHORT_CONTAINER_OF(link, struct withdrawal, link);
        struct cohort__unpacked *unpacked = NULL;
        cohort_status status =
            cohort__unpack(&unpacked, withdrawal->message, withdrawal->bytes, "registry message");
        if (!status)
            status =
                at_home(registry, withdrawal->source, COHORT__REGISTRY_WITHDRAW, unpacked, text);
        cohort__unpacked_destroy(unpacked);
        if (status)
            cohort__registry_lost(registry, withdrawal->source, status);
        free(withdrawal);
    }
}

/* A launcher that is stopped does not answer. Nobody waits longer than a second for it. */
void cohort__registry_tick(struct cohort__registry *registry)
{
    enum { PATIENCE_TICKS = 10 };
    pthread_mutex_lock(&registry->lock);
    const bool is_late =
        !cohort__list_is_empty(&registry->withdrawals) && ++registry->num_ticks >= PATIENCE_TICKS;
    pthread_mutex_unlock(&registry->lock);
    if (is_late)
        cohort__registry_returned(registry, "");
}

static cohort_status refused(struct cohort__registry *registry,
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
        remove_waiting(registry, join);
    pthread_mutex_unlock(&registry->lock);
    if (join) {
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
        remove_waiting(registry, join);
        cohort__list_push_back(joined, &join->link);
    }
}

/* The joins of the sites here have ended before the map has come, since their parent was revoked:
 * there will be nothing of the instance here. */
static void leave_unused(struct cohort__registry *registry,
                         const struct cohort__membership *membership)
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

/* From HOME. */
static cohort_status mapped(struct cohort__registry *registry, uint32_t home,
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
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&joined))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        cohort__membership_ref(membership);
        join->done(join, COHORT_OK, membership);
    }
    cohort__membership_unref(membership);
    return COHORT_OK;
}

/* Under the lock: moves all waiting joins to ENDED. */
static void take_waiting(struct cohort__registry *registry, struct cohort__list *ended)
{
    while (!cohort__list_is_empty(&registry->waiting)) {
        struct cohort__list *link = registry->waiting.next;
        remove_waiting(registry, COHORT_CONTAINER_OF(link, struct cohort__join, link));
        cohort__list_push_back(ended, link);
    }
}

/* False: it was broken before. */
static bool become_broken(struct cohort__registry *registry, cohort_status status, const char *text)
{
    struct cohort__list ended, revocations;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    bool is_first = !registry->broken.status;
    if (is_first)
        cohort__error_set(&registry->broken, status, "%s", text);
    take_waiting(registry, &ended);
    take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        cohort_fail(status, "%s", text);
        join->done(join, status, NULL);
    }
    end_revocations(&revocations, status, text);
    return is_first;
}

/* Makes the registry broken here and in all other localities. */
static void break_registry(struct cohort__registry *registry, cohort_status status,
                           const char *text)
{
    struct cohort__process *process = registry->process;
    struct cohort__packer packer = {0};
    if (!become_broken(registry, status, text))
        return;
    cohort__pack_map(&packer, 3);
    cohort__pack_field_unsigned(&packer, "type", COHORT__REGISTRY_BROKEN);
    cohort__pack_field_signed(&packer, "status", status);
    cohort__pack_field_text(&packer, "text", text);
    for (uint32_t rank = 0; rank < process->options.size; rank++)
        if (rank != process->options.rank && !packer.status)
            cohort__letter_send(process, rank, packer.data, packer.bytes);
        else if (rank != process->options.rank)
            cohort__process_give_up(process, rank, "can't be told: out of memory here");
    cohort__packer_fini(&packer);
}

static cohort_status broken(struct cohort__registry *registry,
                            const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    int64_t status;
    const char *text;
    size_t bytes;
    char copy[400];
    cohort_status wrong = cohort__get_signed(unpacked, map, "status", &status);
    if (!wrong)
        wrong = cohort__get_text(unpacked, map, "text", &text, &bytes);
    if (!wrong && (status >= 0 || status < INT32_MIN))
        wrong = cohort_fail(COHORT_ERR_PROTOCOL, "it is broken with status %d", (int)status);
    if (wrong)
        return wrong;
    snprintf(copy, sizeof(copy), "%.*s", (int)bytes, text);
    (void)become_broken(registry, (cohort_status)status, copy);
    return COHORT_OK;
}

/* Who has the sites is told first, so that a join that is not listed yet sees it. */
static cohort_status revoked(struct cohort__registry *registry,
                             const struct cohort__unpacked *unpacked)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked);
    uint64_t instance, site;
    cohort_status status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "site", INT32_MAX, &site);
    if (!status && registry->revoked)
        status = registry->revoked(registry->revoked_context, instance, (uint32_t)site);
    if (status)
        return status;
    struct cohort__list joins, revocations, *next, *link;
    cohort__list_init(&joins);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    for (link = registry->waiting.next; link != &registry->waiting; link = next) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        next = link->next;
        if (!is_child_of(join, instance))
            continue;
        remove_waiting(registry, join);
        cohort__list_push_back(&joins, link);
    }
    take_revocations(registry, instance, &revocations);
    pthread_mutex_unlock(&registry->lock);
    while ((link = cohort__list_pop_front(&joins))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        join->done(join, fail_revoked(join, (uint32_t)site), NULL);
    }
    end_revocations(&revocations, COHORT_OK, "");
    return COHORT_OK;
}

void cohort__registry_lost(struct cohort__registry *registry, uint32_t source, cohort_status status)
{
    struct cohort__process *process = registry->process;
    char why[300], text[400];
    bool is_told = cohort__error_slot()->status == status;
    snprintf(why, sizeof(why), "has sent a registry message that is lost here: %s",
             is_told ? cohort_error_message() : cohort_status_text(status));
    snprintf(text, sizeof(text), "locality %u: locality %u %s", process->options.rank, source, why);
    cohort__log(COHORT__LOG_ERROR, "%s", text);
    if (process->options.accuse) /* the others go on without this locality */
        cohort__process_give_up(process, source, why);
    else
        break_registry(registry, status, text);
}

void cohort__registry_message(struct cohort__registry *registry, uint32_t source, const void *data,
                              size_t bytes)
{
    struct cohort__unpacked *unpacked = NULL;
    uint64_t type = 0, instance;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, "registry message");
    const struct cohort__value *map = status ? NULL : cohort__unpacked_root(unpacked);
    if (!status)
        status = cohort__get_unsigned(unpacked, map, "type", COHORT__REGISTRY_REVOKED, &type);
    if (!status)
        switch ((enum cohort__registry_type)type) {
        case COHORT__REGISTRY_JOIN:
        case COHORT__REGISTRY_LEAVE:
            status = at_home(registry, source, type, unpacked, "");
            break;
        case COHORT__REGISTRY_WITHDRAW:
            if (!put_off(registry, source, data, bytes))
                status = at_home(registry, source, type, unpacked, "");
            break;
        case COHORT__REGISTRY_RETURN:
        case COHORT__REGISTRY_REVOKE:
            status = at_home(registry, source, type, unpacked, "");
            break;
        case COHORT__REGISTRY_REFUSE:
            status = refused(registry, unpacked);
            break;
        case COHORT__REGISTRY_MAP:
            status = mapped(registry, source, unpacked);
            break;
        case COHORT__REGISTRY_END:
            status = cohort__get_unsigned(unpacked, map, "instance", UINT64_MAX, &instance);
            if (!status && registry->ended)
                registry->ended(registry->context, instance);
            break;
        case COHORT__REGISTRY_BROKEN:
            status = broken(registry, unpacked);
            break;
        case COHORT__REGISTRY_REVOKED:
            status = revoked(registry, unpacked);
            break;
        default:
            status =
                cohort_fail(COHORT_ERR_PROTOCOL, "registry message of type %u", (unsigned)type);
            break;
        }
    cohort__unpacked_destroy(unpacked);
    if (status)
        cohort__registry_lost(registry, source, status);
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
        remove_waiting(registry, join);
        cohort__list_push_back(&ended, link);
    }
    if (!registry->process->options.letter) /* the home may have died */
        take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
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
        end_revocations(&revocations, COHORT_ERR_PEER_DIED, text);
    }
}

void cohort__registry_stop(struct cohort__registry *registry)
{
    struct cohort__list ended, revocations;
    cohort__list_init(&ended);
    cohort__list_init(&revocations);
    pthread_mutex_lock(&registry->lock);
    take_waiting(registry, &ended);
    take_revocations(registry, 0, &revocations);
    pthread_mutex_unlock(&registry->lock);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        struct cohort__join *join = COHORT_CONTAINER_OF(link, struct cohort__join, link);
        join->done(join, fail_as_over(join), NULL);
    }
    end_revocations(&revocations, COHORT_ERR_CANCELLED, "the job is over");
}
