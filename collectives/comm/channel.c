/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/comm/channel_private.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/operation.h"
#include "collectives/comm/remote.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/task/scope.h"

/* Of channels: what a site remembers of each site that it gets from, and of each such site and tag.
 * In the endpoint's turn. */

struct cohort__channel_queue;

/* A site that this one gets messages from. */
struct cohort__channel_source {
    struct cohort__map_node node; /* by site; the hash is the key */
    uint32_t site;
    uint32_t expected; /* the next sequence number; they wrap around */
    uint32_t num_gets; /* gets that wait for a message from it */
    bool has_left;     /* the communicator, after `num_set` messages for this site */
    uint32_t num_set;
    struct cohort__list doomed;         /* in `doomed_sources`, or in no list */
    struct cohort__list overtaking;     /* messages that came before their turn, in order */
    struct cohort__list queues;         /* of it, by `of_source` */
    struct cohort__channel_queue *last; /* used last; it stays even if nothing waits in it */
};

/* What waits for one source and tag: messages that no get has asked for, or gets without a
 * message. */
struct cohort__channel_queue {
    struct cohort__map_node node;
    struct cohort__channel_source *source;
    struct cohort__list of_source;
    uint64_t tag;
    struct cohort__list messages;
    struct cohort__list gets;
};

struct cohort__channel_key {
    uint32_t site;
    uint64_t tag;
};

/* What gets from any site need: for one tag, those gets, and messages of all sites that no get has
 * asked for, in the order in which they came. It is there while one of the two is. A message that
 * comes is not sorted by its tag alone, since most are never asked for so: it is put at the end of
 * `unsorted`. A get from any site sorts from there on until it has found one with its tag, so each
 * message is sorted once at most. In the endpoint's turn. */
struct cohort__channel_any {
    struct cohort__map_node node; /* by tag; the hash is the key */
    struct cohort__list messages; /* linked by `of_tag` */
    struct cohort__list gets;
};

static struct cohort__channel_source *source_find(struct cohort__channels *channels, uint32_t site)
{
    uint64_t hash = cohort__hash_u64(site);
    struct cohort__map_node *node = cohort__map_find(&channels->sources, hash, NULL, NULL);
    if (node)
        return COHORT_CONTAINER_OF(node, struct cohort__channel_source, node);
    struct cohort__channel_source *source = cohort__slab_alloc_zero(sizeof(*source));
    if (!source)
        return NULL;
    source->site = site;
    cohort__list_init(&source->doomed);
    cohort__list_init(&source->overtaking);
    cohort__list_init(&source->queues);
    cohort__map_insert(&channels->sources, &source->node, hash);
    return source;
}

/* The record of SITE. NULL: out of memory. */
static struct cohort__channel_source *channel_source_of(struct cohort__channels *channels,
                                                        uint32_t site)
{
    if (!channels->last_source || channels->last_source->site != site)
        channels->last_source = source_find(channels, site);
    return channels->last_source;
}

static uint64_t queue_hash(struct cohort__channel_key key)
{
    return cohort__hash_mix(key.site, key.tag);
}

static bool queue_equal(const struct cohort__map_node *node, const void *looked_for)
{
    const struct cohort__channel_key *key = looked_for;
    const struct cohort__channel_queue *queue =
        COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node);
    return queue->tag == key->tag && queue->source->site == key->site;
}

/* The same if there is one, or NULL. */
static struct cohort__channel_queue *channel_queue_find(const struct cohort__channels *channels,
                                                        struct cohort__channel_key key)
{
    struct cohort__map_node *node =
        cohort__map_find(&channels->queues, queue_hash(key), queue_equal, &key);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node) : NULL;
}

static struct cohort__channel_queue *queue_make(struct cohort__channels *channels,
                                                struct cohort__channel_source *source, uint64_t tag)
{
    struct cohort__channel_queue *queue = cohort__slab_alloc(sizeof(*queue));
    if (!queue)
        return NULL;
    queue->source = source;
    cohort__list_push_back(&source->queues, &queue->of_source);
    queue->tag = tag;
    cohort__list_init(&queue->messages);
    cohort__list_init(&queue->gets);
    struct cohort__channel_key key = {source->site, tag};
    cohort__map_insert(&channels->queues, &queue->node, queue_hash(key));
    return queue;
}

/* Frees it if it is empty, and not the one used last. */
static void channel_queue_tidy(struct cohort__channels *channels,
                               struct cohort__channel_queue *queue)
{
    if (queue == queue->source->last || !cohort__list_is_empty(&queue->messages) ||
        !cohort__list_is_empty(&queue->gets))
        return;
    cohort__map_remove(&channels->queues, &queue->node);
    cohort__list_remove(&queue->of_source);
    cohort__slab_free(queue);
}

/* If the queue is not the one used last: finds or makes it, and drops the last one if it is empty.
 * NULL: out of memory. */
static struct cohort__channel_queue *
queue_change(struct cohort__channels *channels, struct cohort__channel_source *source, uint64_t tag)
{
    struct cohort__channel_queue *queue =
        channel_queue_find(channels, (struct cohort__channel_key){source->site, tag});
    if (!queue)
        queue = queue_make(channels, source, tag);
    struct cohort__channel_queue *last = source->last;
    source->last = queue;
    if (last)
        channel_queue_tidy(channels, last);
    return queue;
}

