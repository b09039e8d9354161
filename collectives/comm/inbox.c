/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/inbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/delivery.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/message.h"
#include "collectives/comm/remote.h"
#include "collectives/comm/settings.h"
#include "collectives/comm/verdict.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/proc/boards.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"

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
static bool quiet_has_come(const struct cohort__group *group)
{
    return atomic_load(&group->refs) == 0 && look(group) && look(group) && look(group) &&
           atomic_load(&group->refs) == 0;
}

struct message {
    struct cohort__tree_node node;
    struct cohort__arrival *arrival;
};

bool cohort__unknown_is_to_come(const struct cohort__unknown *unknown, uint64_t instance)
{
    uint32_t home = cohort__instance_home(instance);
    return unknown->num_creations > 0 && home <= COHORT__HOME_LAUNCHER &&
           cohort__instance_number(instance) > unknown->highest[home];
}

bool cohort__unknown_keep(struct cohort__unknown *unknown, struct cohort__arrival *arrival)
{
    struct message *message = malloc(sizeof(*message));
    struct cohort__arrival *kept = message ? cohort__arrival_keep(arrival) : NULL;
    if (!kept) {
        free(message);
        return false;
    }
    cohort__arrival_park(kept);
    message->arrival = kept;
    cohort__tree_insert(&unknown->messages, &message->node, kept->envelope.instance);
    return true;
}

void cohort__unknown_settle(struct cohort__unknown *unknown, uint64_t instance,
                            struct cohort__list *taken)
{
    uint32_t home = cohort__instance_home(instance), number = cohort__instance_number(instance);
    struct cohort__tree_node *first = cohort__tree_find(&unknown->messages, instance);
    if (home <= COHORT__HOME_LAUNCHER && number > unknown->highest[home])
        unknown->highest[home] = number;
    if (first)
        cohort__tree_take(&unknown->messages, first, taken);
}

/* The same with those of all instances, none of which comes any more. */
static void unknown_settle_all(struct cohort__unknown *unknown, struct cohort__list *taken)
{
    struct cohort__tree_node *first;
    while ((first = cohort__tree_find_from(&unknown->messages, 0)))
        cohort__tree_take(&unknown->messages, first, taken);
}

struct cohort__arrival *cohort__unknown_next(struct cohort__list *taken)
{
    struct cohort__list *same = cohort__list_pop_front(taken);
    if (!same)
        return NULL;
    struct cohort__tree_node *node = COHORT_CONTAINER_OF(same, struct cohort__tree_node, same);
    struct message *message = COHORT_CONTAINER_OF(node, struct message, node);
    struct cohort__arrival *arrival = message->arrival;
    free(message);
    return arrival;
}

struct cohort__inbox {
    struct cohort__commons commons; /* first */
    pthread_mutex_t lock;           /* of all below; no outside function is called under it */
    struct cohort__map groups;      /* by instance */
    struct cohort__map latest;      /* by name and site: the latest endpoint */
    /* The group that got the last message, with a reference, or NULL. Only the thread that turns
     * the event loop changes it, so that thread needs no lock to read it. */
    struct cohort__group *last;
    struct cohort__list endpoints;
    uint32_t num_endpoints;
    uint32_t num_unticked;        /* the loop's thread only: the first ones in the list, at most */
    struct cohort__list retired;  /* groups for the loop's thread to free */
    _Atomic bool is_holder_asked; /* the loop's thread is to free them, or to unref `last` */
    struct cohort__unknown unknown;
};

struct cohort__commons *cohort__inbox_commons(struct cohort__inbox *inbox)
{
    return &inbox->commons;
}

struct cohort__inbox *cohort__inbox_of(struct cohort__commons *commons)
{
    return (struct cohort__inbox *)commons;
}

/* With the lock held. */
static struct cohort__group *find(const struct cohort__inbox *inbox, uint64_t instance)
{
    struct cohort__map_node *node =
        cohort__map_find(&inbox->groups, cohort__hash_u64(instance), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__group, node) : NULL;
}

