/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/channel.h"

#include <inttypes.h>
#include <stdio.h>

#include "collectives/comm/channel_private.h"
#include "collectives/comm/idle.h"
#include "collectives/comm/mail.h"
#include "collectives/comm/operation.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"

/* The getter's side: puts messages in order, and matches them with gets. */

struct queue;

/* A site that this one gets messages from. */
struct cohort__channel_source {
    struct cohort__map_node node; /* by site; the hash is the key */
    uint32_t site;
    uint32_t expected; /* the next sequence number; they wrap around */
    uint32_t num_gets; /* gets that wait for a message from it */
    bool has_left;     /* the communicator, after `num_set` messages for this site */
    uint32_t num_set;
    struct cohort__list overtaking; /* messages that came before their turn, in order */
    struct queue *last;             /* the queue used last; it stays even if nothing waits in it */
};

/* What waits for one source and tag: messages that no get has asked for, or gets without a
 * message. */
struct queue {
    struct cohort__map_node node;
    struct cohort__channel_source *source;
    uint64_t tag;
    struct cohort__list messages;
    struct cohort__list gets;
};

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
    cohort__list_init(&channels->sets);
    cohort__list_init(&channels->under_way);
    atomic_init(&channels->num_not_over, 0);
}

void cohort__channels_begun(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num + 1, memory_order_relaxed);
}

void cohort__channels_over(struct cohort_comm *comm)
{
    uint32_t num = atomic_load_explicit(&comm->channels.num_not_over, memory_order_relaxed);
    atomic_store_explicit(&comm->channels.num_not_over, num - 1, memory_order_relaxed);
    if (num > 1)
        return;
    comm->channels.asked_at = 0;
    comm->channels.patience = 0;
    cohort__endpoint_over(comm);
}

/* Sources and queues ------------------------------------------------------------------------- */

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
    cohort__list_init(&source->overtaking);
    cohort__map_insert(&channels->sources, &source->node, hash);
    return source;
}

static struct cohort__channel_source *source_of(struct cohort__channels *channels, uint32_t site)
{
    if (!channels->last_source || channels->last_source->site != site)
        channels->last_source = source_find(channels, site);
    return channels->last_source;
}

struct queue_key {
    uint32_t site;
    uint64_t tag;
};

static uint64_t queue_hash(struct queue_key key)
{
    return cohort__hash_mix(key.site, key.tag);
}

static bool queue_equal(const struct cohort__map_node *node, const void *looked_for)
{
    const struct queue_key *key = looked_for;
    const struct queue *queue = COHORT_CONTAINER_OF(node, struct queue, node);
    return queue->tag == key->tag && queue->source->site == key->site;
}

static struct queue *find_queue(const struct cohort__channels *channels, struct queue_key key)
{
    struct cohort__map_node *node =
        cohort__map_find(&channels->queues, queue_hash(key), queue_equal, &key);
    return node ? COHORT_CONTAINER_OF(node, struct queue, node) : NULL;
}

static struct queue *queue_make(struct cohort__channels *channels,
                                struct cohort__channel_source *source, uint64_t tag)
{
    struct queue *queue = cohort__slab_alloc(sizeof(*queue));
    if (!queue)
        return NULL;
    queue->source = source;
    queue->tag = tag;
    cohort__list_init(&queue->messages);
    cohort__list_init(&queue->gets);
    struct queue_key key = {source->site, tag};
    cohort__map_insert(&channels->queues, &queue->node, queue_hash(key));
    return queue;
}

static void drop_if_empty(struct cohort__channels *channels, struct queue *queue)
{
    if (queue == queue->source->last || !cohort__list_is_empty(&queue->messages) ||
        !cohort__list_is_empty(&queue->gets))
        return;
    cohort__map_remove(&channels->queues, &queue->node);
    cohort__slab_free(queue);
}

/* If the queue is not the one used last: finds or makes it, and drops the last one if it is empty.
 * NULL: out of memory. */
