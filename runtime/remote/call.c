/* SPDX-License-Identifier: Apache-2.0 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "runtime/remote/private.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"

/* The ledger's lines of calls to other localities, one for each of these. A call has a place there
 * from its beginning until its result comes: the ticks are too late to say it where the tasks of
 * this locality compute without a pause. A place costs a dozen stores, and to clear it costs one.
 */

enum { ALL_PLACES = (1 << COHORT__LEDGER_PENDING_MOST) - 1 };

static void remote_line_make(const struct cohort__remote_tasks *tasks,
                             struct cohort__remote_peer *peer)
{
    struct cohort__pending_line *none = NULL, *line;
    if (atomic_load_explicit(&peer->line, memory_order_acquire) ||
        !(line = cohort__ledger_take(COHORT__LEDGER_PENDING)))
        return;
    atomic_store_explicit(&line->rank, cohort__process_rank(tasks->process), memory_order_relaxed);
    atomic_store_explicit(&line->site, peer->rank, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&peer->line, &none, line))
        cohort__ledger_give_back(COHORT__LEDGER_PENDING, line); /* another thread was faster */
}

static int remote_line_add(struct cohort__remote_peer *peer, const cohort_future *future,
                           uint64_t number, const char *name)
{
    struct cohort__pending_line *line = atomic_load_explicit(&peer->line, memory_order_acquire);
    const uint32_t places = ~peer->places & ALL_PLACES;
    if (!line || places == 0)
        return COHORT__REMOTE_NO_PLACE;
    const int place = __builtin_ctz(places);
    struct cohort__pending *pending = &line->of[place];
    char *text = line->text + place * COHORT__LEDGER_PENDING_NAME;
    const size_t bytes = name ? strnlen(name, COHORT__LEDGER_PENDING_NAME - 1) : 0;
    peer->places |= 1U << place;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    if (atomic_load_explicit(&line->num, memory_order_relaxed) <= (uint32_t)place)
        atomic_store_explicit(&line->num, (uint32_t)place + 1, memory_order_relaxed);
    atomic_store_explicit(&pending->future, (uintptr_t)future, memory_order_relaxed);
    atomic_store_explicit(&pending->number, number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, peer->rank, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, COHORT__WAIT_REMOTE, memory_order_relaxed);
    if (bytes > 0)
        memcpy(text, name, bytes);
    text[bytes] = '\0';
    atomic_store_explicit(&line->at, cohort__clock_cycles(), memory_order_release);
    return place;
}

static void remote_line_remove(struct cohort__remote_peer *peer, int place)
{
    struct cohort__pending_line *line = atomic_load_explicit(&peer->line, memory_order_relaxed);
    if (place == COHORT__REMOTE_NO_PLACE)
        return;
    peer->places &= ~(1U << place);
    atomic_store_explicit(&line->of[place].future, 0, memory_order_relaxed);
}

static bool remote_line_has_room(const struct cohort__remote_peer *peer)
{
    const uint32_t num = (uint32_t)__builtin_popcount(peer->places);
    return num < COHORT__LEDGER_PENDING_MOST && num < peer->calls.num_nodes;
}

/* The caller's side. A call to another locality is in the list `waiting` of its peer until the
 * window lets it go, then in the map `calls` until its result comes, the peer dies, or it can't be
 * sent. It ends when it is out of both, and its send is over: until then the transport may read
 * IN. */

struct call {
    struct cohort_future future; /* first: it is freed as a future */
    struct cohort__map_node node;
    struct cohort__list link; /* in `waiting`, or in a list of those that end */
    struct cohort__remote_tasks *tasks;
    struct cohort__remote_peer *peer;
    uint64_t number;
    struct cohort__remote_name name;
    uint32_t span;
    int place;        /* in the ledger's line, of those that are in `calls` */
    bool is_expected; /* in `calls`; under the peer's lock */
    bool is_waiting;  /* in `waiting`; likewise */
    cohort_object in;
    cohort_object *ret_out; /* or NULL */
    cohort_object out;
    struct cohort__error error;
    cohort_scope *scope;              /* that it counts in, or NULL */
    struct cohort__scope_watch watch; /* of that; has a reference to the future */
    bool fails_scope;                 /* its error is the scope's */
    bool has_failed_scope;            /* what it has started there has failed */
    bool is_cancelled;                /* the scope is; under the peer's lock */
    atomic_bool has_one;        /* of the two after which the watch is over: it has begun, and the
                                 * call is over */
    _Atomic uint32_t num_parts; /* that are not over: the send, and the result */
    unsigned char copied[];     /* a short IN, and a name that is not registered here */
};