/* The instance is not known here any more, since all of its sites have left. Answers for them. */
static void answer_gone(struct cohort__inbox *inbox, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind == COHORT__KIND_ANNOUNCE)
        cohort__fetch_decline(inbox->commons.process, envelope->source_locality, envelope->handle);
    if (envelope->kind == COHORT__KIND_ASK)
        cohort__death_send(inbox->commons.process, envelope->source_locality,
                           &(struct cohort__envelope){
                               .kind = COHORT__KIND_ANSWER,
                               .instance = envelope->instance,
                               .generation = envelope->generation,
                               .source_site = envelope->dest_site,
                               .dest_site = envelope->source_site,
                               .tag = COHORT__ANSWER_GONE,
                           });
    if (envelope->kind == COHORT__KIND_VERDICT)
        cohort__verdict_answer_gone(inbox->commons.process, envelope);
    cohort__arrival_release(arrival);
}

/* A message is lost. An operation that waits for it would wait for ever, so the sender is given
 * up. */
static void give_up(struct cohort__inbox *inbox, uint32_t rank)
{
    cohort__process_give_up(inbox->commons.process, rank,
                            "was given up: a message from it was lost here: no memory");
}

/* Takes ARRIVAL. */
static void deliver(struct cohort__inbox *inbox, struct cohort__group *group,
                    struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    uint32_t num_sites = group->membership->num_sites;
    uint32_t site = envelope->dest_site;
    bool is_verdict = envelope->kind == COHORT__KIND_VERDICT; /* never for one site: see early.h */
    bool is_for_all =
        site == COHORT__NO_SITE &&
        (is_verdict || (envelope->kind == COHORT__KIND_ERROR && envelope->tag == COHORT__TAG_CALL));
    bool is_for_one = !is_verdict && site < num_sites && cohort__group_is_local(group, site);
    if ((!is_for_all && !is_for_one) || envelope->source_site >= num_sites ||
        group->membership->locality_of[envelope->source_site] != envelope->source_locality) {
        cohort__log(COHORT__LOG_ERROR,
                    "communicator \"%s\": dropped a message of locality %u from site %u to %u",
                    group->name, envelope->source_locality, envelope->source_site, site);
        answer_gone(inbox, arrival);
        return;
    }
    uint32_t source = envelope->source_locality;
    if (!cohort__delivery_arrive(group, arrival))
        give_up(inbox, source);
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    struct cohort__inbox *inbox = context;
    struct cohort__group *before = inbox->last;
    if (before && before->membership->instance == arrival->envelope.instance) {
        deliver(inbox, before, arrival);
        return;
    }
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, arrival->envelope.instance);
    if (group && group->has_ended)
        group = NULL;
    if (group) {
        cohort__group_ref(group);
        inbox->last = group;
    }
    bool is_expected =
        !group && cohort__unknown_is_to_come(&inbox->unknown, arrival->envelope.instance);
    bool is_kept = is_expected && cohort__unknown_keep(&inbox->unknown, arrival);
    pthread_mutex_unlock(&inbox->lock);
    if (group) {
        deliver(inbox, group, arrival);
        cohort__group_unref(before);
    } else if (!is_kept) {
        uint32_t source = arrival->envelope.source_locality;
        answer_gone(inbox, arrival);
        if (is_expected)
            give_up(inbox, source);
    }
}

/* Hands TAKEN to GROUP. If GROUP is NULL, answers that all sites have left. */
static void sort_out(struct cohort__inbox *inbox, struct cohort__group *group,
                     struct cohort__list *taken)
{
    struct cohort__arrival *arrival;
    while ((arrival = cohort__unknown_next(taken)))
        if (group)
            deliver(inbox, group, arrival);
        else
            answer_gone(inbox, arrival);
}

/* Revocations ------------------------------------------------------------------------------- */

static void tell_revoked(struct cohort__group *group)
{
    cohort__group_drop_unclaimed(group);
    for (uint32_t i = 0; i < group->local.num; i++) {
        struct cohort_comm *comm = cohort__endpoint_at(group, group->local.sites[i]);
        if (comm)
            cohort__endpoint_peer_died(comm);
    }
    cohort__process_more(group->commons->process);
}

