/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collectives/comm/channel.h"
#include "collectives/comm/channel_private.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/remote.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"

/* The setter's side. Within the locality, a short message travels with its data. A longer one
 * travels with a copy, unless too many bytes of such copies are still unread. Otherwise the data is
 * lent. To another locality, a message is sent at once if it has to wait for nothing. Then nothing
 * is left to remember. All other sets are kept by the endpoint, since it may have to end them. */
enum {
    COPY_BYTES_MAX = 4096,
    COPIES_BYTES_MAX = 65536, /* in copies for one site that are not read */
};

/* A site that this one sets messages for. Of the caller's side. */
struct cohort__channel_target {
    struct cohort__map_node node; /* by site; the hash is the key */
    uint32_t site;
    uint32_t next_sequence;
    _Atomic size_t copied; /* bytes in copies that are not read yet */
};

/* A set that needs its data after the call. */
struct set {
    struct cohort__item item;
    struct cohort__list link;
    struct cohort_comm *comm;
    struct cohort__channel_watch *watch; /* of a task in a scope; else NULL */
    cohort_future *future;
    uint32_t site;
    uint32_t sequence;
    uint64_t tag;
    const void *data;
    size_t bytes;
    void *packed;                    /* the data, if it is the set's own memory; else NULL */
    struct cohort__message *message; /* to be sent, lends the data; NULL: to another locality */
    struct cohort__message *instead; /* an error in its place; NULL: it has been sent */
    bool is_lent;
    bool is_begun;
    bool is_cancelled;          /* the scope is */
    struct cohort__error error; /* of the send */
    union {
        struct cohort__loan loan;
        struct cohort__send send;
    };
};

static struct cohort__channel_target *find_target(const struct cohort__channels *channels,
                                                  uint32_t site)
{
    struct cohort__map_node *node =
        cohort__map_find(&channels->targets, cohort__hash_u64(site), NULL, NULL);
    return node ? COHORT_CONTAINER_OF(node, struct cohort__channel_target, node) : NULL;
}

static struct cohort__channel_target *need_target(struct cohort__channels *channels, uint32_t site)
{
    struct cohort__channel_target *target = channels->last_target;
    if (target && target->site == site)
        return target;
    target = find_target(channels, site);
    if (!target) {
        target = cohort__slab_alloc_zero(sizeof(*target));
        if (!target)
            return NULL;
        target->site = site;
        cohort__map_insert(&channels->targets, &target->node, cohort__hash_u64(site));
    }
    channels->last_target = target;
    return target;
}

uint32_t cohort__channel_sets_count(const struct cohort__channels *channels, uint32_t site)
{
    const struct cohort__channel_target *target = find_target(channels, site);
    return target ? target->next_sequence : 0;
}

void cohort__channel_sets_fini(struct cohort__channels *channels)
{
    struct cohort__map_node *node;
    while ((node = cohort__map_some(&channels->targets))) {
        cohort__map_remove(&channels->targets, node);
        cohort__slab_free(COHORT_CONTAINER_OF(node, struct cohort__channel_target, node));
    }
    cohort__map_fini(&channels->targets);
}

/* Sets that are not over ---------------------------------------------------------------------- */

static void set_error(const struct set *set, struct cohort__error *error, cohort_status status,
                      const char *why)
{
    cohort__error_set(error, status,
                      "communicator \"%.60s\", site %u, message with tag %" PRIu64
                      " for site %u: %s",
                      set->comm->group->name, set->comm->this_site, set->tag, set->site, why);
}

/* Sends an error in place of the message, which may be there already. Once is enough, and the
 * getter has to hear of it: so it takes no memory now. */
static void tell(struct set *set, cohort_status status, const char *why)
{
    struct cohort__message *message = set->instead;
    if (!message)
        return;
    set->instead = NULL;
    set_error(set, &message->error, status, why);
    cohort__mail_send(set->comm->group, set->site, message, 0);
}

static const char scope_is_cancelled[] = "the scope of the task that has set it is cancelled";

/* This site has left, perhaps because of a death or a revocation. */
static void tell_gone(struct set *set, const char *why)
{
    cohort_status status = cohort__remote_broken(set->comm->group);
    tell(set, status ? status : COHORT_ERR_GONE, status ? cohort_error_message() : why);
}

static void end(struct set *set)
{
    struct cohort_comm *comm = set->comm;
    struct cohort__channel_watch *watch = set->watch;
    cohort_future *future = set->future;
    struct cohort__error error = set->error;
    cohort__list_remove(&set->link);
    cohort__message_release(set->instead);
    cohort__slab_free(set->packed);
    cohort__slab_free(set);
    cohort__future_complete(future, error.status, error.status ? &error : NULL);
    cohort__error_fini(&error);
    cohort__channel_watch_over(watch, comm);
}