/* The queue of SOURCE and TAG, which is then the one used last. NULL: out of memory. */
static struct cohort__channel_queue *channel_queue_of(struct cohort__channels *channels,
                                                      struct cohort__channel_source *source,
                                                      uint64_t tag)
{
    struct cohort__channel_queue *last = source->last;
    return last && last->tag == tag ? last : queue_change(channels, source, tag);
}

static void channel_queues_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&channels->queues))) {
        cohort__map_remove(&channels->queues, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node));
    }
    while ((node = cohort__map_some(&channels->sources))) {
        cohort__map_remove(&channels->sources, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_source, node));
    }
    cohort__map_fini(&channels->queues);
    cohort__map_fini(&channels->sources);
}

/* The one of TAG, or NULL. */
static struct cohort__channel_any *channel_any_find(const struct cohort__channels *channels,
                                                    uint64_t tag)
{
    if (channels->any.num_nodes == 0)
        return NULL;
    struct cohort__map_node *node =
        cohort__map_find(&channels->any, cohort__hash_u64(tag), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_any, node) : NULL;
}

/* The same, but makes it if there is none. NULL: out of memory. */
static struct cohort__channel_any *channel_any_need(struct cohort__channels *channels, uint64_t tag)
{
    struct cohort__channel_any *any = channel_any_find(channels, tag);
    if (any)
        return any;
    any = cohort__slab_alloc(sizeof(*any));
    if (!any)
        return NULL;
    cohort__list_init(&any->messages);
    cohort__list_init(&any->gets);
    cohort__map_insert(&channels->any, &any->node, cohort__hash_u64(tag));
    return any;
}

static struct cohort__message *channel_any_message_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__message, of_tag);
}

/* What is sorted came before all that is not. */
static bool channel_any_first(struct cohort__channels *channels, uint64_t tag,
                              struct cohort__message **ret_message)
{
    struct cohort__channel_any *any = channel_any_find(channels, tag);
    struct cohort__list *link, *unsorted = &channels->unsorted;
    *ret_message = NULL;
    if (any && !cohort__list_is_empty(&any->messages)) {
        *ret_message = channel_any_message_of(any->messages.next);
        return true;
    }
    while ((link = unsorted->next) != unsorted) {
        if (channel_any_message_of(link)->fingerprint == tag) {
            *ret_message = channel_any_message_of(link);
            return true;
        }
        any = channel_any_need(channels, channel_any_message_of(link)->fingerprint);
        if (!any)
            return false;
        cohort__list_remove(link);
        cohort__list_push_back(&any->messages, link);
    }
    return true;
}

static void drop(struct cohort__channels *channels, struct cohort__channel_any *any)
{
    cohort__map_remove(&channels->any, &any->node);
    cohort__slab_free(any);
}

/* Frees it if it is empty. */
static void channel_any_tidy(struct cohort__channels *channels, struct cohort__channel_any *any)
{
    if (cohort__list_is_empty(&any->messages) && cohort__list_is_empty(&any->gets))
        drop(channels, any);
}

static void channel_any_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&channels->any)))
        drop(channels, COHORT_CONTAINER_OF(node, struct cohort__channel_any, node));
    cohort__map_fini(&channels->any);
}

void cohort__channels_begun(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num + 1, memory_order_relaxed);
}

static void channels_over(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num - 1, memory_order_relaxed);
    if (num > 1)
        return;
    comm->channels.asked_at = 0;
    comm->channels.backoff = 0;
    cohort__endpoint_over(comm);
}

/* Who is first says what happens: the scope, whose item then runs, or the owner. */
enum state {
    WATCHING,
    CANCELLED, /* the item is posted, or will be at once */
    OVER,      /* nothing will be posted */
};

struct cohort__channel_watch {
    struct cohort__scope_watch scope;
    struct cohort__item item;
    struct cohort_comm *comm;
    void (*cancel)(void *owner);
    void *owner; /* NULL: it is over. In the turn */
    bool is_told;
    _Atomic int state;
    _Atomic int users; /* `scope`, and the owner or the item, whichever is over last */
};

static void put(struct cohort__channel_watch *watch)
{
    if (atomic_fetch_sub_explicit(&watch->users, 1, memory_order_acq_rel) == 1)
        cohort__slab_free(watch);
}

static void release(struct cohort__scope_watch *scope)
{
    put(COHORT_CONTAINER_OF(scope, struct cohort__channel_watch, scope));
}

static void on_cancel(struct cohort__scope_watch *scope)
{
    struct cohort__channel_watch *watch =
        COHORT_CONTAINER_OF(scope, struct cohort__channel_watch, scope);
    int expected = WATCHING;
    if (atomic_compare_exchange_strong(&watch->state, &expected, CANCELLED))
        cohort__endpoint_post(watch->comm, &watch->item);
}

static void run(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__channel_watch *watch =
        COHORT_CONTAINER_OF(item, struct cohort__channel_watch, item);
    watch->is_told = true;
    if (watch->owner) {
        watch->cancel(watch->owner);
        return; /* the owner may be over now, and WATCH freed */
    }
    put(watch);
    channels_over(cohort__endpoint_of(actor));
}