/* SITE has revoked INSTANCE. */
static void on_revoked(void *context, uint64_t instance, uint32_t site)
{
    struct cohort__inbox *inbox = context;
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, instance);
    if (group && (group->has_ended || cohort__remote_is_revoked(group) ||
                  site >= group->membership->num_sites))
        group = NULL;
    if (group) {
        cohort__group_ref(group);
        cohort__group_revoke(group, site);
    }
    pthread_mutex_unlock(&inbox->lock);
    if (group)
        tell_revoked(group);
    cohort__group_unref(group);
}

/* Creations --------------------------------------------------------------------------------- */

void cohort__inbox_creation_begin(struct cohort__inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->unknown.num_creations++;
    pthread_mutex_unlock(&inbox->lock);
}

void cohort__inbox_creation_end(struct cohort__inbox *inbox)
{
    struct cohort__list taken;
    cohort__list_init(&taken);
    pthread_mutex_lock(&inbox->lock);
    if (--inbox->unknown.num_creations == 0) /* now: later ones may be of a new creation */
        unknown_settle_all(&inbox->unknown, &taken);
    pthread_mutex_unlock(&inbox->lock);
    sort_out(inbox, NULL, &taken);
}

/* With the lock held: the group of MEMBERSHIP's instance, which is known from now on. TAKEN gets
 * what has come for it. */
static cohort_status make_group(struct cohort__inbox *inbox, const char *name,
                                struct cohort__membership *membership,
                                struct cohort__group **ret_made, struct cohort__list *taken)
{
    cohort_status status = cohort__group_create(ret_made, &inbox->commons, name, membership);
    if (status)
        return status;
    cohort__map_insert(&inbox->groups, &(*ret_made)->node, cohort__hash_u64(membership->instance));
    cohort__unknown_settle(&inbox->unknown, membership->instance, taken);
    return COHORT_OK;
}

cohort_status cohort__inbox_group(struct cohort__inbox *inbox, const char *name,
                                  struct cohort__membership *membership,
                                  struct cohort__group **ret_group)
{
    struct cohort__group *made = NULL;
    struct cohort__list taken;
    cohort_status status = COHORT_OK;
    cohort__list_init(&taken);
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, membership->instance);
    if (!group)
        status = make_group(inbox, name, membership, &made, &taken);
    pthread_mutex_unlock(&inbox->lock);
    if (status || group)
        cohort__membership_unref(membership);
    if (status)
        return status;
    sort_out(inbox, made, &taken);
    *ret_group = group ? group : made;
    return COHORT_OK;
}

/* Nobody here will take part in INSTANCE: what has come for it is answered now, and what comes as
 * soon as it does. */
static void pass_over(struct cohort__inbox *inbox, uint64_t instance)
{
    struct cohort__list taken;
    cohort__list_init(&taken);
    pthread_mutex_lock(&inbox->lock);
    cohort__unknown_settle(&inbox->unknown, instance, &taken);
    pthread_mutex_unlock(&inbox->lock);
    sort_out(inbox, NULL, &taken);
}

static void on_unused(void *context, const struct cohort__membership *membership)
{
    pass_over(context, membership->instance);
}

/* Another site here may make the group later. It sees that it is revoked. */
void cohort__inbox_give_up(struct cohort__inbox *inbox, struct cohort__membership *membership,
                           uint32_t site)
{
    uint32_t none = 0;
    pthread_mutex_lock(&inbox->lock);
    bool has_group = find(inbox, membership->instance);
    if (!has_group)
        (void)atomic_compare_exchange_strong(&membership->revoked_by, &none, site + 1);
    pthread_mutex_unlock(&inbox->lock);
    if (has_group) {
        on_revoked(inbox, membership->instance, site);
        return;
    }
    pass_over(inbox, membership->instance);
    cohort__registry_return(cohort__process_registry(inbox->commons.process), membership);
}

/* A site under a name. */
struct place {
    const char *name;
    uint32_t site;
};

static bool is_at(const struct cohort__map_node *node, const void *key)
{
    const struct cohort_comm *comm = COHORT_CONTAINER_OF(node, struct cohort_comm, latest);
    const struct place *place = key;
    return comm->this_site == place->site && strcmp(comm->group->name, place->name) == 0;
}

