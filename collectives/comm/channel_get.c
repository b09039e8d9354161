/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/channel_private.h"
#include "collectives/comm/endpoint.h"
#include "collectives/plan/layout.h"
#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"

/* The life of a get: it waits in a queue, takes its message, and ends when it has read the data. */

static void end(struct cohort__channel_get *get)
{
    struct cohort_comm *comm = get->comm;
    struct cohort__error error = get->error;
    cohort__list_remove(&get->link);
    cohort__message_release(get->message);
    if (get->layout) {
        cohort_layout_unref(get->layout);
        free(get->fetched);
    }
    if (error.status && get->ret_object)
        free(get->buffer);
    else if (!error.status && get->ret_object)
        *get->ret_object = (cohort_object){get->buffer, get->bytes};
    if (!error.status && get->ret_bytes)
        *get->ret_bytes = get->bytes;
    if (!error.status && get->ret_site)
        *get->ret_site = get->site;
    struct cohort__channel_watch *watch = get->watch;
    cohort__future_complete(&get->future, error.status, error.status ? &error : NULL);
    cohort__error_fini(&error);
    cohort__channel_watch_over(watch, comm);
}

void cohort__channel_get_fail(struct cohort__channel_get *get, const struct cohort__error *error)
{
    cohort__error_copy(&get->error, error);
    end(get);
}

void cohort__channel_get_stop(struct cohort__channel_get *get)
{
    if (get->is_fetching)
        cohort__fetch_stop(&get->fetch);
}

static void fail_with(struct cohort__channel_get *get, cohort_status status, const char *why)
{
    cohort__error_set(&get->error, status,
                      "communicator \"%.60s\", site %u, message with tag %" PRIu64
                      " from site %u: %s",
                      get->comm->group->name, get->comm->this_site, get->tag, get->site, why);
}

/* Reading ------------------------------------------------------------------------------------- */

/* Puts the message, which is at FROM, where it belongs. */
static void put(struct cohort__channel_get *get, const void *from)
{
    if (get->layout)
        cohort__layout_unpack(get->layout, get->element, get->buffer, from);
    else if (get->bytes > 0)
        memcpy(get->buffer, from, get->bytes);
}

static void copy(struct cohort__channel_get *get)
{
    const struct cohort__message *message = get->message;
    const void *from = get->fetched;
    if (message && message->arrival)
        from = message->arrival->data;
    else if (message && message->loan)
        from = message->loan->pieces;
    else if (message && message->attachment)
        from = ((struct cohort__channel_copy *)message->attachment)->data;
    else if (message)
        from = message->inline_data;
    put(get, from);
}

/* Back in the endpoint's turn, with the data or an error. */
static void run_end(struct cohort__actor *actor, struct cohort__item *item)
{
    (void)actor;
    end(COHORT_CONTAINER_OF(item, struct cohort__channel_get, item));
}

static void perform_copy(struct cohort__work *work)
{
    struct cohort__channel_get *get = COHORT_CONTAINER_OF(work, struct cohort__channel_get, work);
    struct cohort__commons *commons = get->comm->group->commons;
    copy(get);
    get->item.run = run_end;
    cohort__endpoint_post(get->comm, &get->item);
    cohort__commons_count_work(commons, -1);
}

static void copy_later(struct cohort__channel_get *get)
{
    get->work.run = perform_copy;
    cohort__commons_count_work(get->comm->group->commons, 1);
    cohort__chore_post(&get->work);
}

/* The data has been fetched, and the elements do not lie in a row. */
static void run_unpack(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__channel_get *get = COHORT_CONTAINER_OF(item, struct cohort__channel_get, item);
    (void)actor;
    get->is_fetching = false;
    copy_later(get);
}

static void fetched(struct cohort__fetch *fetch, cohort_status status)
{
    struct cohort__channel_get *get = COHORT_CONTAINER_OF(fetch, struct cohort__channel_get, fetch);
    if (status && !get->error.status)
        fail_with(get, status, cohort_error_message());
    get->item.run = get->fetched && !get->error.status ? run_unpack : run_end;
    cohort__endpoint_post(get->comm, &get->item);
}

static void *allocate(struct cohort__channel_get *get)
{
    char why[96];
    void *memory = malloc(get->bytes);
    snprintf(why, sizeof(why), "no memory for its %zu bytes", get->bytes);
    if (!memory)
        fail_with(get, COHORT_ERR_NO_MEMORY, why);
    return memory;
}

/* Decides where the data goes, or why it can't go there. */
static void prepare(struct cohort__channel_get *get, size_t bytes)
{
    char why[96];
    get->bytes = bytes;
    if (get->layout && bytes != get->capacity) {
        snprintf(why, sizeof(why), "it has %zu bytes, the layout's elements %zu", bytes,
                 get->capacity);
        fail_with(get, COHORT_ERR_MISMATCH, why);
    } else if (!get->ret_object && bytes > get->capacity) {
        snprintf(why, sizeof(why), "it has %zu bytes, the buffer %zu", bytes, get->capacity);
        fail_with(get, COHORT_ERR_MISMATCH, why);
    } else if (get->ret_object && bytes > 0) {
        get->buffer = allocate(get);
    }
}

