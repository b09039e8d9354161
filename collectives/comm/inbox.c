/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"

struct cohort__inbox {
    struct cohort__process *process;
    pthread_mutex_t lock;      /* of all below; held across nothing that calls out */
    struct cohort__map groups; /* by instance */
    /* The last one that got a message; NULL: none. Only for the loop's holder, which is also who
     * frees groups, so it needs no lock. */
    struct cohort__group *last;
    struct cohort__list endpoints;
    struct cohort__list ended;   /* groups that may be freed once they are quiet */
    struct cohort__list unknown; /* messages for instances that may become known */
    uint32_t num_creations;      /* pending */
    _Atomic uint64_t num_works;
    _Atomic uint64_t watched; /* boards, a bit for each */
    struct cohort__meetings *_Atomic watchers[COHORT__NUM_BOARDS];
};

_Static_assert(COHORT__NUM_BOARDS == 64, "the bits of `watched`");

/* A message for an instance that is not known here. */
struct unknown {
    struct cohort__list link;
    struct cohort__arrival *arrival;
};

struct cohort__process *cohort__inbox_process(const struct cohort__inbox *inbox)
{
    return inbox->process;
}

/* Under the lock. */
static struct cohort__group *find(const struct cohort__inbox *inbox, uint64_t instance)
{
    struct cohort__map_node *node =
        cohort__map_find(&inbox->groups, cohort__hash_u64(instance), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__group, node) : NULL;
}

/* Nobody here knows the instance any more: all of its sites have left. */
static void answer_gone(struct cohort__inbox *inbox, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind == COHORT__KIND_ANNOUNCE)
        cohort__fetch_decline(inbox->process, envelope->source_locality, envelope->handle);
    if (envelope->kind == COHORT__KIND_ASK)
        cohort__death_send(inbox->process, envelope->source_locality,
                           &(struct cohort__envelope){
                               .kind = COHORT__KIND_ANSWER,
                               .instance = envelope->instance,
                               .generation = envelope->generation,
                               .source_site = envelope->dest_site,
                               .dest_site = envelope->source_site,
                               .tag = COHORT__ANSWER_GONE,
                           });
    cohort__arrival_release(arrival);
}

/* Who waits for what is lost would wait for ever. */
static void give_up(struct cohort__inbox *inbox, uint32_t rank)
{
    cohort__process_peer_died(inbox->process, rank,
                              "was given up: a message from it was lost here");
}

/* Takes ARRIVAL. */
static void deliver(struct cohort__inbox *inbox, struct cohort__group *group,
                    struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    uint32_t num_sites = group->membership->num_sites;
    uint32_t site = envelope->dest_site;
    bool is_for_all = site == COHORT__NO_SITE && envelope->kind == COHORT__KIND_ERROR &&
                      envelope->tag == COHORT__TAG_CALL;
    if ((!is_for_all && (site >= num_sites || !cohort__group_is_local(group, site))) ||
        envelope->source_site >= num_sites ||
        group->membership->locality_of[envelope->source_site] != envelope->source_locality) {
        cohort__log(COHORT__LOG_ERROR,
                    "communicator \"%s\": dropped a message of locality %u from site %u to %u",
                    group->name, envelope->source_locality, envelope->source_site, site);
        answer_gone(inbox, arrival);
        return;
    }
    uint32_t source = envelope->source_locality;
    if (!cohort__group_arrive(group, arrival))
        give_up(inbox, source);
}

/* Under the lock; takes ARRIVAL. False: there is no memory, and it is still the caller's. */
static bool keep_unknown(struct cohort__inbox *inbox, struct cohort__arrival *arrival)
{
    struct unknown *unknown = malloc(sizeof(*unknown));
    struct cohort__arrival *kept = unknown ? cohort__arrival_keep(arrival) : NULL;
    if (!kept) {
        free(unknown);
        return false;
    }
    cohort__arrival_park(kept);
    unknown->arrival = kept;
    cohort__list_push_back(&inbox->unknown, &unknown->link);
    return true;
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    struct cohort__inbox *inbox = context;
    if (inbox->last && inbox->last->membership->instance == arrival->envelope.instance) {
        deliver(inbox, inbox->last, arrival);
        return;
    }
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, arrival->envelope.instance);
    if (group)
        atomic_fetch_add(&group->num_users, 1);
    bool is_expected = !group && inbox->num_creations > 0;
    bool is_kept = is_expected && keep_unknown(inbox, arrival);
    pthread_mutex_unlock(&inbox->lock);
    if (group) {
        inbox->last = group;
        deliver(inbox, group, arrival);
        atomic_fetch_sub(&group->num_users, 1);
    } else if (!is_kept) {
        uint32_t source = arrival->envelope.source_locality;
        answer_gone(inbox, arrival);
        if (is_expected)
            give_up(inbox, source);
    }
}