/* The data is not read any more. DECLINED: it never was. */
static void data_is_back(struct set *set, bool declined)
{
    cohort_status broken = declined ? cohort__remote_broken(set->comm->group) : COHORT_OK;
    if (declined && set->is_cancelled && !set->error.status)
        set_error(set, &set->error, COHORT_ERR_CANCELLED, scope_is_cancelled);
    else if (declined && set->comm->has_left)
        set_error(set, &set->error, COHORT_ERR_CANCELLED,
                  "this site has left the communicator before it was got");
    else if (broken)
        set_error(set, &set->error, broken, cohort_error_message());
    else if (declined)
        set_error(set, &set->error, COHORT_ERR_GONE, "that site left the communicator before");
    end(set);
}

static void run_returned(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    struct set *set = COHORT_CONTAINER_OF(item, struct set, loan.returned);
    data_is_back(set, !set->loan.taken);
}

static void run_sent(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    struct set *set = COHORT_CONTAINER_OF(item, struct set, item);
    cohort_status status = set->error.status;
    if (status && status != COHORT_ERR_PEER_DIED && status != COHORT_ERR_CANCELLED)
        tell(set, status, cohort__error_message(&set->error)); /* else it waits for ever */
    data_is_back(set, !status && set->send.declined);
}

static void send_done(struct cohort__send *send, cohort_status status)
{
    struct set *set = COHORT_CONTAINER_OF(send, struct set, send);
    if (status)
        set_error(set, &set->error, status, cohort_error_message());
    if (send->is_inline)
        return; /* run_set goes on */
    set->item.run = run_sent;
    cohort__endpoint_post(set->comm, &set->item);
}

/* Whether the data is lent or announced, and the getter can be asked for it. Else it is on its
 * way. */
static bool is_with_getter(const struct set *set)
{
    return set->is_lent || cohort__send_handle(&set->send);
}

/* The getter has an error in place of the message, unless it has taken that already. */
static void take_back(struct set *set)
{
    if (is_with_getter(set))
        tell(set, COHORT_ERR_CANCELLED, scope_is_cancelled);
}

static void cancel(void *owner)
{
    struct set *set = owner;
    set->is_cancelled = true;
    if (set->is_begun)
        take_back(set);
}

static void run_set(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct set *set = COHORT_CONTAINER_OF(item, struct set, item);
    struct cohort__message *message = set->message;
    cohort__channels_begun(comm);
    cohort__list_push_back(&comm->channels.sets, &set->link);
    set->is_begun = true;
    if (comm->has_left || cohort__remote_is_revoked(comm->group)) {
        tell_gone(set, "that site has left the communicator");
        cohort__message_release(message);
        data_is_back(set, true);
        return;
    }
    if (message) {
        set->message = NULL;
        set->is_lent = true;
        set->loan = (struct cohort__loan){
            .returned.run = run_returned, .owner = &comm->actor, .pieces = set->data};
        message->loan = &set->loan;
        cohort__group_deliver(comm->group, set->site, message);
    } else {
        set->send.done = send_done;
        set->send.payload = set->data;
        set->send.bytes = set->bytes;
        set->send.envelope =
            (struct cohort__envelope){.fingerprint = set->tag, .tag = set->sequence};
        cohort__remote_send(comm->group, comm->this_site, set->site, &set->send);
        if (set->send.is_inline) {
            run_sent(actor, &set->item);
            return;
        }
    }
    if (set->is_cancelled)
        take_back(set);
}

void cohort__channel_set_take_back(struct cohort__channels *channels)
{
    struct cohort__list *link = cohort__list_pop_front(&channels->revoked_sets);
    struct set *set = COHORT_CONTAINER_OF(link, struct set, link);
    cohort__list_push_back(&channels->sets, link); /* until it is over */
    if (is_with_getter(set))
        tell_gone(set, "that site left the communicator before it was got");
}

bool cohort__channels_each_set(const struct cohort_comm *comm,
                               bool (*visit)(void *context, const cohort_future *future,
                                             uint64_t tag, uint32_t site, bool needs_get),
                               void *context)
{
    const struct cohort__list *sets = &comm->channels.sets;
    for (struct cohort__list *link = sets->next; link != sets; link = link->next) {
        const struct set *set = COHORT_CONTAINER_OF(link, struct set, link);
        if (!visit(context, set->future, set->tag, set->site, is_with_getter(set)))
            return false;
    }
    return true;
}