void cohort__channel_get_read(struct cohort__channel_get *get, const void *data, size_t bytes)
{
    prepare(get, bytes);
    if (!get->error.status)
        put(get, data);
    end(get);
}

void cohort__channel_get_tell(struct cohort__channel_get *get, size_t bytes)
{
    get->bytes = bytes;
    end(get);
}

void cohort__channel_get_take(struct cohort__channel_get *get, struct cohort__message *message)
{
    struct cohort_comm *comm = get->comm;
    cohort__list_push_back(&comm->channels.under_way, &get->link);
    if (message->kind == COHORT__KIND_ERROR)
        cohort__error_copy(&get->error, &message->error);
    else
        prepare(get, message->bytes);
    if (message->kind == COHORT__KIND_ANNOUNCE) {
        if (get->layout && !get->error.status && get->bytes > 0)
            get->fetched = allocate(get);
        if (get->error.status)
            message->bytes = 0; /* its data is not wanted, but it counts as taken */
        get->is_fetching = true;
        get->fetch.done = fetched;
        cohort__remote_fetch(message, get->fetched ? get->fetched : get->buffer, &get->fetch);
        return;
    }
    get->message = message;
    if (message->loan)
        message->loan->taken = true;
    if (get->error.status) {
        end(get);
    } else if (message->bytes <= COHORT__ON_THE_SPOT_BYTES) {
        copy(get);
        end(get);
    } else {
        copy_later(get);
    }
}

/* The call ------------------------------------------------------------------------------------ */

static void run_get(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort_comm *comm = cohort__endpoint_of(actor);
    struct cohort__channel_get *get = COHORT_CONTAINER_OF(item, struct cohort__channel_get, item);
    cohort__channels_begun(comm);
    if (cohort__channels_get(comm, get)) {
        fail_with(get, cohort__error_slot()->status, cohort_error_message());
        end(get);
    }
}

/* The scope of the task that asked is cancelled. */
static void cancel(void *owner)
{
    struct cohort__channel_get *get = owner;
    get->is_cancelled = true;
    cohort__channels_cancel(get->comm, get);
}

static bool has_site(const cohort_comm *comm, uint32_t site)
{
    return comm && site < comm->group->membership->num_sites;
}

static cohort_future *wrong_site(const cohort_comm *comm, uint32_t site, const char *function)
{
    return comm ? cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                         "communicator \"%.60s\", site %u, %s: site %u is out of "
                                         "range: num_sites is %u",
                                         comm->group->name, comm->this_site, function, site,
                                         comm->group->membership->num_sites)
                : cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no communicator", function);
}

static cohort_future *no_place(const cohort_comm *comm, const char *function)
{
    return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                  "communicator \"%.60s\", site %u, %s: no place for the message",
                                  comm->group->name, comm->this_site, function);
}

/* The get has no place for the message yet. NULL: out of memory. */
static struct cohort__channel_get *get_create(cohort_comm *comm, uint32_t site, uint64_t tag)
{
    struct cohort__channel_get *get = cohort__slab_alloc(sizeof(*get));
    if (!get)
        return NULL;
    if (!cohort__channel_watch_create(comm, cancel, get, &get->watch)) {
        cohort__slab_free(get);
        return NULL;
    }
    cohort__future_init(&get->future, 2, COHORT__WAIT_GET);
    get->item.run = run_get;
    cohort__list_init(&get->link);
    get->comm = comm;
    get->site = site;
    get->tag = tag;
    get->is_waiting = get->is_probe = get->is_cancelled = false;
    get->buffer = NULL;
    get->capacity = 0;
    get->ret_bytes = NULL;
    get->ret_site = NULL;
    get->ret_object = NULL;
    get->layout = NULL;
    get->fetched = NULL;
    get->error = (struct cohort__error){0};
    get->message = NULL;
    get->is_fetching = false;
    return get;
}

/* GET has all that it needs. NULL: there was no memory for it. */
static cohort_future *begin(struct cohort__channel_get *get)
{
    if (!get)
        return cohort__future_no_memory();
    cohort_future *future = &get->future;
    cohort__channel_watch_start(get->watch);
    cohort__endpoint_post(get->comm, &get->item);
    return future;
}

static cohort_future *get_bytes(const char *function, cohort_comm *comm, uint32_t site,
                                uint64_t tag, void *buffer, size_t capacity, size_t *ret_bytes,
                                uint32_t *ret_site)
{
    if (!comm)
        return wrong_site(comm, site, function);
    if (!buffer && capacity > 0)
        return no_place(comm, function);
    if (cohort__fork_is_child())
        return cohort__fork_refused(function);
    struct cohort__channel_get *get = get_create(comm, site, tag);
    if (get) {
        get->buffer = buffer;
        get->capacity = capacity;
        get->ret_bytes = ret_bytes;
        get->ret_site = ret_site;
    }
    return begin(get);
}