bool cohort__channel_watch_create(struct cohort_comm *comm, void (*cancel)(void *owner),
                                  void *owner, struct cohort__channel_watch **ret_watch)
{
    *ret_watch = NULL;
    if (!cohort__scope_current())
        return true;
    struct cohort__channel_watch *watch = cohort__slab_alloc(sizeof(*watch));
    if (!watch)
        return false;
    watch->scope.cancel = on_cancel;
    watch->scope.release = release;
    watch->item.run = run;
    watch->comm = comm;
    watch->cancel = cancel;
    watch->owner = owner;
    watch->is_told = false;
    atomic_init(&watch->state, WATCHING);
    atomic_init(&watch->users, 2);
    *ret_watch = watch;
    return true;
}

void cohort__channel_watch_start(struct cohort__channel_watch *watch)
{
    if (watch)
        cohort__scope_watch(cohort__scope_current(), &watch->scope);
}

void cohort__channel_watch_over(struct cohort__channel_watch *watch, struct cohort_comm *comm)
{
    bool is_awaited = false;
    if (watch) {
        int before = atomic_exchange(&watch->state, OVER);
        is_awaited = before == CANCELLED && !watch->is_told;
        watch->owner = NULL;
        cohort__scope_unwatch(&watch->scope);
        if (!is_awaited)
            put(watch);
    }
    if (!is_awaited)
        channels_over(comm);
}

/* The getter's side: puts messages in order, and matches them with gets. */

static struct cohort__message *message_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__message, parked);
}

static struct cohort__channel_get *get_of(struct cohort__list *link)
{
    return COHORT_CONTAINER_OF(link, struct cohort__channel_get, link);
}

void cohort__channels_init(struct cohort__channels *channels)
{
    cohort__map_init(&channels->targets);
    cohort__map_init(&channels->sources);
    cohort__map_init(&channels->queues);
    cohort__map_init(&channels->any);
    cohort__map_init(&channels->lent);
    cohort__list_init(&channels->unsorted);
    cohort__list_init(&channels->sets);
    cohort__list_init(&channels->revoked_sets);
    cohort__list_init(&channels->unread);
    cohort__list_init(&channels->under_way);
    cohort__list_init(&channels->doomed_sources);
    cohort__list_init(&channels->doomed_any);
    channels->why_any = (struct cohort__error){0};
    atomic_init(&channels->num_not_over, 0);
}

void cohort__channels_fini(struct cohort__channels *channels)
{
    cohort__error_fini(&channels->why_any);
    cohort__questions_fini(&channels->questions);
    channel_queues_fini(channels);
    channel_any_fini(channels);
    cohort__map_fini(&channels->lent);
    cohort__channel_sets_fini(channels);
}

/* Gets that wait ------------------------------------------------------------------------------ */

static void start_waiting(struct cohort__channels *channels, struct cohort__channel_get *get,
                          struct cohort__list *gets)
{
    get->is_waiting = true;
    get->number = channels->num_asked++;
    cohort__list_push_back(gets, &get->link);
    if (get->site == COHORT_ANY_SITE) {
        channels->num_from_any++;
        return;
    }
    channels->num_from_site++;
    channel_source_of(channels, get->site)->num_gets++;
}

static void stop_waiting(struct cohort__channels *channels, struct cohort__channel_get *get)
{
    get->is_waiting = false;
    cohort__list_remove(&get->link);
    if (get->site == COHORT_ANY_SITE) {
        channels->num_from_any--;
        return;
    }
    channels->num_from_site--;
    channel_source_of(channels, get->site)->num_gets--;
}

/* Who gets the next message of QUEUE: of those who wait for its source, and those who take one from
 * any site (ANY may be NULL), who has asked first. NULL: nobody waits, or they are to fail. */
static struct cohort__channel_get *next_get(struct cohort__channel_queue *queue,
                                            struct cohort__channel_any *any)
{
    struct cohort__channel_get *own = NULL, *other = NULL;
    if (!cohort__list_is_empty(&queue->gets) && cohort__list_is_empty(&queue->source->doomed))
        own = get_of(queue->gets.next);
    if (any && !cohort__list_is_empty(&any->gets))
        other = get_of(any->gets.next);
    return !own || (other && other->number < own->number) ? other : own;
}

/* The same, and that one waits no more. Probes before it are told of the message, which has BYTES,
 * or is ERROR. */
static struct cohort__channel_get *take_get(struct cohort__channels *channels,
                                            struct cohort__channel_queue *queue, size_t bytes,
                                            const struct cohort__error *error)
{
    struct cohort__channel_any *any = channel_any_find(channels, queue->tag);
    struct cohort__channel_get *get;
    while ((get = next_get(queue, any))) {
        stop_waiting(channels, get);
        get->site = queue->source->site;
        if (!get->is_probe)
            break;
        if (error)
            cohort__channel_get_fail(get, error);
        else
            cohort__channel_get_tell(get, bytes);
    }
    if (any)
        channel_any_tidy(channels, any);
    return get;
}

/* GET waits no more, and fails. Where it waited may be dropped then. */
static void fail_get(struct cohort_comm *comm, struct cohort__channel_get *get,
                     cohort_status status, const char *why)
{
    struct cohort__error error = {0};
    char source[32] = "any site";
    if (get->site != COHORT_ANY_SITE)
        snprintf(source, sizeof(source), "site %u", get->site);
    cohort__error_set(&error, status,
                      "communicator \"%.60s\", site %u, message with tag %" PRIu64 " from %s: %s",
                      comm->group->name, comm->this_site, get->tag, source, why);
    stop_waiting(&comm->channels, get);
    cohort__channel_get_fail(get, &error);
    cohort__error_fini(&error);
}