size_t cohort__channel_sets_describe(const struct cohort_comm *comm, char *text, size_t used,
                                     size_t capacity)
{
    const struct cohort__list *sets = &comm->channels.sets;
    for (struct cohort__list *link = sets->next; link != sets && used + 1 < capacity;
         link = link->next) {
        const struct set *set = COHORT_CONTAINER_OF(link, struct set, link);
        int length = snprintf(
            text + used, capacity - used,
            "channel: waits for site %u (locality %u) to get a message with tag %" PRIu64
            ", %zu bytes\n",
            set->site, comm->group->membership->locality_of[set->site], set->tag, set->bytes);
        used += length > 0 ? (size_t)length : 0;
    }
    return used < capacity ? used : capacity - 1;
}

/* The call ------------------------------------------------------------------------------------ */

static void release_copy(struct cohort__attachment *attachment)
{
    struct cohort__channel_copy *copy = (struct cohort__channel_copy *)attachment;
    atomic_fetch_sub_explicit(copy->charged, copy->bytes, memory_order_relaxed);
    cohort__slab_free(copy);
}

/* Puts the data into MESSAGE, or into an attachment of it. False: it has to be lent. */
static bool takes_along(struct cohort__channel_target *target, struct cohort__message *message,
                        const void *data, size_t bytes)
{
    message->bytes = bytes;
    if (bytes <= COHORT__MESSAGE_INLINE_BYTES) {
        if (bytes > 0)
            memcpy(message->inline_data, data, bytes);
        return true;
    }
    if (bytes > COPY_BYTES_MAX ||
        atomic_load_explicit(&target->copied, memory_order_relaxed) + bytes > COPIES_BYTES_MAX)
        return false;
    struct cohort__channel_copy *copy = cohort__slab_alloc(sizeof(*copy) + bytes);
    if (!copy)
        return false;
    copy->attachment.release = release_copy;
    copy->charged = &target->copied;
    copy->bytes = bytes;
    memcpy(copy->data, data, bytes);
    atomic_fetch_add_explicit(&target->copied, bytes, memory_order_relaxed);
    message->attachment = &copy->attachment;
    return true;
}

/* A set whose data stays with the caller until the future completes. CALL->message is as described
 * in the struct. */
static cohort_future *set_later(const struct set *call, struct cohort__channel_target *target)
{
    const uint32_t sequence = target->next_sequence;
    struct set *set = cohort__slab_alloc(sizeof(*set));
    struct cohort__message *instead =
        set ? cohort__message_create(COHORT__KIND_ERROR, call->comm->this_site, 0, call->tag,
                                     sequence)
            : NULL;
    cohort_future *future = instead ? cohort__future_create_about(COHORT__WAIT_SET) : NULL;
    if (!future) {
        cohort__message_release(instead);
        cohort__message_release(call->message);
        cohort__slab_free(call->packed);
        cohort__slab_free(set);
        return cohort__future_no_memory();
    }
    *set = *call;
    if (!cohort__channel_watch_create(call->comm, cancel, set, &set->watch)) {
        struct cohort__error error = {0};
        set_error(set, &error, COHORT_ERR_NO_MEMORY, "no memory to watch the scope of its task");
        cohort__message_release(instead);
        cohort__message_release(call->message);
        cohort__slab_free(call->packed);
        cohort__slab_free(set);
        cohort__future_complete(future, error.status, &error);
        cohort__error_fini(&error);
        return future;
    }
    set->item.run = run_set;
    set->future = future;
    set->sequence = sequence;
    set->instead = instead;
    target->next_sequence++;
    cohort__list_init(&set->link);
    cohort__channel_watch_start(set->watch);
    cohort__endpoint_post(call->comm, &set->item);
    return future;
}

/* To a site of another locality. The data is PACKED, unless that is NULL. */
static cohort_future *set_far(cohort_comm *comm, struct cohort__channel_target *target,
                              uint64_t tag, const void *data, size_t bytes, void *packed)
{
    struct cohort__envelope envelope = {.fingerprint = tag, .tag = target->next_sequence};
    if (!cohort__remote_try(comm->group, comm->this_site, target->site, &envelope, data, bytes))
        return set_later(&(struct set){.comm = comm,
                                       .site = target->site,
                                       .tag = tag,
                                       .data = data,
                                       .bytes = bytes,
                                       .packed = packed},
                         target);
    target->next_sequence++;
    cohort__slab_free(packed);
    return cohort_future_of_value(NULL);
}