static uint64_t hash_of(const struct place *place)
{
    return cohort__hash_mix(cohort__hash_bytes(place->name, strlen(place->name)), place->site);
}

/* With the lock held. */
static struct cohort_comm *find_latest(const struct cohort__inbox *inbox, const struct place *place)
{
    struct cohort__map_node *node = cohort__map_find(&inbox->latest, hash_of(place), is_at, place);
    return node ? COHORT_CONTAINER_OF(node, struct cohort_comm, latest) : NULL;
}

static void forget_latest(struct cohort__inbox *inbox, struct cohort_comm *comm)
{
    if (comm && comm->is_latest)
        cohort__map_remove(&inbox->latest, &comm->latest);
    if (comm)
        comm->is_latest = false;
}

void cohort__inbox_add(struct cohort__inbox *inbox, struct cohort_comm *comm)
{
    pthread_mutex_lock(&inbox->lock);
    cohort__list_push_back(&inbox->endpoints, &comm->link);
    inbox->num_endpoints++;
    pthread_mutex_unlock(&inbox->lock);
}

void cohort__inbox_set_latest(struct cohort__inbox *inbox, struct cohort_comm *comm)
{
    struct place place = {comm->group->name, comm->this_site};
    pthread_mutex_lock(&inbox->lock);
    forget_latest(inbox, find_latest(inbox, &place));
    cohort__map_insert(&inbox->latest, &comm->latest, hash_of(&place));
    comm->is_latest = true;
    pthread_mutex_unlock(&inbox->lock);
}

bool cohort__inbox_has_site(struct cohort__inbox *inbox, const char *name, uint32_t site,
                            uint64_t *ret_left_instance)
{
    pthread_mutex_lock(&inbox->lock);
    const struct cohort_comm *comm = find_latest(inbox, &(struct place){name, site});
    bool has_left = comm && atomic_load(&comm->refs) == 0;
    *ret_left_instance = has_left ? comm->group->membership->instance : 0;
    pthread_mutex_unlock(&inbox->lock);
    return comm && !has_left;
}

/* The endpoint behind LINK, with a reference to its group. NULL: there is none. */
static struct cohort_comm *endpoint_after(struct cohort__inbox *inbox,
                                          const struct cohort__list *link)
{
    struct cohort_comm *comm = NULL;
    pthread_mutex_lock(&inbox->lock);
    if (link->next != &inbox->endpoints) {
        comm = COHORT_CONTAINER_OF(link->next, struct cohort_comm, link);
        cohort__group_ref(comm->group);
    }
    pthread_mutex_unlock(&inbox->lock);
    return comm;
}

/* Without the lock. The reference keeps the current endpoint in the list, and nothing ticks. */
static void leave_all(struct cohort__inbox *inbox)
{
    struct cohort_comm *comm = endpoint_after(inbox, &inbox->endpoints);
    while (comm) {
        cohort__endpoint_leave(comm);
        struct cohort_comm *next = endpoint_after(inbox, &comm->link);
        cohort__group_unref(comm->group);
        comm = next;
    }
}

static bool has_locality(const struct cohort__group *group, uint32_t rank)
{
    for (uint32_t i = 0; i < group->num_localities; i++)
        if (group->membership->locality_of[cohort__group_first_site(group, i)] == rank)
            return true;
    return false;
}

/* To the other groups nothing has happened. */
static void on_peer_died(void *context, uint32_t rank)
{
    struct cohort__inbox *inbox = context;
    /* In one go: ticks put endpoints behind all others. */
    pthread_mutex_lock(&inbox->lock);
    for (struct cohort__list *link = inbox->endpoints.next; link != &inbox->endpoints;
         link = link->next) {
        struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, link);
        if (has_locality(comm->group, rank))
            cohort__endpoint_peer_died(comm);
    }
    pthread_mutex_unlock(&inbox->lock);
    cohort__process_more(inbox->commons.process);
}

/* Freeing groups ---------------------------------------------------------------------------- */