/* The send of a call, if it was not over at once. */
struct sending {
    struct cohort__send send;
    struct call *call;
};

/* A result that takes time to read. */
struct reception {
    struct call *call;
    struct cohort__arrival *arrival; /* of a chore */
    union {
        struct cohort__work work;
        struct cohort__fetch fetch;
    };
};

static void set_error(struct call *call, cohort_status status, const char *why)
{
    cohort__remote_error_set(&call->error, &call->name, call->peer->rank, status, why);
}

/* The call may be over before the watch has begun. The second of the two ends the watch. */
static void watch_step(struct call *call)
{
    if (atomic_exchange(&call->has_one, true))
        cohort__scope_unwatch(&call->watch);
}

/* CALL counted in SCOPE. The watch keeps CALL until it is over. */
static void end_in(cohort_scope *scope, struct call *call, const struct cohort__error *error)
{
    if (error->status && (call->fails_scope || call->has_failed_scope))
        cohort__scope_fail(scope, error->status, error);
    cohort__future_complete(&call->future, error->status, error->status ? error : NULL);
    watch_step(call);
    cohort__scope_leave(scope);
}

static void end(struct call *call)
{
    struct cohort__remote_tasks *tasks = call->tasks;
    struct cohort__error error = call->error;
    if (error.status)
        cohort_object_fini(&call->out);
    else if (call->ret_out)
        *call->ret_out = call->out;
    if (call->scope)
        end_in(call->scope, call, &error);
    else
        cohort__future_complete(&call->future, error.status, error.status ? &error : NULL);
    cohort__error_fini(&error);
    cohort__remote_close(tasks);
}

static void part_over(struct call *call)
{
    if (atomic_fetch_sub_explicit(&call->num_parts, 1, memory_order_acq_rel) == 1)
        end(call);
}

/* Sending ------------------------------------------------------------------------------------- */

/* With the peer's lock held. */
static void note(struct cohort__remote_peer *peer, struct call *call)
{
    call->place = remote_line_add(peer, &call->future, call->number, call->name.text);
}

/* With the peer's lock held. */
static void expect(struct cohort__remote_peer *peer, struct call *call)
{
    call->number = ++peer->last_number;
    cohort__trace_count(COHORT__COUNTER_REMOTE_CALLS, 1);
    call->is_waiting = false;
    call->is_expected = true;
    cohort__map_insert(&peer->calls, &call->node, cohort__hash_u64(call->number));
    peer->num_unadmitted++;
    note(peer, call);
}

static void forget(struct cohort__remote_peer *peer, struct call *call)
{
    call->is_expected = false;
    cohort__map_remove(&peer->calls, &call->node);
    remote_line_remove(peer, call->place);
}

/* CALL could not be sent: there will be no result. */
static void lose(struct call *call, cohort_status status, const char *why)
{
    struct cohort__remote_peer *peer = call->peer;
    pthread_mutex_lock(&peer->lock);
    bool was_expected = call->is_expected;
    if (was_expected) {
        forget(peer, call);
        peer->num_unadmitted--; /* the next tick sends one that waits */
    }
    pthread_mutex_unlock(&peer->lock);
    if (!was_expected)
        return; /* the peer's death has been faster */
    set_error(call, status, why);
    part_over(call);
}

static void send_done(struct cohort__send *send, cohort_status status)
{
    struct sending *sending = COHORT_CONTAINER_OF(send, struct sending, send);
    struct call *call = sending->call;
    cohort__slab_free(sending);
    if (status)
        lose(call, status, cohort_error_message());
    part_over(call);
}