static cohort_future *get_object(const char *function, cohort_comm *comm, uint32_t site,
                                 uint64_t tag, cohort_object *ret_object, uint32_t *ret_site)
{
    if (!ret_object)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no place for the object",
                                      function);
    *ret_object = (cohort_object){0};
    if (!comm)
        return wrong_site(comm, site, function);
    if (cohort__fork_is_child())
        return cohort__fork_refused(function);
    struct cohort__channel_get *get = get_create(comm, site, tag);
    if (get) {
        get->ret_object = ret_object;
        get->ret_site = ret_site;
    }
    return begin(get);
}

cohort_future *cohort_channel_get(cohort_comm *comm, uint32_t site, uint64_t tag, void *buffer,
                                  size_t capacity, size_t *ret_bytes)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_get");
    if (!has_site(comm, site))
        return wrong_site(comm, site, "cohort_channel_get");
    return get_bytes("cohort_channel_get", comm, site, tag, buffer, capacity, ret_bytes, NULL);
}

cohort_future *cohort_channel_get_any(cohort_comm *comm, uint64_t tag, void *buffer,
                                      size_t capacity, size_t *ret_bytes, uint32_t *ret_site)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_get_any");
    return get_bytes("cohort_channel_get_any", comm, COHORT_ANY_SITE, tag, buffer, capacity,
                     ret_bytes, ret_site);
}

cohort_future *cohort_channel_get_object(cohort_comm *comm, uint32_t site, uint64_t tag,
                                         cohort_object *ret_object)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_get_object");
    if (ret_object && !has_site(comm, site)) {
        *ret_object = (cohort_object){0};
        return wrong_site(comm, site, "cohort_channel_get_object");
    }
    return get_object("cohort_channel_get_object", comm, site, tag, ret_object, NULL);
}

cohort_future *cohort_channel_get_any_object(cohort_comm *comm, uint64_t tag,
                                             cohort_object *ret_object, uint32_t *ret_site)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_get_any_object");
    return get_object("cohort_channel_get_any_object", comm, COHORT_ANY_SITE, tag, ret_object,
                      ret_site);
}

/* Says why the elements can't come. */
static cohort_future *wrong_layout(const cohort_comm *comm, cohort_status status, const char *why)
{
    return cohort_future_of_error(status,
                                  "communicator \"%.60s\", site %u, cohort_channel_get_layout: %s",
                                  comm->group->name, comm->this_site, why);
}

cohort_future *cohort_channel_get_layout(cohort_comm *comm, uint32_t site, uint64_t tag,
                                         void *buffer, const cohort_layout *layout,
                                         cohort_datatype datatype, uint32_t *ret_site)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_get_layout");
    cohort__layout_check(layout, "cohort_channel_get_layout");
    static const char function[] = "cohort_channel_get_layout";
    struct cohort__overlap overlap;
    bool found;
    if (!comm || (site != COHORT_ANY_SITE && !has_site(comm, site)))
        return wrong_site(comm, site, function);
    const char *wrong = cohort__layout_refuses(layout, datatype, buffer);
    if (wrong)
        return wrong_layout(comm, COHORT_ERR_BAD_PARAMETER, wrong);
    size_t element = cohort_datatype_size(datatype);
    cohort_layout *shared = (cohort_layout *)layout;
    if (cohort__layout_overlaps_itself(shared, element, &found, &overlap))
        return wrong_layout(comm, COHORT_ERR_NO_MEMORY, cohort_error_message());
    if (found)
        return wrong_layout(comm, COHORT_ERR_BAD_PARAMETER, "the layout has an element twice");
    if (cohort__fork_is_child())
        return cohort__fork_refused(function);
    struct cohort__channel_get *get = get_create(comm, site, tag);
    if (get) {
        get->buffer = buffer;
        get->capacity = layout->num_elements * element;
        get->ret_site = ret_site;
        get->layout = cohort_layout_ref(shared);
        get->element = element;
    }
    return begin(get);
}

cohort_future *cohort_channel_probe(cohort_comm *comm, uint32_t site, uint64_t tag,
                                    size_t *ret_bytes, uint32_t *ret_site)
{
    COHORT__ENDPOINT_ENTER(comm, "cohort_channel_probe");
    if (!comm || (site != COHORT_ANY_SITE && !has_site(comm, site)))
        return wrong_site(comm, site, "cohort_channel_probe");
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_channel_probe");
    struct cohort__channel_get *get = get_create(comm, site, tag);
    if (get) {
        get->is_probe = true;
        get->ret_bytes = ret_bytes;
        get->ret_site = ret_site;
    }
    return begin(get);
}