static struct queue *queue_change(struct cohort__channels *channels,
                                  struct cohort__channel_source *source, uint64_t tag)
{
    struct queue *queue = find_queue(channels, (struct queue_key){source->site, tag});
    if (!queue)
        queue = queue_make(channels, source, tag);
    struct queue *last = source->last;
    source->last = queue;
    if (last)
        drop_if_empty(channels, last);
    return queue;
}

/* NULL: out of memory. */
static struct queue *queue_of(struct cohort__channels *channels,
                              struct cohort__channel_source *source, uint64_t tag)
{
    struct queue *last = source->last;
    return last && last->tag == tag ? last : queue_change(channels, source, tag);
}

void cohort__channels_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_first(&channels->queues))) {
        cohort__map_remove(&channels->queues, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct queue, node));
    }
    while ((node = cohort__map_first(&channels->sources))) {
        cohort__map_remove(&channels->sources, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_source, node));
    }
    cohort__map_fini(&channels->queues);
    cohort__map_fini(&channels->sources);
    cohort__channel_sets_fini(channels);
}

/* Gets that wait ------------------------------------------------------------------------------ */

static void fail_gets(struct cohort_comm *comm, struct queue *queue, cohort_status status,
                      const char *why)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&queue->gets))) {
        struct cohort__error error = {0};
        cohort__error_set(&error, status,
                          "communicator \"%.60s\", site %u, message with tag %" PRIu64
                          " from site %u: %s",
                          comm->group->name, comm->this_site, queue->tag, queue->source->site, why);
        queue->source->num_gets--;
        cohort__channel_get_fail(get_of(link), &error);
        cohort__error_fini(&error);
    }
}

/* Why no more messages will come from SOURCE, with a message. COHORT_OK: more may come. */
static cohort_status hopeless(const struct cohort_comm *comm,
                              const struct cohort__channel_source *source)
{
    if (comm->has_left)
        return cohort_fail(COHORT_ERR_CANCELLED, "this site has left the communicator");
    if (comm->channels.has_lost)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "a message was lost for want of memory");
    bool is_over = source->has_left && (int32_t)(source->expected - source->num_set) >= 0;
    if (is_over && cohort__remote_is_broken(comm->group))
        return COHORT_ERR_PEER_DIED; /* perhaps the reason why that site has left */
    if (is_over)
        return cohort_fail(COHORT_ERR_GONE, "site %u (locality %u) has left the communicator",
                           source->site, comm->group->membership->locality_of[source->site]);
    if (cohort__remote_any_dead(comm->group) &&
        cohort__remote_check_dead(comm->group, source->site))
        return COHORT_ERR_PEER_DIED;
    return COHORT_OK;
}

/* Fails the gets for which no message will come any more. */
static void give_up(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    struct cohort__map_node *next, *node;
    for (node = cohort__map_first(&channels->queues); node; node = next) {
        next = cohort__map_next(&channels->queues, node);
        struct queue *queue = COHORT_CONTAINER_OF(node, struct queue, node);
        if (cohort__list_is_empty(&queue->gets))
            continue;
        cohort_status status = hopeless(comm, queue->source);
        if (!status)
            continue;
        char why[256];
        snprintf(why, sizeof(why), "%s", cohort_error_message());
        fail_gets(comm, queue, status, why);
        drop_if_empty(channels, queue);
    }
}

cohort_status cohort__channels_get(struct cohort_comm *comm, struct cohort__channel_get *get)
{
    struct cohort__channels *channels = &comm->channels;
    struct cohort__channel_source *source = source_of(channels, get->site);
    struct queue *queue = source ? queue_of(channels, source, get->tag) : NULL;
    if (!queue)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for waiting for a message");
    struct cohort__list *link = cohort__list_pop_front(&queue->messages);
    if (link) {
        cohort__channel_get_take(get, message_of(link));
        return COHORT_OK;
    }
    cohort__list_push_back(&queue->gets, &get->link);
    source->num_gets++;
    if (hopeless(comm, source))
        give_up(comm);
    return COHORT_OK;
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
    struct queue *queue = queue_of(channels, source, message->fingerprint);
    source->expected++;
    if (!queue) {
        lose(comm, message);
        return;
    }
    struct cohort__list *link = cohort__list_pop_front(&queue->gets);
    if (link) {
        source->num_gets--;
        cohort__channel_get_take(get_of(link), message);
    } else {
        if (message->arrival)
            cohort__arrival_park(message->arrival);
        cohort__list_push_back(&queue->messages, &message->parked);
    }
}