/* The same, and that is dropped if nothing else waits there. */
static void fail_alone(struct cohort_comm *comm, struct cohort__channel_get *get,
                       cohort_status status, const char *why)
{
    struct cohort__channels *channels = &comm->channels;
    const struct cohort__channel_key key = {get->site, get->tag};
    fail_get(comm, get, status, why);
    struct cohort__channel_any *any = channel_any_find(channels, key.tag);
    struct cohort__channel_queue *queue =
        key.site == COHORT_ANY_SITE ? NULL : channel_queue_find(channels, key);
    if (queue)
        channel_queue_tidy(channels, queue);
    if (any)
        channel_any_tidy(channels, any);
}

/* At most *LEFT of GETS, and that is so many less then. */
static void fail_gets(struct cohort_comm *comm, struct cohort__list *gets, cohort_status status,
                      const char *why, uint32_t *left)
{
    for (; *left > 0 && !cohort__list_is_empty(gets); --*left)
        fail_get(comm, get_of(gets->next), status, why);
}

/* Messages that wait --------------------------------------------------------------------------- */

/* Of the message that SITE has set with NUMBER, which is all that its key is. */
static uint64_t hash_of(uint32_t site, uint32_t number)
{
    return cohort__hash_u64((uint64_t)site << 32 | number);
}

static bool is_lent(const struct cohort__message *message)
{
    return message->loan || message->kind == COHORT__KIND_ANNOUNCE;
}

/* MESSAGE is kept until a get takes it, or its setter takes it back; and no more. */
static void keep(struct cohort__channels *channels, struct cohort__message *message)
{
    if (message->arrival)
        cohort__arrival_park(message->arrival);
    if (is_lent(message))
        cohort__map_insert(&channels->lent, &message->lent,
                           hash_of(message->source_site, message->tag));
}

static void keep_no_more(struct cohort__channels *channels, struct cohort__message *message)
{
    cohort__list_remove(&message->parked);
    if (is_lent(message))
        cohort__map_remove(&channels->lent, &message->lent);
}

static void park(struct cohort__channels *channels, struct cohort__channel_queue *queue,
                 struct cohort__message *message)
{
    keep(channels, message);
    cohort__list_push_back(&queue->messages, &message->parked);
    cohort__list_push_back(&channels->unsorted, &message->of_tag);
}

static void unpark(struct cohort__channels *channels, struct cohort__message *message)
{
    struct cohort__channel_any *any = channel_any_find(channels, message->fingerprint);
    keep_no_more(channels, message);
    cohort__list_remove(&message->of_tag);
    if (any)
        channel_any_tidy(channels, any);
}

/* Whether there is hope ---------------------------------------------------------------------------
 */

/* It has left, and all that it has set for this site has come. */
static bool is_over(const struct cohort__channel_source *source)
{
    return source->has_left && (int32_t)(source->expected - source->num_set) >= 0;
}

/* Why no more messages will come from SOURCE, with a message. COHORT_OK: more may come. */
static cohort_status hopeless(const struct cohort_comm *comm,
                              const struct cohort__channel_source *source)
{
    if (comm->has_left)
        return cohort_fail(COHORT_ERR_CANCELLED, "this site has left the communicator");
    if (comm->channels.has_lost)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "a message was lost for want of memory");
    cohort_status status = COHORT_OK;
    if (cohort__remote_may_be_lost(comm->group)) /* perhaps the reason why that site has left */
        status = is_over(source) ? cohort__remote_broken(comm->group)
                                 : cohort__remote_lost(comm->group, source->site);
    if (!status && is_over(source))
        return cohort_fail(COHORT_ERR_GONE, "site %u (locality %u) has left the communicator",
                           source->site, comm->group->membership->locality_of[source->site]);
    return status;
}

/* The site that is the how manyth behind this one, in a circle. */
static uint32_t site_behind(const struct cohort_comm *comm, uint32_t num)
{
    return (uint32_t)((comm->this_site + UINT64_C(1) + num) % comm->group->membership->num_sites);
}

/* What is known of SITE, or NULL. */
static const struct cohort__channel_source *known(const struct cohort_comm *comm, uint32_t site)
{
    struct cohort__map_node *node =
        cohort__map_find(&comm->channels.sources, cohort__hash_u64(site), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_source, node) : NULL;
}

static bool is_dead(const struct cohort_comm *comm, uint32_t site)
{
    const struct cohort__group *group = comm->group;
    struct cohort__death death;
    return cohort__remote_may_be_lost(group) &&
           cohort__process_death_of(group->commons->process, group->membership->locality_of[site],
                                    &death);
}

/* Whether no other site is left: those that live have left, and all that they had set has come. Who
 * is gone does not come back, so it is enough to know one that is not. */
static bool others_are_gone(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    const uint32_t num_others = comm->group->membership->num_sites - 1;
    for (; channels->num_gone < num_others; channels->num_gone++) {
        const uint32_t site = site_behind(comm, channels->num_gone);
        const struct cohort__channel_source *source = known(comm, site);
        if (!(source && is_over(source)) && !is_dead(comm, site))
            return false;
    }
    return num_others > 0;
}