/* CALL is expected. */
static void send(struct call *call)
{
    struct cohort__process *process = call->tasks->process;
    uint32_t rank = call->peer->rank;
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_DATA,
        .instance = COHORT__INSTANCE_REMOTE,
        .generation = call->number,
        .fingerprint = call->name.hash,
        .source_site = call->fails_scope,
        .dest_site = call->span,
        .tag = call->scope ? COHORT__REMOTE_SCOPED_CALL : COHORT__REMOTE_CALL,
    };
    if (cohort__send_try(process, rank, &envelope, call->in.data, call->in.bytes)) {
        part_over(call);
        return;
    }
    struct sending *sending = cohort__slab_alloc(sizeof(*sending));
    if (!sending) {
        lose(call, COHORT_ERR_NO_MEMORY, "no memory here");
        part_over(call);
        return;
    }
    sending->call = call;
    sending->send = (struct cohort__send){
        .envelope = envelope, .payload = call->in.data, .bytes = call->in.bytes, .done = send_done};
    cohort__send_start(process, rank, &sending->send);
}

/* The oldest call that waits, if the window lets it go and PEER lives. It is expected from now on.
 */
static struct call *next_call(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer)
{
    struct call *call = NULL;
    pthread_mutex_lock(&peer->lock);
    if (!peer->over && peer->num_unadmitted < tasks->window &&
        !cohort__list_is_empty(&peer->waiting)) {
        call = COHORT_CONTAINER_OF(cohort__list_pop_front(&peer->waiting), struct call, link);
        expect(peer, call);
    }
    pthread_mutex_unlock(&peer->lock);
    return call;
}

static void send_waiting(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer)
{
    struct call *call;
    while ((call = next_call(tasks, peer)))
        send(call);
}

void cohort__remote_calls_admitted(struct cohort__remote_tasks *tasks,
                                   const struct cohort__envelope *envelope)
{
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, envelope->source_locality);
    uint32_t num = envelope->source_site;
    if (!peer)
        return; /* then we have never called it */
    pthread_mutex_lock(&peer->lock);
    peer->num_unadmitted -= num < peer->num_unadmitted ? num : peer->num_unadmitted;
    bool may_go = !cohort__list_is_empty(&peer->waiting);
    pthread_mutex_unlock(&peer->lock);
    if (may_go)
        send_waiting(tasks, peer);
}

/* For those who look on: calls that found no room have some by now. */
static void note_more(struct cohort__remote_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node =
        remote_line_has_room(peer) ? cohort__map_first(&peer->calls) : NULL;
    for (; node; node = cohort__map_next(&peer->calls, node)) {
        struct call *call = COHORT_CONTAINER_OF(node, struct call, node);
        if (call->place == COHORT__REMOTE_NO_PLACE)
            note(peer, call);
    }
    pthread_mutex_unlock(&peer->lock);
}

void cohort__remote_calls_tick(struct cohort__remote_tasks *tasks)
{
    for (uint32_t rank = 0; rank < tasks->size; rank++) {
        struct cohort__remote_peer *peer = atomic_load(&tasks->peers[rank]);
        if (!peer)
            continue;
        send_waiting(tasks, peer);
        note_more(peer);
    }
}

/* Cancelling ---------------------------------------------------------------------------------- */

/* The scope is cancelled. A call that waits here ends; one that is sent is asked to. */
static void cancel(struct cohort__scope_watch *watch)
{
    struct call *call = COHORT_CONTAINER_OF(watch, struct call, watch);
    struct cohort__remote_peer *peer = call->peer;
    struct cohort__remote_tasks *tasks = call->tasks;
    pthread_mutex_lock(&peer->lock);
    const uint64_t number = call->number;
    bool is_sent = call->is_expected;
    bool is_waiting = !is_sent && call->is_waiting;
    call->is_cancelled = true;
    if (is_waiting) {
        call->is_waiting = false;
        cohort__list_remove(&call->link);
    }
    pthread_mutex_unlock(&peer->lock);
    if (is_sent) {
        cohort__remote_tell(tasks, peer->rank, COHORT__REMOTE_CANCEL, number);
    } else if (is_waiting) {
        set_error(call, COHORT_ERR_CANCELLED, "its scope was cancelled before it was sent");
        part_over(call);
        part_over(call);
    }
}