/* If there is a message in LIST with the number of MESSAGE, MESSAGE takes its place. The setter of
 * that one has left, and wants its memory back. */
static bool replace(struct cohort__list *list, struct cohort__message *message)
{
    for (struct cohort__list *link = list->next; link != list; link = link->next) {
        struct cohort__message *other = message_of(link);
        if (other->tag != message->tag)
            continue;
        cohort__list_insert_after(link, &message->parked);
        cohort__list_remove(link);
        cohort__message_release(other);
        return true;
    }
    return false;
}

/* A message with the number of MESSAGE, or an error in its place, has come before. */
static void repeat(struct cohort_comm *comm, struct cohort__channel_source *source,
                   struct cohort__message *message)
{
    struct queue *queue =
        find_queue(&comm->channels, (struct queue_key){source->site, message->fingerprint});
    bool is_taken =
        message->kind == COHORT__KIND_ERROR && queue && replace(&queue->messages, message);
    if (!is_taken)
        cohort__message_release(message);
}

static void overtake(struct cohort__channel_source *source, struct cohort__message *message)
{
    struct cohort__list *place = source->overtaking.prev;
    while (place != &source->overtaking && (int32_t)(message_of(place)->tag - message->tag) > 0)
        place = place->prev;
    bool is_twice = place != &source->overtaking && message_of(place)->tag == message->tag;
    if (!is_twice) {
        if (message->arrival)
            cohort__arrival_park(message->arrival);
        cohort__list_insert_after(place, &message->parked);
    } else if (message->kind != COHORT__KIND_ERROR || !replace(&source->overtaking, message)) {
        cohort__message_release(message);
    }
}

/* After a message of SOURCE, delivers those that came before their turn and are the next ones
 * now. */
static void deliver_more(struct cohort_comm *comm, struct cohort__channel_source *source)
{
    struct cohort__list *first;
    while ((first = source->overtaking.next) != &source->overtaking &&
           message_of(first)->tag == source->expected) {
        cohort__list_remove(first);
        deliver(comm, source, message_of(first));
    }
    if (source->has_left)
        give_up(comm);
}

bool cohort__channels_take(struct cohort_comm *comm, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind != COHORT__KIND_DATA || comm->has_left ||
        envelope->payload_bytes > COHORT__CHANNEL_ON_THE_SPOT_BYTES)
        return false;
    struct cohort__channel_source *source = source_of(&comm->channels, envelope->source_site);
    if (!source || envelope->tag != source->expected)
        return false;
    struct queue *queue = queue_of(&comm->channels, source, envelope->fingerprint);
    struct cohort__list *link = queue ? cohort__list_pop_front(&queue->gets) : NULL;
    if (!link)
        return false;
    source->expected++;
    source->num_gets--;
    cohort__channel_get_read(get_of(link), arrival->data, envelope->payload_bytes);
    cohort__arrival_release(arrival);
    deliver_more(comm, source);
    return true;
}

static void receive_data(struct cohort_comm *comm, struct cohort__message *message)
{
    struct cohort__channel_source *source = source_of(&comm->channels, message->source_site);
    if (!source) {
        lose(comm, message);
        return;
    }
    int32_t ahead = (int32_t)(message->tag - source->expected);
    if (ahead > 0) {
        overtake(source, message);
    } else if (ahead < 0) {
        repeat(comm, source, message);
    } else {
        deliver(comm, source, message);
        deliver_more(comm, source);
    }
}

/* Asking -------------------------------------------------------------------------------------- */