/* Why gets from any site fail, with a message: a death, unless it is acknowledged. What follows
 * from the news of deaths, for all localities of the communicator, is looked up once for each news.
 */
static cohort_status broken_for_any(struct cohort_comm *comm)
{
    struct cohort__group *group = comm->group;
    const uint32_t news = cohort__process_death_news(group->commons->process);
    if (news == comm->channels.news_known && !cohort__remote_is_revoked(group))
        return COHORT_OK;
    cohort_status status = cohort__remote_broken_after(group, atomic_load(&comm->acknowledged));
    if (!status)
        comm->channels.news_known = news;
    return status;
}

/* Why a get from any site has nothing to wait for, with a message. */
static cohort_status hopeless_any(struct cohort_comm *comm)
{
    if (comm->has_left)
        return cohort_fail(COHORT_ERR_CANCELLED, "this site has left the communicator");
    if (comm->channels.has_lost)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "a message was lost for want of memory");
    cohort_status status = broken_for_any(comm);
    if (status)
        return status; /* it may have been a dead site's message */
    if (others_are_gone(comm))
        return cohort_fail(COHORT_ERR_GONE, "all other sites have left the communicator%s",
                           atomic_load(&comm->acknowledged) ? ", or have died" : "");
    return COHORT_OK;
}

/* Nothing comes any more for gets from any site: they fail for this reason, whatever comes. */
static void doom_any(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    struct cohort__map_node *next, *node;
    if (channels->num_from_any == 0 || !hopeless_any(comm))
        return;
    if (cohort__list_is_empty(&channels->doomed_any))
        cohort__error_copy(&channels->why_any, cohort__error_slot());
    for (node = cohort__map_first(&channels->any); node; node = next) {
        next = cohort__map_next(&channels->any, node);
        struct cohort__channel_any *any =
            COHORT_CONTAINER_OF(node, struct cohort__channel_any, node);
        cohort__list_splice_back(&channels->doomed_any, &any->gets);
        channel_any_tidy(channels, any);
    }
}

/* The same for gets from SOURCE. */
static void doom_source(struct cohort_comm *comm, struct cohort__channel_source *source)
{
    if (source->num_gets > 0 && cohort__list_is_empty(&source->doomed) && hopeless(comm, source))
        cohort__list_push_back(&comm->channels.doomed_sources, &source->doomed);
}

/* Fails gets from SOURCE, which is doomed. Each queue that is looked at counts as one of *LEFT. */
static void fail_source(struct cohort_comm *comm, struct cohort__channel_source *source,
                        uint32_t *left)
{
    char why[COHORT__ERROR_BYTES];
    const cohort_status status = hopeless(comm, source);
    snprintf(why, sizeof(why), "%s", cohort_error_message());
    while (source->num_gets > 0 && *left > 0) {
        struct cohort__list *link = source->queues.next;
        struct cohort__channel_queue *queue =
            COHORT_CONTAINER_OF(link, struct cohort__channel_queue, of_source);
        --*left;
        fail_gets(comm, &queue->gets, status, why, left);
        if (!cohort__list_is_empty(&queue->gets))
            return;
        cohort__list_remove(link);
        cohort__list_push_back(&source->queues, link);
        channel_queue_tidy(&comm->channels, queue);
    }
}

static void release_unread(struct cohort__channels *channels)
{
    struct cohort__message *message = message_of(channels->unread.next);
    keep_no_more(channels, message);
    cohort__list_remove(&message->of_tag);
    cohort__message_release(message);
}

/* Fails some of the gets that are doomed, takes some of the sets back that are revoked, and gives
 * some of the messages back that nobody will get. Returns whether there are others. */
static bool fail_some(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    struct cohort__list *sources = &channels->doomed_sources;
    uint32_t left = COHORT__ENDS_OF_A_TURN;
    while (left > 0 && !cohort__list_is_empty(sources)) {
        struct cohort__channel_source *source =
            COHORT_CONTAINER_OF(sources->next, struct cohort__channel_source, doomed);
        fail_source(comm, source, &left);
        if (source->num_gets == 0)
            cohort__list_remove(&source->doomed);
    }
    fail_gets(comm, &channels->doomed_any, channels->why_any.status,
              cohort__error_message(&channels->why_any), &left);
    if (cohort__list_is_empty(&channels->doomed_any))
        cohort__error_fini(&channels->why_any);
    for (; left > 0 && !cohort__list_is_empty(&channels->revoked_sets); left--)
        cohort__channel_set_take_back(channels);
    for (; left > 0 && !cohort__list_is_empty(&channels->unread); left--)
        release_unread(channels);
    if (left < COHORT__ENDS_OF_A_TURN)
        cohort__later_count(comm, COHORT__ENDS_OF_A_TURN - left);
    return !cohort__list_is_empty(sources) || !cohort__list_is_empty(&channels->doomed_any) ||
           !cohort__list_is_empty(&channels->revoked_sets) ||
           !cohort__list_is_empty(&channels->unread);
}

void cohort__channels_go_on(struct cohort_comm *comm)
{
    if (fail_some(comm))
        cohort__later_more(comm);
}