/* With the lock held: from now on GROUP and its endpoints can't be found. */
static void take_out(struct cohort__inbox *inbox, struct cohort__group *group)
{
    cohort__map_remove(&inbox->groups, &group->node);
    for (uint32_t i = 0; i < group->local.num; i++) {
        struct cohort_comm *comm = cohort__endpoint_at(group, group->local.sites[i]);
        if (!comm)
            continue;
        if (!cohort__list_is_empty(&comm->link))
            inbox->num_endpoints--;
        cohort__list_remove(&comm->link);
        forget_latest(inbox, comm);
    }
}

/* Frees the group of INSTANCE, if it is there and nothing can happen in it any more. The thread
 * that makes that true comes here afterwards, since it ends a turn or gives back a reference. If
 * the group has a board or notes, the thread that turns the event loop looks at them, so that
 * thread has to free the group. */
static void reclaim(struct cohort__commons *commons, uint64_t instance)
{
    struct cohort__inbox *inbox = cohort__inbox_of(commons);
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, instance);
    bool is_over = group && quiet_has_come(group);
    bool is_for_holder = is_over && (group->has_board || group->has_notes);
    if (is_over)
        take_out(inbox, group);
    if (is_for_holder) {
        cohort__list_push_back(&inbox->retired, &group->retired);
        atomic_store(&inbox->is_holder_asked, true);
    }
    pthread_mutex_unlock(&inbox->lock);
    if (is_over && !is_for_holder)
        cohort__group_destroy(group);
}

/* By the thread that turns the event loop: does what it has been asked for. */
static void do_as_asked(struct cohort__inbox *inbox)
{
    struct cohort__list retired, *link;
    cohort__list_init(&retired);
    pthread_mutex_lock(&inbox->lock);
    atomic_store(&inbox->is_holder_asked, false);
    struct cohort__group *last = inbox->last && inbox->last->has_ended ? inbox->last : NULL;
    if (last)
        inbox->last = NULL;
    cohort__list_splice_back(&retired, &inbox->retired);
    pthread_mutex_unlock(&inbox->lock);
    while ((link = cohort__list_pop_front(&retired)))
        cohort__group_destroy(COHORT_CONTAINER_OF(link, struct cohort__group, retired));
    cohort__group_unref(last);
}

/* All sites of the instance have left. */
static void on_ended(void *context, uint64_t instance)
{
    struct cohort__inbox *inbox = context;
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, instance);
    if (group && group->has_ended)
        group = NULL;
    if (group)
        group->has_ended = true;
    if (group && group == inbox->last)
        atomic_store(&inbox->is_holder_asked, true);
    pthread_mutex_unlock(&inbox->lock);
    if (group)
        cohort__verdicts_release(group, true);
    cohort__group_unref(group);
}

/* Looking and ticking ----------------------------------------------------------------------- */

static bool on_look(void *context)
{
    struct cohort__inbox *inbox = context;
    if (atomic_load_explicit(&inbox->is_holder_asked, memory_order_relaxed))
        do_as_asked(inbox);
    return cohort__watches_look(&inbox->commons.watches);
}

enum { TICKED_AT_ONCE = 64, TICKED_IN_A_TURN = 1024 };

/* Looks at the next endpoints, and puts them behind all others. BUSY gets those in which something
 * is in flight, with references to their groups. Returns how many. Since some may be gone, others
 * may be looked at twice. */
static uint32_t take_busy(struct cohort__inbox *inbox, struct cohort_comm **busy)
{
    uint32_t num = 0;
    pthread_mutex_lock(&inbox->lock);
    for (uint32_t i = 0; i < TICKED_AT_ONCE && inbox->num_unticked > 0; i++) {
        struct cohort__list *link = cohort__list_pop_front(&inbox->endpoints);
        if (!link) {
            inbox->num_unticked = 0;
            break;
        }
        inbox->num_unticked--;
        cohort__list_push_back(&inbox->endpoints, link);
        struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, link);
        if (cohort__endpoint_wants_tick(comm)) {
            cohort__group_ref(comm->group);
            busy[num++] = comm;
        }
    }
    pthread_mutex_unlock(&inbox->lock);
    return num;
}