/* Until then the peer has to stay, too. */
static void release(struct cohort__scope_watch *watch)
{
    struct call *call = COHORT_CONTAINER_OF(watch, struct call, watch);
    struct cohort__remote_tasks *tasks = call->tasks;
    cohort_future_unref(&call->future);
    cohort__remote_close(tasks);
}

void cohort__remote_call_unknown(struct cohort__remote_tasks *tasks, uint32_t rank, uint64_t number)
{
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, rank);
    if (!peer)
        return; /* then we have never called it */
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node =
        cohort__map_find(&peer->calls, cohort__hash_u64(number), NULL, NULL);
    bool is_cancelled = node && COHORT_CONTAINER_OF(node, struct call, node)->is_cancelled;
    pthread_mutex_unlock(&peer->lock);
    if (is_cancelled)
        cohort__remote_tell(tasks, rank, COHORT__REMOTE_CANCEL, number);
}

/* Results ------------------------------------------------------------------------------------- */

/* Memory for the result of BYTES. False: it is not wanted, or there is none, which is the call's
 * error. */
static bool has_place(struct call *call, uint64_t bytes)
{
    if (!call->ret_out || bytes == 0)
        return false;
    call->out.data = bytes <= PTRDIFF_MAX ? malloc(bytes) : NULL;
    if (call->out.data)
        call->out.bytes = bytes;
    else
        set_error(call, COHORT_ERR_NO_MEMORY, "no memory here for its result");
    return call->out.data != NULL;
}

static void copy(struct cohort__work *work)
{
    struct reception *reception = COHORT_CONTAINER_OF(work, struct reception, work);
    struct call *call = reception->call;
    memcpy(call->out.data, reception->arrival->data, call->out.bytes);
    cohort__arrival_release(reception->arrival);
    cohort__slab_free(reception);
    part_over(call);
}

/* Takes ARRIVAL. */
static void read_data(struct call *call, struct cohort__arrival *arrival)
{
    size_t bytes = arrival->envelope.payload_bytes;
    if (has_place(call, bytes)) {
        struct reception *reception =
            bytes > COHORT__ON_THE_SPOT_BYTES ? cohort__slab_alloc(sizeof(*reception)) : NULL;
        struct cohort__arrival *kept = reception ? cohort__arrival_keep(arrival) : NULL;
        if (kept) {
            *reception = (struct reception){.call = call, .arrival = kept, .work.run = copy};
            cohort__chore_post(&reception->work);
            return;
        }
        cohort__slab_free(reception);
        memcpy(call->out.data, arrival->data, bytes);
    }
    cohort__arrival_release(arrival);
    part_over(call);
}

static void fetched(struct cohort__fetch *fetch, cohort_status status)
{
    struct reception *reception = COHORT_CONTAINER_OF(fetch, struct reception, fetch);
    struct call *call = reception->call;
    if (status)
        set_error(call, status, cohort_error_message());
    cohort__slab_free(reception);
    part_over(call);
}

/* Takes ARRIVAL. */
static void fetch(struct call *call, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct reception *reception = cohort__slab_alloc(sizeof(*reception));
    if (!reception && call->ret_out)
        set_error(call, COHORT_ERR_NO_MEMORY, "no memory here for its result");
    if (!reception || !has_place(call, envelope->total_bytes)) {
        cohort__slab_free(reception);
        cohort__remote_drop(arrival);
        part_over(call);
        return;
    }
    *reception = (struct reception){.call = call,
                                    .fetch = {.rank = envelope->source_locality,
                                              .handle = envelope->handle,
                                              .destination = call->out.data,
                                              .bytes = call->out.bytes,
                                              .done = fetched}};
    memcpy(reception->fetch.token.bytes, arrival->data, COHORT__NET_TOKEN_BYTES);
    struct cohort__process *process = arrival->process;
    cohort__arrival_release(arrival);
    cohort__fetch_start(process, &reception->fetch);
}