static void doom_all(struct cohort_comm *comm)
{
    struct cohort__map *sources = &comm->channels.sources;
    for (struct cohort__map_node *node = cohort__map_first(sources); node;
         node = cohort__map_next(sources, node))
        doom_source(comm, COHORT_CONTAINER_OF(node, struct cohort__channel_source, node));
    doom_any(comm);
}

/* Fails the gets for which no message will come any more. */
static void give_up(struct cohort_comm *comm)
{
    doom_all(comm);
    cohort__channels_go_on(comm);
}

/* The same after news of SOURCE alone. */
static void give_up_if_over(struct cohort_comm *comm, struct cohort__channel_source *source)
{
    if (!is_over(source))
        return;
    doom_source(comm, source);
    doom_any(comm);
    cohort__channels_go_on(comm);
}

/* MESSAGE has waited in QUEUE. */
static void get_parked(struct cohort__channels *channels, struct cohort__channel_queue *queue,
                       struct cohort__message *message, struct cohort__channel_get *get)
{
    get->site = message->source_site;
    if (!get->is_probe) {
        unpark(channels, message);
        channel_queue_tidy(channels, queue);
        cohort__channel_get_take(get, message);
    } else if (message->kind == COHORT__KIND_ERROR) {
        cohort__channel_get_fail(get, &message->error);
    } else {
        cohort__channel_get_tell(get, message->bytes);
    }
}

static cohort_status no_memory(void)
{
    return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for waiting for a message");
}

/* In what is revoked nothing is got any more: GET waits, and that is in vain. */
static cohort_status get_from_any(struct cohort__channels *channels,
                                  struct cohort__channel_get *get)
{
    struct cohort__message *message = NULL;
    if (!cohort__remote_is_revoked(get->comm->group) &&
        !channel_any_first(channels, get->tag, &message))
        return no_memory();
    if (message) {
        struct cohort__channel_key key = {message->source_site, get->tag};
        get_parked(channels, channel_queue_find(channels, key), message, get);
        return COHORT_OK;
    }
    struct cohort__channel_any *any = channel_any_need(channels, get->tag);
    if (!any)
        return no_memory();
    start_waiting(channels, get, &any->gets);
    return COHORT_OK;
}

static cohort_status get_from_site(struct cohort__channels *channels,
                                   struct cohort__channel_get *get)
{
    struct cohort__channel_source *source = channel_source_of(channels, get->site);
    struct cohort__channel_queue *queue =
        source ? channel_queue_of(channels, source, get->tag) : NULL;
    if (!queue)
        return no_memory();
    if (cohort__list_is_empty(&queue->messages) || cohort__remote_is_revoked(get->comm->group))
        start_waiting(channels, get, &queue->gets);
    else
        get_parked(channels, queue, message_of(queue->messages.next), get);
    return COHORT_OK;
}

cohort_status cohort__channels_get(struct cohort_comm *comm, struct cohort__channel_get *get)
{
    struct cohort__channels *channels = &comm->channels;
    const bool is_any = get->site == COHORT_ANY_SITE;
    const uint64_t num_asked = channels->num_asked;
    cohort_status status = is_any ? get_from_any(channels, get) : get_from_site(channels, get);
    if (status || channels->num_asked == num_asked)
        return status; /* GET may be over */
    if (get->is_cancelled) {
        cohort__channels_cancel(comm, get);
        return COHORT_OK;
    }
    status = is_any ? hopeless_any(comm) : hopeless(comm, channel_source_of(channels, get->site));
    if (status) {
        char why[COHORT__ERROR_BYTES];
        snprintf(why, sizeof(why), "%s", cohort_error_message());
        fail_alone(comm, get, status, why);
    }
    return COHORT_OK;
}

void cohort__channels_cancel(struct cohort_comm *comm, struct cohort__channel_get *get)
{
    if (get->is_waiting)
        fail_alone(comm, get, COHORT_ERR_CANCELLED,
                   "the scope of the task that asked is cancelled");
}

/* Messages ------------------------------------------------------------------------------------ */

/* There is no memory for MESSAGE. From now on gets that have to wait fail, since they would take
 * later messages for it. */
static void lose(struct cohort_comm *comm, struct cohort__message *message)
{
    comm->channels.has_lost = true;
    cohort__message_release(message);
    give_up(comm);
}

/* MESSAGE is the next one of SOURCE. */
static void deliver(struct cohort_comm *comm, struct cohort__channel_source *source,
                    struct cohort__message *message)
{
    struct cohort__channels *channels = &comm->channels;
    struct cohort__channel_queue *queue = channel_queue_of(channels, source, message->fingerprint);
    source->expected++;
    if (!queue) {
        lose(comm, message);
        return;
    }
    bool is_error = message->kind == COHORT__KIND_ERROR;
    struct cohort__channel_get *get =
        take_get(channels, queue, message->bytes, is_error ? &message->error : NULL);
    if (get)
        cohort__channel_get_take(get, message);
    else
        park(channels, queue, message);
}

/* If a message with the number of MESSAGE, an error, is kept and not read, MESSAGE takes its place.
 * The setter of that one has left, or its scope is cancelled: it wants its memory back. */