/* A site that has left says so, and how many messages it has set. Other sites do not answer. */
static void answer(struct cohort_comm *comm, uint32_t site)
{
    if (!comm->has_left)
        return;
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_ANSWER, comm->this_site, 0, 0, COHORT__ANSWER_GONE);
    if (!message)
        return; /* it will ask again */
    message->last_called = cohort__channel_sets_count(&comm->channels, site);
    cohort__mail_send(comm->group, site, message, 0);
}

static void take_answer(struct cohort_comm *comm, const struct cohort__message *message)
{
    struct cohort__channel_source *source = source_of(&comm->channels, message->source_site);
    if (!source || message->tag != COHORT__ANSWER_GONE)
        return;
    source->has_left = true;
    source->num_set = (uint32_t)message->last_called;
    give_up(comm);
}

void cohort__channels_tick(struct cohort_comm *comm, uint64_t now)
{
    struct cohort__channels *channels = &comm->channels;
    bool is_due = channels->asked_at && now - channels->asked_at >= comm->stall_after
                                                                        << channels->patience;
    if (channels->asked_at && !is_due)
        return;
    channels->asked_at = now;
    channels->patience += is_due && channels->patience < COHORT__MAX_PATIENCE;
    for (struct cohort__map_node *node = cohort__map_first(&channels->sources); is_due && node;
         node = cohort__map_next(&channels->sources, node)) {
        const struct cohort__channel_source *source =
            COHORT_CONTAINER_OF(node, struct cohort__channel_source, node);
        struct cohort__message *message =
            source->num_gets > 0 && source->site != comm->this_site
                ? cohort__message_create(COHORT__KIND_ASK, comm->this_site, 0, 0, 0)
                : NULL;
        if (message)
            cohort__mail_send(comm->group, source->site, message, 0);
    }
}

void cohort__channels_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    if (message->kind == COHORT__KIND_ASK) {
        answer(comm, message->source_site);
        cohort__message_release(message);
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

void cohort__channels_peer_died(struct cohort_comm *comm)
{
    give_up(comm);
}

static void release_all(struct cohort__list *messages)
{
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(messages)))
        cohort__message_release(message_of(link));
}

void cohort__channels_leave(struct cohort_comm *comm)
{
    struct cohort__channels *channels = &comm->channels;
    give_up(comm);
    struct cohort__map_node *node;
    for (node = cohort__map_first(&channels->queues); node;
         node = cohort__map_next(&channels->queues, node))
        release_all(&COHORT_CONTAINER_OF(node, struct queue, node)->messages);
    for (node = cohort__map_first(&channels->sources); node;
         node = cohort__map_next(&channels->sources, node))
        release_all(&COHORT_CONTAINER_OF(node, struct cohort__channel_source, node)->overtaking);
    struct cohort__list *next, *link;
    for (link = channels->under_way.next; link != &channels->under_way; link = next) {
        next = link->next;
        cohort__channel_get_stop(get_of(link));
    }
    cohort__channel_sets_leave(comm);
}

size_t cohort__channels_describe(const struct cohort_comm *comm, char *text, size_t used,
                                 size_t capacity)
{
    const struct cohort__channels *channels = &comm->channels;
    for (struct cohort__map_node *node = cohort__map_first(&channels->queues); node;
         node = cohort__map_next(&channels->queues, node)) {
        const struct queue *queue = COHORT_CONTAINER_OF(node, struct queue, node);
        if (cohort__list_is_empty(&queue->gets) || used + 1 >= capacity)
            continue;
        uint32_t site = queue->source->site;
        int length = snprintf(text + used, capacity - used,
                              "channel: waits for a message with tag %" PRIu64
                              " from site %u (locality %u)\n",
                              queue->tag, site, comm->group->membership->locality_of[site]);
        used += length > 0 ? (size_t)length : 0;
    }
    if (used >= capacity)
        used = capacity - 1;
    return cohort__channel_sets_describe(comm, text, used, capacity);
}