/* Takes ARRIVAL. */
static void fail(struct call *call, struct cohort__arrival *arrival)
{
    struct cohort__error error = {0};
    call->has_failed_scope = arrival->envelope.dest_site > 0;
    cohort__remote_error_unpack(arrival->data, arrival->envelope.payload_bytes, &error);
    if (error.status == COHORT_ERR_PROTOCOL &&
        cohort__process_check_dead(call->tasks->process, call->peer->rank))
        /* It could not fetch the input, which was withdrawn when it was said to be dead. (Or the
         * function itself has ended with this status; its text is lost then.) */
        set_error(call, COHORT_ERR_PEER_DIED, cohort_error_message());
    else if (call->span > 1) /* it says already which of its localities it is of */
        cohort__error_copy(&call->error, &error);
    else
        set_error(call, error.status, cohort__error_message(&error));
    cohort__error_fini(&error);
    cohort__arrival_release(arrival);
    part_over(call);
}

/* The call with that number, which is not expected any more. NULL: there is none. */
static struct call *take_expected(struct cohort__remote_peer *peer, uint64_t number)
{
    struct call *call = NULL;
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node =
        cohort__map_find(&peer->calls, cohort__hash_u64(number), NULL, NULL);
    if (node) {
        call = COHORT_CONTAINER_OF(node, struct call, node);
        forget(peer, call);
    }
    pthread_mutex_unlock(&peer->lock);
    return call;
}

void cohort__remote_result(struct cohort__remote_tasks *tasks, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, envelope->source_locality);
    struct call *call = peer ? take_expected(peer, envelope->generation) : NULL;
    if (!call) {
        cohort__log(COHORT__LOG_ERROR,
                    "locality %u: dropped a result of locality %u: call %llu does not wait for one",
                    cohort__process_rank(tasks->process), envelope->source_locality,
                    (unsigned long long)envelope->generation);
        cohort__remote_drop(arrival);
    } else if (envelope->kind == COHORT__KIND_DATA) {
        read_data(call, arrival);
    } else if (envelope->kind == COHORT__KIND_ANNOUNCE) {
        fetch(call, arrival);
    } else {
        fail(call, arrival);
    }
}

void cohort__remote_calls_over(struct cohort__remote_peer *peer, cohort_status status)
{
    pthread_mutex_lock(&peer->lock);
    peer->over = status;
    pthread_mutex_unlock(&peer->lock);
}

/* One that waits, or is expected, and is not any more. NULL: there is none. */
static struct call *take_any(struct cohort__remote_peer *peer, bool *ret_waited)
{
    struct call *call = NULL;
    pthread_mutex_lock(&peer->lock);
    struct cohort__map_node *node = cohort__map_some(&peer->calls);
    struct cohort__list *link = node ? NULL : cohort__list_pop_front(&peer->waiting);
    if (node) {
        call = COHORT_CONTAINER_OF(node, struct call, node);
        forget(peer, call);
    } else if (link) {
        call = COHORT_CONTAINER_OF(link, struct call, link);
        call->is_waiting = false;
    }
    *ret_waited = link != NULL;
    pthread_mutex_unlock(&peer->lock);
    return call;
}

bool cohort__remote_calls_end_some(struct cohort__remote_tasks *tasks,
                                   struct cohort__remote_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    const cohort_status over = peer->over;
    pthread_mutex_unlock(&peer->lock);
    for (int i = 0; over && i < COHORT__REMOTE_CALLS_OF_A_TURN; i++) {
        bool waited;
        struct call *call = take_any(peer, &waited);
        if (!call)
            return false;
        if (!cohort__process_check_dead(tasks->process, peer->rank))
            cohort_fail(over, "the job is over");
        set_error(call, over, cohort_error_message());
        if (waited)
            part_over(call); /* there is no send */
        part_over(call);
    }
    return over != COHORT_OK;
}