/* Ticks some of the endpoints, which may be very many. Whether there are others. */
static bool tick_some(struct cohort__inbox *inbox)
{
    struct cohort_comm *busy[TICKED_AT_ONCE];
    for (uint32_t i = 0; i < TICKED_IN_A_TURN && inbox->num_unticked > 0; i += TICKED_AT_ONCE)
        for (uint32_t num = take_busy(inbox, busy); num > 0; num--) {
            cohort__endpoint_tick(busy[num - 1]);
            cohort__group_unref(busy[num - 1]->group);
        }
    return inbox->num_unticked > 0;
}

/* Without shared memory on_look is never called, so do_as_asked is called here, too. */
static void on_tick(void *context, uint64_t now)
{
    (void)now;
    struct cohort__inbox *inbox = context;
    do_as_asked(inbox);
    pthread_mutex_lock(&inbox->lock);
    inbox->num_unticked = inbox->num_endpoints;
    pthread_mutex_unlock(&inbox->lock);
    if (tick_some(inbox))
        cohort__process_more(inbox->commons.process);
}

static bool on_go_on(void *context)
{
    struct cohort__inbox *inbox = context;
    bool has_more = cohort__later_go_on(&inbox->commons);
    return tick_some(inbox) || has_more;
}

static bool is_busy(void *context)
{
    const struct cohort__inbox *inbox = context;
    return cohort__commons_are_busy(&inbox->commons);
}

static void stop(void *context)
{
    struct cohort__inbox *inbox = context;
    leave_all(inbox);
    while (cohort__later_go_on(&inbox->commons))
        ;
    struct cohort__list taken, *link;
    cohort__list_init(&taken);
    unknown_settle_all(&inbox->unknown, &taken);
    sort_out(inbox, NULL, &taken);
    while ((link = cohort__list_pop_front(&inbox->retired)))
        cohort__group_destroy(COHORT_CONTAINER_OF(link, struct cohort__group, retired));
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&inbox->groups))) {
        cohort__map_remove(&inbox->groups, node);
        cohort__group_destroy(COHORT_CONTAINER_OF(node, struct cohort__group, node));
    }
    cohort__map_fini(&inbox->groups);
    cohort__map_fini(&inbox->latest);
    cohort__commons_fini(&inbox->commons);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}

static cohort_status create(struct cohort__inbox **ret_inbox, struct cohort__process *process)
{
    struct cohort__inbox *inbox = calloc(1, sizeof(*inbox));
    if (!inbox)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the inbox of communicators");
    cohort__commons_init(&inbox->commons, process);
    inbox->commons.unused = reclaim;
    inbox->commons.receive = cohort__delivery_run;
    inbox->commons.destroy = cohort__endpoint_destroy;
    pthread_mutex_init(&inbox->lock, NULL);
    cohort__map_init(&inbox->groups);
    cohort__map_init(&inbox->latest);
    cohort__list_init(&inbox->endpoints);
    cohort__list_init(&inbox->retired);
    cohort__registry_set_revoked(cohort__process_registry(process), on_revoked, inbox);
    cohort__registry_set_ended(cohort__process_registry(process), on_ended, inbox);
    cohort__registry_set_unused(cohort__process_registry(process), on_unused, inbox);
    cohort__process_set_handlers(process, &(struct cohort__process_handlers){
                                              .context = inbox,
                                              .message = on_message,
                                              .peer_died = on_peer_died,
                                              .go_on = on_go_on,
                                              .tick = on_tick,
                                              .look = on_look,
                                              .busy = is_busy,
                                              .stop = stop,
                                          });
    *ret_inbox = inbox;
    return COHORT_OK;
}

cohort_status cohort__inbox_get(struct cohort__process *process, struct cohort__inbox **ret_inbox)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    struct cohort__inbox *inbox = cohort__process_context(process);
    cohort_status status = inbox ? COHORT_OK : create(&inbox, process);
    pthread_mutex_unlock(&lock);
    if (!status)
        *ret_inbox = inbox;
    return status;
}