static bool replace(struct cohort__channels *channels, struct cohort__message *message)
{
    struct cohort__map_node *node =
        cohort__map_find(&channels->lent, hash_of(message->source_site, message->tag), NULL, NULL);
    if (!node)
        return false;
    struct cohort__message *other = COHORT_CONTAINER_OF(node, struct cohort__message, lent);
    cohort__list_insert_after(&other->parked, &message->parked);
    cohort__list_insert_after(&other->of_tag, &message->of_tag);
    keep_no_more(channels, other);
    cohort__list_remove(&other->of_tag);
    cohort__message_release(other);
    return true;
}

static void overtake(struct cohort__channels *channels, struct cohort__channel_source *source,
                     struct cohort__message *message)
{
    struct cohort__list *place = source->overtaking.prev;
    while (place != &source->overtaking && (int32_t)(message_of(place)->tag - message->tag) > 0)
        place = place->prev;
    if (place != &source->overtaking && message_of(place)->tag == message->tag) {
        cohort__message_release(message); /* an error has come in its place */
        return;
    }
    keep(channels, message);
    cohort__list_init(&message->of_tag); /* it may have been early, before there was an endpoint */
    cohort__list_insert_after(place, &message->parked);
}

/* After a message of SOURCE, delivers those that came before their turn and are the next ones
 * now. */
static void deliver_more(struct cohort_comm *comm, struct cohort__channel_source *source)
{
    struct cohort__list *first;
    while ((first = source->overtaking.next) != &source->overtaking &&
           message_of(first)->tag == source->expected) {
        keep_no_more(&comm->channels, message_of(first));
        deliver(comm, source, message_of(first));
    }
    give_up_if_over(comm, source);
}

bool cohort__channels_take(struct cohort_comm *comm, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind != COHORT__KIND_DATA || comm->has_left ||
        envelope->payload_bytes > COHORT__ON_THE_SPOT_BYTES)
        return false;
    struct cohort__channel_source *source =
        channel_source_of(&comm->channels, envelope->source_site);
    if (!source || envelope->tag != source->expected)
        return false;
    struct cohort__channel_queue *queue =
        channel_queue_of(&comm->channels, source, envelope->fingerprint);
    struct cohort__channel_get *get =
        queue ? take_get(&comm->channels, queue, envelope->payload_bytes, NULL) : NULL;
    if (!get)
        return false;
    source->expected++;
    cohort__channel_get_read(get, arrival->data, envelope->payload_bytes);
    cohort__arrival_release(arrival);
    deliver_more(comm, source);
    return true;
}

static void receive_data(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__channel_source *source =
        channel_source_of(&comm->channels, message->source_site);
    if (!source) {
        lose(comm, message);
        return;
    }
    int32_t ahead = (int32_t)(message->tag - source->expected);
    if (message->kind == COHORT__KIND_ERROR && replace(&comm->channels, message))
        return;
    if (ahead > 0) {
        overtake(&comm->channels, source, message);
    } else if (ahead < 0) {
        cohort__message_release(message); /* it has been read, or an error has come in its place */
    } else {
        deliver(comm, source, message);
        deliver_more(comm, source);
    }
}

/* Asking -------------------------------------------------------------------------------------- */

/* Takes MESSAGE, a question. A site that has left says so, and how many messages it has set. */
static void answer(struct cohort_comm *comm, struct cohort__message *message)
{
    const uint32_t site = message->source_site;
    cohort__message_answer(message, comm->this_site, 0,
                           comm->has_left ? COHORT__ANSWER_GONE : COHORT__ANSWER_IN_FLIGHT);
    if (comm->has_left)
        message->last_called = cohort__channel_sets_count(&comm->channels, site);
    cohort__mail_send(comm->group, site, message, 0);
}

static void ask(struct cohort_comm *comm, uint32_t site)
{
    struct cohort__questions *questions = &comm->channels.questions;
    if (site == comm->this_site ||
        !cohort__questions_begin(questions, comm->group->membership->num_sites, site))
        return;
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_ASK, comm->this_site, 0, 0, 0);
    if (message)
        cohort__mail_send(comm->group, site, message, 0);
    else
        cohort__questions_end(questions, site);
}

static void ask_sources(struct cohort_comm *comm)
{
    for (struct cohort__map_node *node = cohort__map_first(&comm->channels.sources); node;
         node = cohort__map_next(&comm->channels.sources, node)) {
        const struct cohort__channel_source *source =
            COHORT_CONTAINER_OF(node, struct cohort__channel_source, node);
        if (source->num_gets > 0)
            ask(comm, source->site);
    }
}

/* A get from any site waits, which is over when all others are gone. So it is enough to ask the
 * next NUM that may be there. Each that has left lets two more be asked (take_answer), so with all
 * gone that is known after the logarithm of their number. If all sites wait so, each is asked by
 * another one. */
static void ask_next(struct cohort_comm *comm, uint32_t num)
{
    struct cohort__channels *channels = &comm->channels;
    while (num > 0 && channels->num_passed < comm->group->membership->num_sites - 1) {
        const uint32_t site = site_behind(comm, channels->num_passed++);
        const struct cohort__channel_source *source = known(comm, site);
        if ((source && source->has_left) || is_dead(comm, site))
            continue;
        ask(comm, site);
        num--;
    }
}