static cohort_future *set_near(cohort_comm *comm, struct cohort__channel_target *target,
                               uint64_t tag, const void *data, size_t bytes, void *packed)
{
    struct cohort__message *message =
        cohort__message_create(COHORT__KIND_DATA, comm->this_site, 0, tag, target->next_sequence);
    if (!message) {
        cohort__slab_free(packed);
        return cohort__future_no_memory();
    }
    if (!takes_along(target, message, data, bytes))
        return set_later(&(struct set){.comm = comm,
                                       .site = target->site,
                                       .tag = tag,
                                       .data = data,
                                       .bytes = bytes,
                                       .packed = packed,
                                       .message = message},
                         target);
    target->next_sequence++;
    cohort__slab_free(packed);
    cohort__group_deliver(comm->group, target->site, message);
    return cohort_future_of_value(NULL);
}

/* Says why the arguments are wrong. */
static cohort_future *set_wrongly(const char *function, const cohort_comm *comm, uint32_t site,
                                  const char *why)
{
    if (!comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no communicator", function);
    uint32_t num_sites = comm->group->membership->num_sites;
    return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                  "communicator \"%.60s\", site %u, %s for site %u: %s; num_sites "
                                  "is %u",
                                  comm->group->name, comm->this_site, function, site,
                                  site >= num_sites ? "there is no such site" : why, num_sites);
}

static cohort_future *set_revoked(const cohort_comm *comm, uint32_t site, uint64_t tag)
{
    cohort_status status = cohort__remote_broken(comm->group);
    return cohort_future_of_error(
        status, "communicator \"%.60s\", site %u, message with tag %" PRIu64 " for site %u: %s",
        comm->group->name, comm->this_site, tag, site, cohort_error_message());
}

/* WRONG: NULL, or what is. NULL: something can be set. */
static cohort_future *refuse(const char *function, const cohort_comm *comm, uint32_t site,
                             uint64_t tag, const char *wrong)
{
    if (!comm || site >= comm->group->membership->num_sites || wrong)
        return set_wrongly(function, comm, site, wrong);
    if (cohort__fork_is_child())
        return cohort__fork_refused(function);
    if (__builtin_expect(cohort__remote_is_revoked(comm->group), 0))
        return set_revoked(comm, site, tag);
    return NULL;
}

static cohort_future *set(cohort_comm *comm, uint32_t site, uint64_t tag, const void *data,
                          size_t bytes, void *packed)
{
    struct cohort__channel_target *target = need_target(&comm->channels, site);
    if (!target) {
        cohort__slab_free(packed);
        return cohort__future_no_memory();
    }
    return cohort__group_is_local(comm->group, site)
               ? set_near(comm, target, tag, data, bytes, packed)
               : set_far(comm, target, tag, data, bytes, packed);
}

cohort_future *cohort_channel_set(cohort_comm *comm, uint32_t site, uint64_t tag, const void *data,
                                  size_t bytes)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_set");
    const char *wrong = !data && bytes > 0    ? "there is no data"
                        : bytes > PTRDIFF_MAX ? "that many bytes are more than memory"
                                              : NULL;
    cohort_future *refused = refuse("cohort_channel_set", comm, site, tag, wrong);
    return refused ? refused : set(comm, site, tag, data, bytes, NULL);
}

cohort_future *cohort_channel_set_layout(cohort_comm *comm, uint32_t site, uint64_t tag,
                                         const void *data, const cohort_layout *layout,
                                         cohort_datatype datatype)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_set_layout");
    cohort__layout_check(layout, "cohort_channel_set_layout");
    cohort_future *refused = refuse("cohort_channel_set_layout", comm, site, tag,
                                    cohort__layout_refuses(layout, datatype, data));
    if (refused)
        return refused;
    size_t element = cohort_datatype_size(datatype), bytes = layout->num_elements * element;
    if (bytes == 0)
        return set(comm, site, tag, NULL, 0, NULL);
    if (cohort__layout_is_run(layout))
        return set(comm, site, tag,
                   (const unsigned char *)data + layout->strips[0].offset * element, bytes, NULL);
    void *packed = cohort__slab_alloc(bytes);
    if (!packed)
        return cohort_future_of_error(
            COHORT_ERR_NO_MEMORY,
            "communicator \"%.60s\", site %u, cohort_channel_set_layout for site %u: no memory for "
            "packing %zu bytes",
            comm->group->name, comm->this_site, site, bytes);
    cohort__layout_pack(layout, element, packed, data);
    return set(comm, site, tag, packed, bytes, packed);
}