/* Calls --------------------------------------------------------------------------------------- */

/* A call of this locality. Its task carries it. */
struct own_call {
    struct cohort__remote_name name;
    struct cohort__process *process;
    cohort_object in;
    cohort_object *ret_out;             /* or NULL */
    alignas(16) unsigned char copied[]; /* a short IN */
};

/* *OUT becomes the caller's: a copy, if it is IN's data. */
static cohort_status give(const struct own_call *call, cohort_object *out)
{
    bool is_in = out->data == call->in.data;
    if (is_in && call->ret_out && out->bytes > 0) {
        void *data = malloc(out->bytes);
        if (!data)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for its result");
        *call->ret_out = (cohort_object){memcpy(data, out->data, out->bytes), out->bytes};
    } else if (call->ret_out) {
        *call->ret_out = is_in ? (cohort_object){0} : *out;
    } else if (!is_in) {
        cohort_object_fini(out);
    }
    return COHORT_OK;
}

static cohort_status run_own(void *arg)
{
    struct own_call *call = arg;
    const struct cohort__remote_function *function = cohort__remote_function_find(call->name.hash);
    cohort_object out = {0};
    if (call->in.bytes > 0 && call->in.bytes <= COHORT_REMOTE_COPIED_BYTES)
        call->in.data = call->copied;
    cohort_status status = cohort__remote_function_call(function, call->process, &call->in, &out);
    if (cohort__fork_is_child())
        return status; /* of a child process, which is no locality */
    if (!status)
        status = give(call, &out);
    if (status)
        cohort__remote_error_set(cohort__error_slot(), &call->name,
                                 cohort__process_rank(call->process), status,
                                 cohort_error_message());
    return status;
}

/* What a call counts in. */
struct membership {
    cohort_scope *scope; /* or NULL */
    bool fails_scope;    /* its error is the scope's */
    bool is_begun;       /* set: it counts; else the future says at once why it was not begun */
};

static cohort_future *call_own(struct cohort__process *process, struct membership *membership,
                               const struct cohort__remote_name *name, const cohort_object *in,
                               cohort_object *ret_out)
{
    const struct cohort__remote_function *function = cohort__remote_function_find(name->hash);
    if (!function) {
        struct cohort__error error = {0};
        cohort__remote_error_set(&error, name, cohort__process_rank(process),
                                 COHORT_ERR_BAD_PARAMETER,
                                 "no function of that name is registered there");
        cohort_future *future = cohort__future_of_status(error.status, &error);
        cohort__error_fini(&error);
        return future;
    }
    size_t copied = in->bytes <= COHORT_REMOTE_COPIED_BYTES ? in->bytes : 0;
    alignas(16) unsigned char memory[sizeof(struct own_call) + COHORT_REMOTE_COPIED_BYTES];
    struct own_call *call = (struct own_call *)memory;
    *call = (struct own_call){

        .name = {name->hash, function->name}, .process = process, .in = *in, .ret_out = ret_out};
    if (copied > 0)
        memcpy(call->copied, in->data, copied);
    cohort_future *future = cohort__task_start_carrying(
        membership->scope,
        COHORT__TASK_GIVES_WAY | (membership->fails_scope ? COHORT__TASK_FAILS_SCOPE : 0u), run_own,
        (cohort__any_function *)function->function, call, sizeof(*call) + copied);
    membership->is_begun = future->is_task;
    return future;
}