/* Under the lock: takes out what was kept for GROUP, or, with NULL, all of it. */
static void take_unknown(struct cohort__inbox *inbox, const struct cohort__group *group,
                         struct cohort__list *taken)
{
    struct cohort__list *next, *link;
    cohort__list_init(taken);
    for (link = inbox->unknown.next; link != &inbox->unknown; link = next) {
        next = link->next;
        struct unknown *unknown = COHORT_CONTAINER_OF(link, struct unknown, link);
        if (group && unknown->arrival->envelope.instance != group->membership->instance)
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(taken, link);
    }
}

/* Hands what was TAKEN to GROUP, or, with NULL, answers it as gone. */
static void sort_out(struct cohort__inbox *inbox, struct cohort__group *group,
                     struct cohort__list *taken)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(taken))) {
        struct unknown *unknown = COHORT_CONTAINER_OF(link, struct unknown, link);
        if (group)
            deliver(inbox, group, unknown->arrival);
        else
            answer_gone(inbox, unknown->arrival);
        free(unknown);
    }
}

void cohort__inbox_creation_begin(struct cohort__inbox *inbox)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->num_creations++;
    pthread_mutex_unlock(&inbox->lock);
}

void cohort__inbox_creation_end(struct cohort__inbox *inbox)
{
    struct cohort__list taken;
    cohort__list_init(&taken);
    pthread_mutex_lock(&inbox->lock);
    if (--inbox->num_creations == 0)
        take_unknown(inbox, NULL, &taken); /* at once: they may not be of a later creation */
    pthread_mutex_unlock(&inbox->lock);
    sort_out(inbox, NULL, &taken);
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
    if (!group) {
        status = cohort__group_create(&made, inbox, name, membership);
        if (!status) {
            cohort__map_insert(&inbox->groups, &made->node, cohort__hash_u64(membership->instance));
            take_unknown(inbox, made, &taken);
        }
    }
    pthread_mutex_unlock(&inbox->lock);
    if (status || group)
        cohort__membership_unref(membership);
    if (status)
        return status;
    sort_out(inbox, made, &taken);
    *ret_group = group ? group : made;
    return COHORT_OK;
}

void cohort__inbox_add(struct cohort__inbox *inbox, struct cohort_comm *comm)
{
    pthread_mutex_lock(&inbox->lock);
    cohort__list_push_back(&inbox->endpoints, &comm->link);
    pthread_mutex_unlock(&inbox->lock);
}

bool cohort__inbox_has_site(struct cohort__inbox *inbox, const char *name, uint32_t site,
                            uint64_t *ret_left_instance)
{
    bool alive = false;
    *ret_left_instance = 0;
    pthread_mutex_lock(&inbox->lock);
    for (struct cohort__list *link = inbox->endpoints.next; link != &inbox->endpoints;
         link = link->next) {
        struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, link);
        if (comm->this_site != site || strcmp(comm->group->name, name) != 0)
            continue;
        if (!atomic_load(&comm->unreferenced))
            alive = true;
        else if (comm->group->membership->instance > *ret_left_instance)
            *ret_left_instance = comm->group->membership->instance;
    }
    pthread_mutex_unlock(&inbox->lock);
    return alive;
}

/* Calls VISIT for all endpoints, outside of the lock; one that is looked at stays in the list. */
static void for_each_endpoint(struct cohort__inbox *inbox, void (*visit)(struct cohort_comm *))
{
    pthread_mutex_lock(&inbox->lock);
    for (struct cohort__list *link = inbox->endpoints.next; link != &inbox->endpoints;) {
        struct cohort_comm *comm = COHORT_CONTAINER_OF(link, struct cohort_comm, link);
        struct cohort__group *group = comm->group;
        atomic_fetch_add(&group->num_users, 1);
        pthread_mutex_unlock(&inbox->lock);
        visit(comm);
        pthread_mutex_lock(&inbox->lock);
        link = link->next;
        atomic_fetch_sub(&group->num_users, 1);
    }
    pthread_mutex_unlock(&inbox->lock);
}

static void on_peer_died(void *context, uint32_t rank)
{
    (void)rank;
    for_each_endpoint(context, cohort__endpoint_peer_died);
}