static void take_answer(struct cohort_comm *comm, const struct cohort__message *message)
{
    cohort__questions_end(&comm->channels.questions, message->source_site);
    if (message->tag != COHORT__ANSWER_GONE || message->fingerprint > 0)
        return; /* that it is revoked will be known here, too */
    struct cohort__channel_source *source =
        channel_source_of(&comm->channels, message->source_site);
    if (!source)
        return; /* without memory: it will be asked again */
    source->has_left = true;
    source->num_set = (uint32_t)message->last_called;
    give_up_if_over(comm, source);
    if (comm->channels.num_from_any > 0)
        ask_next(comm, 2);
}

void cohort__channels_tick(struct cohort_comm *comm, uint64_t now)
{
    struct cohort__channels *channels = &comm->channels;
    bool is_due = channels->asked_at && now - channels->asked_at >= comm->stall_after
                                                                        << channels->backoff;
    if (channels->asked_at && !is_due)
        return;
    channels->asked_at = now;
    channels->backoff += is_due && channels->backoff < COHORT__MAX_BACKOFF;
    if (!is_due)
        return;
    if (channels->num_from_site > 0)
        ask_sources(comm);
    if (channels->num_from_any > 0) {
        channels->num_passed = channels->num_gone;
        ask_next(comm, 1);
    }
}

void cohort__channels_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    if (message->kind == COHORT__KIND_ASK) {
        answer(comm, message);
    } else if (message->kind == COHORT__KIND_ANSWER) {
        take_answer(comm, message);
        cohort__message_release(message);
    } else if (comm->has_left) {
        cohort__message_release(message);
    } else {
        receive_data(comm, message);
    }
}

/* Ends ---------------------------------------------------------------------------------------- */

/* What is revoked is given back when its setters say so, who know why by then. */
void cohort__channels_peer_died(struct cohort_comm *comm)
{
    if (cohort__remote_is_revoked(comm->group))
        cohort__list_splice_back(&comm->channels.revoked_sets, &comm->channels.sets);
    give_up(comm);
}

void cohort__channels_leave(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    doom_all(comm);
    cohort__list_splice_back(&channels->revoked_sets, &channels->sets);
    while (fail_some(comm))
        ;
    struct cohort__map_node *node;
    for (node = cohort__map_first(&channels->queues); node;
         node = cohort__map_next(&channels->queues, node))
        cohort__list_splice_back(
            &channels->unread,
            &COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node)->messages);
    for (node = cohort__map_first(&channels->sources); node;
         node = cohort__map_next(&channels->sources, node))
        cohort__list_splice_back(
            &channels->unread,
            &COHORT_CONTAINER_OF(node, struct cohort__channel_source, node)->overtaking);
    cohort__channels_go_on(comm);
    struct cohort__list *next, *link;
    for (link = channels->under_way.next; link != &channels->under_way; link = next) {
        next = link->next;
        cohort__channel_get_stop(get_of(link));
    }
}

static bool visit_gets(const struct cohort__list *gets,
                       bool (*visit)(void *context, const cohort_future *future, uint64_t tag,
                                     uint32_t site, bool has_come),
                       void *context)
{
    for (struct cohort__list *link = gets->next; link != gets; link = link->next) {
        const struct cohort__channel_get *get = get_of(link);
        if (!visit(context, &get->future, get->tag, get->site, !get->is_waiting))
            return false;
    }
    return true;
}

bool cohort__channels_each_get(const struct cohort_comm *comm,
                               bool (*visit)(void *context, const cohort_future *future,
                                             uint64_t tag, uint32_t site, bool has_come),
                               void *context)
{
    const struct cohort__channels *channels = &comm->channels;
    struct cohort__map_node *node;
    for (node = cohort__map_first(&channels->queues); node;
         node = cohort__map_next(&channels->queues, node))
        if (!visit_gets(&COHORT_CONTAINER_OF(node, struct cohort__channel_queue, node)->gets, visit,
                        context))
            return false;
    for (node = cohort__map_first(&channels->any); node;
         node = cohort__map_next(&channels->any, node))
        if (!visit_gets(&COHORT_CONTAINER_OF(node, struct cohort__channel_any, node)->gets, visit,
                        context))
            return false;
    return visit_gets(&channels->doomed_any, visit, context) &&
           visit_gets(&channels->under_way, visit, context);
}

struct telling {
    const struct cohort_comm *comm;
    char *text;
    size_t used, capacity;
};

static bool tell_get(void *context, const cohort_future *future, uint64_t tag, uint32_t site,
                     bool has_come)
{
    struct telling *telling = context;
    char from[48] = "any site";
    (void)future;
    if (telling->used + 1 >= telling->capacity)
        return false;
    if (site != COHORT_ANY_SITE)
        snprintf(from, sizeof(from), "site %u (locality %u)", site,
                 telling->comm->group->membership->locality_of[site]);
    int length = snprintf(telling->text + telling->used, telling->capacity - telling->used,
                          "channel: %s a message with tag %" PRIu64 " from %s\n",
                          has_come ? "reads" : "waits for", tag, from);
    telling->used += length > 0 ? (size_t)length : 0;
    return true;
}

size_t cohort__channels_describe(const struct cohort_comm *comm, char *text, size_t used,
                                 size_t capacity)
{
    struct telling telling = {comm, text, used, capacity};
    (void)cohort__channels_each_get(comm, tell_get, &telling);
    if (telling.used >= capacity)
        telling.used = capacity - 1;
    return cohort__channel_sets_describe(comm, text, telling.used, capacity);
}