/* A call of another locality, with copies of what has to stay. NULL: out of memory. */
static struct call *create(struct cohort__remote_peer *peer, struct cohort__remote_tasks *tasks,
                           cohort_scope *scope, const struct cohort__remote_name *name,
                           const cohort_object *in)
{
    const struct cohort__remote_function *known = cohort__remote_function_find(name->hash);
    size_t copied = in->bytes <= COHORT_REMOTE_COPIED_BYTES ? in->bytes : 0;
    size_t text = !known && name->text ? strlen(name->text) + 1 : 0;
    struct call *call = cohort__slab_alloc(sizeof(*call) + copied + text);
    if (!call)
        return NULL;
    cohort__future_init(&call->future, scope ? 3 : 2, COHORT__WAIT_REMOTE);
    call->scope = scope;
    call->watch.cancel = cancel;
    call->watch.release = release;
    call->has_failed_scope = call->is_cancelled = call->is_waiting = false;
    atomic_init(&call->has_one, false);
    call->tasks = tasks;
    call->peer = peer;
    call->name = (struct cohort__remote_name){name->hash, known ? known->name : NULL};
    if (text > 0)
        call->name.text = memcpy(call->copied + copied, name->text, text);
    call->is_expected = false;
    call->in = *in;
    if (copied > 0)
        call->in.data = memcpy(call->copied, in->data, copied);
    call->out = (cohort_object){0};
    call->error = (struct cohort__error){0};
    atomic_init(&call->num_parts, 2);
    return call;
}

/* With the peer's lock held. */
static void wait(struct cohort__remote_peer *peer, struct call *call)
{
    call->is_waiting = true;
    cohort__list_push_back(&peer->waiting, &call->link);
}

/* CALL takes its place behind those that wait, or is sent. */
static void start(struct cohort__remote_peer *peer, struct call *call)
{
    pthread_mutex_lock(&peer->lock);
    cohort_status over = peer->over;
    bool may_go = !over && peer->num_unadmitted < call->tasks->window &&
                  cohort__list_is_empty(&peer->waiting);
    if (may_go)
        expect(peer, call);
    else if (!over)
        wait(peer, call);
    pthread_mutex_unlock(&peer->lock);
    if (may_go) {
        send(call);
    } else if (over) {
        if (!cohort__process_check_dead(call->tasks->process, peer->rank))
            cohort_fail(over, "the job is over");
        set_error(call, over, cohort_error_message());
        atomic_store_explicit(&call->num_parts, 1, memory_order_relaxed);
        part_over(call);
    }
}

/* CALL counts in its scope, if it has one, from now on. */
static void begin(struct call *call)
{
    cohort_scope *scope = call->scope;
    cohort__remote_open(call->tasks);
    if (scope)
        cohort__remote_open(call->tasks); /* for the watch */
    cohort__scope_enter(scope);
    start(call->peer, call);
    if (scope) {
        cohort__scope_watch(scope, &call->watch);
        watch_step(call);
    }
}

/* What is said of a call in SCOPE, which is cancelled. */
static cohort_future *cancelled_before(const cohort_scope *scope,
                                       const struct cohort__remote_name *name, uint32_t rank)
{
    struct cohort__error why = {0}, error = {0};
    cohort__scope_explain(scope, "not called", &why);
    cohort__remote_error_set(&error, name, rank, why.status, cohort__error_message(&why));
    cohort_future *future = cohort__future_of_status(error.status, &error);
    cohort__error_fini(&why);
    cohort__error_fini(&error);
    return future;
}

static cohort_future *call_other(struct cohort__remote_tasks *tasks, struct membership *membership,
                                 uint32_t rank, uint32_t span,
                                 const struct cohort__remote_name *name, const cohort_object *in,
                                 cohort_object *ret_out)
{
    cohort_scope *scope = membership->scope;
    if (scope && cohort__scope_is_cancelled(scope))
        return cancelled_before(scope, name, rank);
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, rank);
    struct call *call = peer ? create(peer, tasks, scope, name, in) : NULL;
    if (!call)
        return cohort__future_no_memory();
    remote_line_make(tasks, peer);
    call->span = span;
    call->ret_out = ret_out;
    call->fails_scope = membership->fails_scope;
    membership->is_begun = true;
    begin(call);
    return &call->future;
}