void cohort__inbox_watch(struct cohort__inbox *inbox, const struct cohort__group *group,
                         struct cohort__meetings *meetings)
{
    atomic_store(&inbox->watchers[group->board.number], meetings);
    atomic_fetch_or(&inbox->watched, UINT64_C(1) << group->board.number);
}

void cohort__inbox_unwatch(struct cohort__inbox *inbox, const struct cohort__group *group)
{
    atomic_fetch_and(&inbox->watched, ~(UINT64_C(1) << group->board.number));
}

static bool on_look(void *context)
{
    struct cohort__inbox *inbox = context;
    bool any = false;
    for (uint64_t left = atomic_load_explicit(&inbox->watched, memory_order_acquire); left;
         left &= left - 1) {
        struct cohort__meetings *meetings =
            atomic_load_explicit(&inbox->watchers[__builtin_ctzll(left)], memory_order_acquire);
        any |= meetings->look(meetings);
    }
    return any;
}

/* Frees the groups that have ended and in which nobody is busy any more. */
static void reclaim(struct cohort__inbox *inbox)
{
    struct cohort__list quiet, *next, *link;
    cohort__list_init(&quiet);
    pthread_mutex_lock(&inbox->lock);
    for (link = inbox->ended.next; link != &inbox->ended; link = next) {
        next = link->next;
        struct cohort__group *group = COHORT_CONTAINER_OF(link, struct cohort__group, ended);
        if (!cohort__group_is_quiet(group))
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(&quiet, link);
        for (uint32_t site = 0; site < group->membership->num_sites; site++) {
            struct cohort_comm *comm = atomic_load(&group->endpoints[site]);
            if (comm)
                cohort__list_remove(&comm->link);
        }
    }
    pthread_mutex_unlock(&inbox->lock);
    if (!cohort__list_is_empty(&quiet))
        inbox->last = NULL;
    while ((link = cohort__list_pop_front(&quiet)))
        cohort__group_destroy(COHORT_CONTAINER_OF(link, struct cohort__group, ended));
}

static void on_tick(void *context, uint64_t now)
{
    (void)now;
    reclaim(context);
    for_each_endpoint(context, cohort__endpoint_tick);
}

static void on_ended(void *context, uint64_t instance)
{
    struct cohort__inbox *inbox = context;
    pthread_mutex_lock(&inbox->lock);
    struct cohort__group *group = find(inbox, instance);
    if (group) {
        cohort__map_remove(&inbox->groups, &group->node);
        cohort__list_push_back(&inbox->ended, &group->ended);
    }
    pthread_mutex_unlock(&inbox->lock);
}

void cohort__inbox_count_work(struct cohort__inbox *inbox, int change)
{
    atomic_fetch_add(&inbox->num_works, (uint64_t)(int64_t)change);
}

static bool is_busy(void *context)
{
    const struct cohort__inbox *inbox = context;
    return atomic_load(&inbox->num_works) > 0;
}

static void stop(void *context)
{
    struct cohort__inbox *inbox = context;
    struct cohort__list taken;
    for_each_endpoint(inbox, cohort__endpoint_leave);
    take_unknown(inbox, NULL, &taken);
    sort_out(inbox, NULL, &taken);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&inbox->ended)))
        cohort__group_destroy(COHORT_CONTAINER_OF(link, struct cohort__group, ended));
    struct cohort__map_node *node;
    while ((node = cohort__map_first(&inbox->groups))) {
        cohort__map_remove(&inbox->groups, node);
        cohort__group_destroy(COHORT_CONTAINER_OF(node, struct cohort__group, node));
    }
    cohort__map_fini(&inbox->groups);
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}

static cohort_status create(struct cohort__inbox **ret_inbox, struct cohort__process *process)
{
    struct cohort__inbox *inbox = calloc(1, sizeof(*inbox));
    if (!inbox)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the inbox of communicators");
    inbox->process = process;
    pthread_mutex_init(&inbox->lock, NULL);
    cohort__map_init(&inbox->groups);
    cohort__list_init(&inbox->endpoints);
    cohort__list_init(&inbox->unknown);
    cohort__list_init(&inbox->ended);
    cohort__registry_set_ended(cohort__process_registry(process), on_ended, inbox);
    cohort__process_set_handlers(process, &(struct cohort__process_handlers){
                                              .context = inbox,
                                              .message = on_message,
                                              .peer_died = on_peer_died,
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