cohort_future *cohort__remote_call(struct cohort__remote_tasks *tasks, uint32_t rank, uint32_t span,
                                   const struct cohort__remote_name *name, const cohort_object *in,
                                   cohort_object *ret_out)
{
    struct membership membership = {.scope = cohort__scope_current()};
    return rank == cohort__process_rank(tasks->process)
               ? call_own(tasks->process, &membership, name, in, ret_out)
               : call_other(tasks, &membership, rank, span, name, in, ret_out);
}

/* What a call of the public FUNCTION needs. */
static cohort_status check(struct cohort__process *process, const char *function, uint32_t locality,
                           const char *name, const cohort_object *in,
                           struct cohort__remote_tasks **ret_tasks)
{
    if (!name || (!in->data && in->bytes > 0))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: no %s", function, name ? "data" : "name");
    if (in->bytes > PTRDIFF_MAX)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: remote task \"%.60s\": %zu bytes are more than memory", function,
                           name, in->bytes);
    struct cohort__remote_tasks *tasks = process ? cohort__remote_tasks_of(process) : NULL;
    if (!tasks || cohort__scheduler_is_closed())
        return cohort__scheduler_refuse(function);
    if (locality >= tasks->size)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%s: remote task \"%.60s\" at locality %u: there is no such locality: "
                           "there are %u",
                           function, name, locality, tasks->size);
    *ret_tasks = tasks;
    return COHORT_OK;
}

static const cohort_object nothing;

cohort_future *cohort__async_at_from(struct cohort__process *process, uint32_t locality,
                                     const char *name, const cohort_object *in,
                                     cohort_object *ret_out)
{
    struct cohort__remote_tasks *tasks = NULL;
    if (ret_out)
        *ret_out = nothing;
    in = in ? in : &nothing;
    cohort_status status = check(process, "cohort_async_at", locality, name, in, &tasks);
    if (status)
        return cohort__future_of_status(status, cohort__error_slot());
    struct cohort__remote_name looked_for = {cohort__remote_hash(name), name};
    return cohort__remote_call(tasks, locality, 1, &looked_for, in, ret_out);
}

cohort_future *cohort_async_at(uint32_t locality, const char *name, const cohort_object *in,
                               cohort_object *ret_out)
{
    if (cohort__fork_is_child())
        return cohort__fork_refused("cohort_async_at");
    bool is_up = cohort__scheduler_hold();
    cohort_future *future = cohort__async_at_from(is_up ? cohort__process_current() : NULL,
                                                  locality, name, in, ret_out);
    cohort__scheduler_release();
    return future;
}

cohort_status cohort__scope_async_at_from(struct cohort__process *process, cohort_scope *scope,
                                          uint32_t locality, const char *name,
                                          const cohort_object *in)
{
    const char *function = "cohort_scope_async_at";
    struct cohort__remote_tasks *tasks = NULL;
    in = in ? in : &nothing;
    if (!scope)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: scope is NULL", function);
    cohort_status status = check(process, function, locality, name, in, &tasks);
    if (!status)
        status = cohort__scope_check_open(scope, function);
    if (status)
        return status;
    struct cohort__remote_name looked_for = {cohort__remote_hash(name), name};
    struct membership membership = {.scope = scope, .fails_scope = true};
    cohort_future *future =
        locality == cohort__process_rank(tasks->process)
            ? call_own(tasks->process, &membership, &looked_for, in, NULL)
            : call_other(tasks, &membership, locality, 1, &looked_for, in, NULL);
    if (!membership.is_begun)
        return cohort_await(future); /* the error */
    cohort_future_unref(future);
    return COHORT_OK;
}

cohort_status cohort_scope_async_at(cohort_scope *scope, uint32_t locality, const char *name,
                                    const cohort_object *in)
{
    if (cohort__fork_is_child())
        return cohort_await(cohort__fork_refused("cohort_scope_async_at"));
    if (scope)
        cohort__scope_check(scope, "cohort_scope_async_at", __builtin_return_address(0));
    bool is_up = cohort__scheduler_hold();
    cohort_status status = cohort__scope_async_at_from(is_up ? cohort__process_current() : NULL,
                                                       scope, locality, name, in);
    cohort__scheduler_release();
    return status;
}
