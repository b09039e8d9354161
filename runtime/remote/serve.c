/* SPDX-License-Identifier: Apache-2.0 */
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "cohort/task.h"
#include "runtime/base/clock.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/base/ledger.h"
#include "runtime/base/slab.h"
#include "runtime/base/trace.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "runtime/remote/private.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"
#include "runtime/task/wait.h"
#include "runtime/wire/bins.h"
#include "runtime/wire/pack.h"

/* The other side of a remote call: it comes, waits to be admitted, its IN is fetched, a task calls
 * the function, and OUT goes back. */

/* One of the calls of others in this locality. */
struct served {
    struct cohort__list link;     /* in `waiting` */
    struct cohort__list admitted; /* in `admitted`, once it is; also under the lock of all */
    _Atomic uintptr_t task;       /* that is in the function, as in the ledger; 0: none */
    struct cohort__map_node node; /* of a scoped one: in `scoped` */
    cohort_scope *scope;          /* of a scoped one that has begun; under the lock of all */
    bool is_scoped;
    bool fails_scope;           /* the function's error is the scope's */
    struct cohort__error error; /* else it is here until the scope has ended */
    bool is_cancelled;          /* under the lock of all */
    bool has_left;              /* it is not admitted any more: its function has returned, or will
                                 * not be called */
    struct cohort__remote_tasks *tasks;
    struct cohort__remote_peer *peer; /* the caller */
    uint64_t number;
    uint64_t hash;
    uint32_t span;
    bool says_where;                 /* of an error: its text names the locality */
    size_t bytes;                    /* of IN */
    struct cohort__arrival *arrival; /* a longer IN, as it has come; else NULL */
    void *memory;                    /* from malloc, for that */
    cohort_object in, out;
    union {
        struct cohort__fetch fetch;
        struct cohort__send send;
    };
    alignas(16) unsigned char copied[]; /* a short IN */
};

/* The task that calls the function, once the call is admitted and its IN is here. */

/* A longer IN that has come with the call gets memory of its own, so that the caller's budget is
 * not used up for as long as the function runs. */
static cohort_status take_along(struct served *served)
{
    struct cohort__arrival *arrival = served->arrival;
    if (!arrival)
        return COHORT_OK;
    served->memory = malloc(served->bytes);
    if (!served->memory)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for its %zu bytes", served->bytes);
    memcpy(served->memory, arrival->data, served->bytes);
    served->in.data = served->memory;
    served->arrival = NULL;
    cohort__arrival_release(arrival);
    return COHORT_OK;
}

/* What it calls. */
static struct cohort__remote_name served_name(const struct served *served)
{
    const struct cohort__remote_function *function = cohort__remote_function_find(served->hash);
    return (struct cohort__remote_name){served->hash, function ? function->name : NULL};
}

/* For several localities: OUT is all their results, packed. */
static cohort_status run_span(struct served *served)
{
    struct cohort__remote_name name = served_name(served);
    cohort_object *objects = calloc(served->span, sizeof(*objects));
    if (!objects)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %u results", served->span);
    cohort_status status =
        cohort__remote_spread(served->tasks, served->span, &name, &served->in, objects);
    served->says_where = status != COHORT_OK;
    size_t bytes = cohort__bins_head_bytes(served->span);
    for (uint32_t i = 0; i < served->span; i++)
        bytes += cohort__bins_string_bytes(objects[i].bytes);
    if (!status && !(served->out.data = malloc(bytes)))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for results of %zu bytes", bytes);
    if (!status) {
        served->out.bytes = bytes;
        unsigned char *to = cohort__bins_put_head(served->out.data, served->span);
        for (uint32_t i = 0; i < served->span; i++)
            to = cohort__bins_put_string(to, objects[i].data, objects[i].bytes);
    }
    cohort_objects_fini(objects, served->span);
    free(objects);
    return status;
}

static cohort_status call_what_is_named(struct served *served)
{
    cohort_status status = take_along(served);
    if (status)
        return status;
    if (served->span > 1)
        return run_span(served);
    const struct cohort__remote_function *function = cohort__remote_function_find(served->hash);
    return cohort__remote_function_call(function, served->tasks->process, &served->in,
                                        &served->out);
}

/* In a task: calls the function. */
static cohort_status served_call(struct served *served)
{
    atomic_store_explicit(&served->task, cohort__wait_line_self(), memory_order_relaxed);
    cohort_status status = call_what_is_named(served);
    atomic_store_explicit(&served->task, 0, memory_order_relaxed);
    return status;
}

static void served_send_result(struct served *served);
static void served_fail(struct served *served, cohort_status status, const char *why);

static cohort_status run(void *arg)
{
    struct served *served = arg;
    cohort_status status = served_call(served);
    if (cohort__fork_is_child())
        return status; /* of a child process, which is no locality */
    if (status)
        served_fail(served, status, cohort_error_message());
    else
        served_send_result(served);
    return COHORT_OK;
}

/* What its tasks are called, see task.h. The function is registered here. */
static cohort__any_function *served_shown(const struct served *served)
{
    return served->span > 1
               ? (cohort__any_function *)cohort_async_everywhere
               : (cohort__any_function *)cohort__remote_function_find(served->hash)->function;
}

static void start_alone(struct served *served)
{
    cohort_future *future = cohort__task_start_outside(run, served, served_shown(served));
    bool is_started = future->is_task;
    cohort_status status = is_started ? COHORT_OK : cohort__future_status(future);
    cohort_future_unref(future);
    if (!is_started)
        served_fail(served, status, "it could not be started");
}

static void served_start_scoped(struct served *served);

/* Starts the task of SERVED, whose IN is here. */
static void served_start(struct served *served)
{
    if (served->is_scoped)
        served_start_scoped(served);
    else
        start_alone(served);
}

/* What a call of a task in a scope has besides: a scope of its own, which its caller may cancel. */

static uint64_t scoped_hash(uint32_t rank, uint64_t number)
{
    return cohort__hash_mix(rank, number);
}

struct scoped_key {
    uint32_t rank;
    uint64_t number;
};

static bool is_call(const struct cohort__map_node *node, const void *looked_for)
{
    const struct served *served = COHORT_CONTAINER_OF(node, struct served, node);
    const struct scoped_key *key = looked_for;
    return served->peer->rank == key->rank && served->number == key->number;
}

/* With the lock held. NULL: it has not come, or is over. */
static struct served *find_scoped(const struct cohort__remote_served *all, struct scoped_key key)
{
    struct cohort__map_node *node =
        cohort__map_find(&all->scoped, scoped_hash(key.rank, key.number), is_call, &key);
    return node ? COHORT_CONTAINER_OF(node, struct served, node) : NULL;
}

/* From when it is remembered until it is forgotten a scoped call can be cancelled. */
static void served_remember_scoped(struct served *served)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    cohort__map_insert(&all->scoped, &served->node,
                       scoped_hash(served->peer->rank, served->number));
    pthread_mutex_unlock(&all->lock);
}

/* Returns its scope, which nobody cancels any more; NULL: it has not begun. */
static cohort_scope *served_forget_scoped(struct served *served)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    cohort__map_remove(&all->scoped, &served->node);
    cohort_scope *scope = served->scope;
    served->scope = NULL;
    pthread_mutex_unlock(&all->lock);
    return scope;
}

static void served_leave(struct served *served);

/* The function has returned; what it has started may go on for long. Its stack and its IN do not.
 */
static cohort_status run_scoped(void *arg)
{
    struct served *served = arg;
    cohort_status status = served_call(served);
    if (cohort__fork_is_child())
        return status; /* of a child process, which is no locality */
    if (served->out.data != served->in.data) {
        free(served->memory);
        served->memory = NULL;
    }
    if (status && !served->fails_scope) {
        cohort__error_copy(&served->error, cohort__error_slot());
        status = COHORT_OK;
    }
    served_leave(served);
    return status;
}

static void served_fail_with(struct served *served, cohort_status status, const char *why,
                             bool is_of_scope);

/* All has ended that the call has started. */
static cohort_status finish_scoped(cohort_future *ended, void *arg)
{
    struct served *served = arg;
    cohort_future_unref(ended);
    cohort_status status = cohort__scope_finish(served_forget_scoped(served));
    if (status)
        served_fail_with(served, status, cohort_error_message(), true);
    else if (served->error.status)
        served_fail(served, served->error.status, cohort__error_message(&served->error));
    else
        served_send_result(served);
    return COHORT_OK;
}

/* SCOPE is there for SERVED from now on. Returns whether it was cancelled before. */
static bool set_scope(struct served *served, cohort_scope *scope)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    served->scope = scope;
    bool is_cancelled = served->is_cancelled;
    pthread_mutex_unlock(&all->lock);
    return is_cancelled;
}

static void served_start_scoped(struct served *served)
{
    cohort_scope *scope = NULL;
    cohort_status status = cohort__scope_create_alone(&scope);
    cohort_future *finish = scope ? cohort__then_outside(cohort__scope_ended(scope), finish_scoped,
                                                         served, served_shown(served))
                                  : NULL;
    if (scope && !finish->is_task) {
        status = cohort__future_status(finish);
        cohort__scope_close(scope);
        (void)!cohort__scope_finish(scope); /* nothing is in it */
    }
    if (status) {
        cohort_future_unref(finish);
        served_forget_scoped(served);
        served_fail(served, status, "it could not be started");
        return;
    }
    if (set_scope(served, scope))
        cohort_scope_cancel(scope);
    status = cohort__task_start_in(scope, run_scoped, served, served_shown(served));
    if (status)
        cohort__scope_fail(scope, status, cohort__error_slot());
    cohort__scope_close(scope);
    cohort_future_unref(finish);
}

/* Takes SERVED, which waits to be admitted and is cancelled, out of all lists. */
static void take_waiting(struct cohort__remote_served *all, struct served *served)
{
    cohort__list_remove(&served->link);
    all->num_waiting--;
    cohort__map_remove(&all->scoped, &served->node);
    served->has_left = true;
}

/* It ends as one that was refused. */
static void end_waiting(struct served *served)
{
    struct cohort__remote_peer *peer = served->peer;
    pthread_mutex_lock(&peer->lock);
    peer->num_untold++;
    pthread_mutex_unlock(&peer->lock);
    if (served->arrival && served->arrival->envelope.kind == COHORT__KIND_ANNOUNCE) {
        cohort__remote_drop(served->arrival);
        served->arrival = NULL;
    }
    served_fail(served, COHORT_ERR_CANCELLED, "the scope of its caller was cancelled");
}

void cohort__remote_served_cancel(struct cohort__remote_tasks *tasks, uint32_t rank,
                                  uint64_t number)
{
    struct cohort__remote_served *all = &tasks->served;
    cohort_scope *scope = NULL;
    pthread_mutex_lock(&all->lock);
    struct served *served = find_scoped(all, (struct scoped_key){rank, number});
    bool is_waiting = served && !cohort__list_is_empty(&served->link);
    if (is_waiting)
        take_waiting(all, served);
    else if (served)
        served->is_cancelled = true;
    if (served && !is_waiting && served->scope)
        scope = cohort__scope_ref(served->scope);
    pthread_mutex_unlock(&all->lock);
    if (is_waiting)
        end_waiting(served);
    else if (!served)
        cohort__remote_tell(tasks, rank, COHORT__REMOTE_UNKNOWN, number);
    if (scope) {
        cohort_scope_cancel(scope);
        cohort__scope_unref(scope);
    }
}

/* Cancels all scoped calls of RANK that have begun; the others when they begin. */
static void served_cancel_scoped(struct cohort__remote_served *all, uint32_t rank)
{
    size_t num = 0;
    pthread_mutex_lock(&all->lock);
    cohort_scope **scopes = malloc((all->scoped.num_nodes + 1) * sizeof(cohort_scope *));
    for (struct cohort__map_node *node = cohort__map_first(&all->scoped); node;
         node = cohort__map_next(&all->scoped, node)) {
        struct served *served = COHORT_CONTAINER_OF(node, struct served, node);
        if (served->peer->rank != rank)
            continue;
        served->is_cancelled = true;
        if (served->scope && scopes) /* without memory they end by themselves */
            scopes[num++] = cohort__scope_ref(served->scope);
    }
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < num; i++) {
        cohort_scope_cancel(scopes[i]);
        cohort__scope_unref(scopes[i]);
    }
    free(scopes);
}

/* The ledger's lines of the calls that this locality works on. */

/* With the lock held: line I of those that say what is worked on here. NULL: it has none. */
static struct cohort__pending_line *begin_line(const struct cohort__remote_tasks *tasks, unsigned i)
{
    struct cohort__pending_line *line = tasks->served.lines[i];
    if (!line)
        return NULL;
    atomic_store_explicit(&line->at, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line->rank, cohort__process_rank(tasks->process), memory_order_relaxed);
    atomic_store_explicit(&line->num, 0, memory_order_relaxed);
    return line;
}

/* With the lock held: SERVED as what is worked on. */
static void describe(struct cohort__pending_line *line, const struct served *served)
{
    const uint32_t num = atomic_load_explicit(&line->num, memory_order_relaxed);
    struct cohort__pending *pending = &line->of[num];
    atomic_store_explicit(&pending->future,
                          atomic_load_explicit(&served->task, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&pending->number, served->number, memory_order_relaxed);
    atomic_store_explicit(&pending->site, served->peer->rank, memory_order_relaxed);
    atomic_store_explicit(&pending->kind, COHORT__WAIT_TASK, memory_order_relaxed);
    atomic_store_explicit(&line->num, num + 1, memory_order_relaxed);
}

/* With the lock held. For those who look on: which task works on which call, the oldest first, as
 * many as there is room for. */
static void write_lines(struct cohort__remote_tasks *tasks)
{
    struct cohort__remote_served *all = &tasks->served;
    const uint64_t now = cohort__clock_cycles();
    struct cohort__list *at = all->admitted.next;
    for (unsigned i = 0; i < COHORT__REMOTE_SERVED_LINES; i++) {
        struct cohort__pending_line *line = begin_line(tasks, i);
        for (int num = 0; line && num < COHORT__LEDGER_PENDING_MOST && at != &all->admitted;
             num++, at = at->next)
            describe(line, COHORT_CONTAINER_OF(at, struct served, admitted));
        if (line)
            atomic_store_explicit(&line->at, now, memory_order_release);
    }
}

/* As for calls: those that end in time don't pay for it. Only the ticks take lines. */
static void served_look_on(struct cohort__remote_tasks *tasks)
{
    struct cohort__remote_served *all = &tasks->served;
    const uint32_t each = COHORT__LEDGER_PENDING_MOST;
    pthread_mutex_lock(&all->lock);
    const uint32_t num = all->num_admitted;
    const bool is_told = num > 0 && all->was_serving;
    all->was_serving = num > 0;
    pthread_mutex_unlock(&all->lock);
    for (unsigned i = 0; is_told && i < COHORT__REMOTE_SERVED_LINES && i * each < num; i++)
        if (!all->lines[i])
            all->lines[i] = cohort__ledger_take(COHORT__LEDGER_PENDING);
    if (!is_told)
        return;
    pthread_mutex_lock(&all->lock);
    write_lines(tasks);
    pthread_mutex_unlock(&all->lock);
}

/* One call of another locality: how it is made of what came, and how it ends, with its result or
 * an error, which goes back. */

/* The call of ARRIVAL. It has what is needed of ARRIVAL, which is kept for the rest.
 * NULL: there is no memory; ARRIVAL is still the caller's. */
static struct served *served_create(struct cohort__remote_tasks *tasks,
                                    struct cohort__remote_peer *peer,
                                    struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    bool is_here = envelope->kind == COHORT__KIND_DATA;
    uint64_t bytes = is_here ? envelope->payload_bytes : envelope->total_bytes;
    bool is_short = is_here && bytes <= COHORT_REMOTE_COPIED_BYTES;
    struct served *served = cohort__slab_alloc(sizeof(*served) + (is_short ? bytes : 0));
    if (!served)
        return NULL;
    cohort__list_init(&served->link);
    cohort__list_init(&served->admitted);
    atomic_init(&served->task, 0);
    served->tasks = tasks;
    served->peer = peer;
    served->number = envelope->generation;
    served->hash = envelope->fingerprint;
    served->span = envelope->dest_site;
    served->scope = NULL;
    served->is_scoped = envelope->tag == COHORT__REMOTE_SCOPED_CALL;
    served->fails_scope = served->is_scoped && envelope->source_site > 0;
    served->error = (struct cohort__error){0};
    served->is_cancelled = served->has_left = false;
    served->says_where = false;
    served->bytes = bytes;
    served->memory = NULL;
    served->in = (cohort_object){is_short && bytes > 0 ? served->copied : NULL, bytes};
    served->out = (cohort_object){0};
    served->arrival = NULL;
    if (is_short && bytes > 0)
        memcpy(served->copied, arrival->data, bytes);
    if (!is_short && !(served->arrival = cohort__arrival_keep(arrival))) {
        cohort__slab_free(served);
        return NULL;
    }
    if (is_short)
        cohort__arrival_release(arrival);
    return served;
}

/* Results ------------------------------------------------------------------------------------- */

/* How many of the caller's calls were admitted that it has not been told of. It is told now. */
static uint32_t served_take_untold(struct cohort__remote_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    uint32_t num = peer->num_untold;
    peer->num_untold = 0;
    pthread_mutex_unlock(&peer->lock);
    return num;
}

static struct cohort__envelope result_of(struct cohort__remote_peer *peer, uint64_t number,
                                         enum cohort__kind kind)
{
    return (struct cohort__envelope){
        .kind = kind,
        .instance = COHORT__INSTANCE_REMOTE,
        .generation = number,
        .source_site = served_take_untold(peer),
        .tag = COHORT__REMOTE_RESULT,
    };
}

/* Sends ERROR in place of the result of call NUMBER. */
static void served_send_error(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer,
                              uint64_t number, const struct cohort__error *error, bool is_of_scope)
{
    struct cohort__packer packer = {0};
    cohort__remote_error_pack(&packer, error);
    struct cohort__envelope envelope = result_of(peer, number, COHORT__KIND_ERROR);
    envelope.dest_site = is_of_scope;
    if (packer.status)
        cohort__process_give_up(tasks->process, peer->rank,
                                "can't be told of an error: out of memory here");
    else
        cohort__send_control(tasks->process, peer->rank, &envelope, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

/* The end ------------------------------------------------------------------------------------- */

static void served_free(struct served *served)
{
    cohort__error_fini(&served->error);
    cohort__arrival_release(served->arrival);
    if (served->out.data != served->in.data) /* else it is one of the two below */
        cohort_object_fini(&served->out);
    free(served->memory);
    cohort__slab_free(served);
}

/* Nothing of SERVED is left to do. */
static void over(struct served *served)
{
    struct cohort__remote_tasks *tasks = served->tasks;
    if (!served->has_left)
        served_leave(served);
    served_free(served);
    cohort__remote_close(tasks);
}

/* The same. IS_OF_SCOPE: it is the error of the caller's scope. */
static void served_fail_with(struct served *served, cohort_status status, const char *why,
                             bool is_of_scope)
{
    struct cohort__error error = {0};
    struct cohort__remote_name name = served_name(served);
    if (served->span > 1 && !served->says_where)
        cohort__remote_error_set(&error, &name, cohort__process_rank(served->tasks->process),
                                 status, why);
    else
        cohort__error_set(&error, status, "%s", why);
    served_send_error(served->tasks, served->peer, served->number, &error, is_of_scope);
    cohort__error_fini(&error);
    over(served);
}

/* Ends SERVED with STATUS in place of its result. */
static void served_fail(struct served *served, cohort_status status, const char *why)
{
    served_fail_with(served, status, why, false);
}

static void result_sent(struct cohort__send *send, cohort_status status)
{
    struct served *served = COHORT_CONTAINER_OF(send, struct served, send);
    struct cohort__remote_peer *peer = served->peer;
    pthread_mutex_lock(&peer->lock);
    peer->num_untold += status ? send->envelope.source_site : 0;
    pthread_mutex_unlock(&peer->lock);
    if (status && status != COHORT_ERR_PEER_DIED && status != COHORT_ERR_CANCELLED)
        /* else the caller waits for ever */
        served_fail(served, status, cohort_error_message());
    else
        over(served);
}

/* Ends SERVED with its result. */
static void served_send_result(struct served *served)
{
    struct cohort__process *process = served->tasks->process;
    uint32_t rank = served->peer->rank;
    struct cohort__envelope envelope = result_of(served->peer, served->number, COHORT__KIND_DATA);
    if (cohort__send_try(process, rank, &envelope, served->out.data, served->out.bytes)) {
        over(served);
        return;
    }
    served->send = (struct cohort__send){.envelope = envelope,
                                         .payload = served->out.data,
                                         .bytes = served->out.bytes,
                                         .done = result_sent};
    cohort__send_start(process, rank, &served->send);
}

/* Admission ----------------------------------------------------------------------------------- */

/* Before its task has started. */
static void fail_early(struct served *served, cohort_status status, const char *why)
{
    if (served->is_scoped)
        served_forget_scoped(served);
    served_fail(served, status, why);
}

static void fetched(struct cohort__fetch *fetch, cohort_status status)
{
    struct served *served = COHORT_CONTAINER_OF(fetch, struct served, fetch);
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    all->has_ended = true; /* the next ones are on their way as well */
    pthread_mutex_unlock(&all->lock);
    if (status)
        fail_early(served, status, cohort_error_message());
    else
        served_start(served);
}

/* IN waits at the caller. */
static void fetch(struct served *served)
{
    struct cohort__arrival *arrival = served->arrival;
    served->memory = malloc(served->bytes);
    if (!served->memory && served->bytes > 0) {
        served->arrival = NULL;
        cohort__remote_drop(arrival);
        fail_early(served, COHORT_ERR_NO_MEMORY, "no memory for its bytes");
        return;
    }
    served->in.data = served->memory;
    served->fetch = (struct cohort__fetch){.rank = served->peer->rank,
                                           .handle = arrival->envelope.handle,
                                           .destination = served->memory,
                                           .bytes = served->bytes,
                                           .done = fetched};
    memcpy(served->fetch.token.bytes, arrival->data, COHORT__NET_TOKEN_BYTES);
    served->arrival = NULL;
    cohort__arrival_release(arrival);
    cohort__fetch_start(served->tasks->process, &served->fetch);
}

/* The caller is told of what was admitted, if that is much and no result has told it. */
static void tell_admitted(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer)
{
    pthread_mutex_lock(&peer->lock);
    bool is_due = peer->num_untold >= (tasks->window + 1) / 2;
    pthread_mutex_unlock(&peer->lock);
    uint32_t num = is_due ? served_take_untold(peer) : 0;
    if (num == 0)
        return;
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_ANSWER,
        .instance = COHORT__INSTANCE_REMOTE,
        .source_site = num,
        .tag = COHORT__REMOTE_ADMITTED,
    };
    cohort__send_control(tasks->process, peer->rank, &envelope, NULL, 0);
}

static void begin(struct served *served)
{
    struct cohort__remote_tasks *tasks = served->tasks;
    struct cohort__remote_peer *peer = served->peer;
    pthread_mutex_lock(&peer->lock);
    peer->num_untold++;
    pthread_mutex_unlock(&peer->lock);
    if (served->arrival && served->arrival->envelope.kind == COHORT__KIND_ANNOUNCE)
        fetch(served);
    else
        served_start(served);
    tell_admitted(tasks, peer);
}

/* With the lock held: whether there is room for one more if the room is doubled so often. */
static bool has_room(const struct cohort__remote_served *all, unsigned num_doubled)
{
    return all->num_admitted < (uint64_t)COHORT__REMOTE_ADMITTED_MAX << num_doubled &&
           all->bytes_admitted < (uint64_t)COHORT__REMOTE_ADMITTED_BYTES_MAX << num_doubled;
}

/* With the lock held: whether one more is to be admitted. IS_IDLE: by a worker that has nothing
 * else to do. */
static bool takes_more(const struct cohort__remote_served *all, bool is_idle)
{
    return (is_idle || all->num_admitted < COHORT__REMOTE_BUSY_MAX) &&
           has_room(all, all->num_doubled);
}

/* With the lock held: takes the next call that is to be admitted. NULL: there is none. */
static struct served *admit(struct cohort__remote_served *all, bool is_idle)
{
    if (cohort__list_is_empty(&all->waiting) || !takes_more(all, is_idle))
        return NULL;
    struct served *served =
        COHORT_CONTAINER_OF(cohort__list_pop_front(&all->waiting), struct served, link);
    all->num_waiting--;
    all->num_admitted++;
    cohort__list_push_back(&all->admitted, &served->admitted);
    cohort__trace_count(COHORT__COUNTER_REMOTE_SERVED, 1);
    all->bytes_admitted += served->bytes;
    if (all->num_admitted > all->most_admitted)
        all->most_admitted = all->num_admitted;
    if (all->bytes_admitted > all->most_bytes)
        all->most_bytes = all->bytes_admitted;
    return served;
}

static void look_when_idle(struct cohort__remote_tasks *tasks);

/* One thread at a time, so that a call that fails at once, and makes room, adds no frame to the
 * stack. Others leave that to it: it looks once more before it goes. IS_IDLE: by a worker that has
 * nothing else to do, and has something then. */
static void admit_some(struct cohort__remote_tasks *tasks, bool is_idle)
{
    struct cohort__remote_served *all = &tasks->served;
    struct served *served;
    pthread_mutex_lock(&all->lock);
    if (is_idle)
        all->is_looking = false;
    if (all->is_admitting) {
        pthread_mutex_unlock(&all->lock);
        return;
    }
    all->is_admitting = true;
    while ((served = admit(all, is_idle))) {
        pthread_mutex_unlock(&all->lock);
        is_idle = false;
        begin(served);
        pthread_mutex_lock(&all->lock);
    }
    all->is_admitting = false;
    bool is_to_look =
        !all->is_looking && !cohort__list_is_empty(&all->waiting) && takes_more(all, true);
    all->is_looking |= is_to_look;
    pthread_mutex_unlock(&all->lock);
    if (is_to_look)
        look_when_idle(tasks);
}

static cohort_status look(void *arg)
{
    struct cohort__remote_tasks *tasks = arg;
    admit_some(tasks, true);
    cohort__remote_close(tasks);
    return COHORT_OK;
}

/* Without memory for that, the next tick tries it again. */
static void look_when_idle(struct cohort__remote_tasks *tasks)
{
    cohort__remote_open(tasks);
    if (cohort__task_start_last(look, tasks, (cohort__any_function *)cohort_async_at) == COHORT_OK)
        return;
    pthread_mutex_lock(&tasks->served.lock);
    tasks->served.is_looking = false;
    pthread_mutex_unlock(&tasks->served.lock);
    cohort__remote_close(tasks);
}

/* serve.c. SERVED, which was admitted, makes room for others. */
static void served_leave(struct served *served)
{
    struct cohort__remote_tasks *tasks = served->tasks;
    struct cohort__remote_served *all = &tasks->served;
    served->has_left = true;
    pthread_mutex_lock(&all->lock);
    cohort__list_remove(&served->admitted);
    all->num_admitted--;
    all->bytes_admitted -= served->bytes;
    all->has_ended = true;
    bool is_any_waiting = !cohort__list_is_empty(&all->waiting);
    pthread_mutex_unlock(&all->lock);
    if (is_any_waiting)
        admit_some(tasks, false);
}

void cohort__remote_served_tick(struct cohort__remote_tasks *tasks)
{
    struct cohort__remote_served *all = &tasks->served;
    served_look_on(tasks);
    pthread_mutex_lock(&all->lock);
    bool is_any_waiting = !cohort__list_is_empty(&all->waiting);
    bool is_stuck = is_any_waiting && !all->has_ended && !has_room(all, all->num_doubled);
    all->has_ended = false;
    all->num_doubled += is_stuck;
    all->num_more += is_stuck;
    if (has_room(all, 0))
        all->num_doubled = 0;
    pthread_mutex_unlock(&all->lock);
    if (is_any_waiting)
        admit_some(tasks, false);
}

void cohort__remote_served_end(struct cohort__remote_tasks *tasks, const uint32_t *rank)
{
    struct cohort__remote_served *all = &tasks->served;
    struct cohort__list ended, *next;
    cohort__list_init(&ended);
    pthread_mutex_lock(&all->lock);
    for (struct cohort__list *link = all->waiting.next; link != &all->waiting; link = next) {
        next = link->next;
        struct served *served = COHORT_CONTAINER_OF(link, struct served, link);
        if (rank && served->peer->rank != *rank)
            continue;
        cohort__list_remove(link);
        cohort__list_push_back(&ended, link);
        all->num_waiting--;
        if (served->is_scoped)
            cohort__map_remove(&all->scoped, &served->node);
    }
    pthread_mutex_unlock(&all->lock);
    if (rank)
        served_cancel_scoped(all, *rank);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        served_free(COHORT_CONTAINER_OF(link, struct served, link));
        cohort__remote_close(tasks);
    }
}

/* Arrival ------------------------------------------------------------------------------------- */

/* Takes ARRIVAL: the call is over before it has begun. */
static void refuse(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer,
                   struct cohort__arrival *arrival, cohort_status status, const char *why)
{
    struct cohort__error error = {0};
    uint64_t number = arrival->envelope.generation;
    cohort__error_set(&error, status, "%s", why);
    pthread_mutex_lock(&peer->lock);
    peer->num_untold++;
    pthread_mutex_unlock(&peer->lock);
    cohort__remote_drop(arrival);
    served_send_error(tasks, peer, number, &error, false);
    cohort__error_fini(&error);
}

/* False: the caller has died, and what waits of it has been dropped. So is SERVED. */
static bool queue(struct served *served)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    bool is_too_late = atomic_load(&served->peer->has_died);
    if (is_too_late) {
        if (served->is_scoped)
            cohort__map_remove(&all->scoped, &served->node);
    } else {
        cohort__list_push_back(&all->waiting, &served->link);
        all->num_waiting++;
        if (all->num_waiting > all->most_waiting)
            all->most_waiting = all->num_waiting;
    }
    pthread_mutex_unlock(&all->lock);
    if (is_too_late)
        served_free(served);
    return !is_too_late;
}

void cohort__remote_serve(struct cohort__remote_tasks *tasks, struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    uint32_t rank = envelope->source_locality;
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, rank);
    if (!peer) {
        cohort__remote_drop(arrival);
        cohort__process_give_up(tasks->process, rank,
                                "was given up: a call from it was lost here: no memory");
        return;
    }
    if (envelope->dest_site == 1 && !cohort__remote_function_find(envelope->fingerprint)) {
        refuse(tasks, peer, arrival, COHORT_ERR_BAD_PARAMETER,
               "no function of that name is registered there");
        return;
    }
    struct served *served = served_create(tasks, peer, arrival);
    if (!served) {
        refuse(tasks, peer, arrival, COHORT_ERR_NO_MEMORY, "no memory there");
        return;
    }
    cohort__remote_open(tasks);
    if (served->is_scoped)
        served_remember_scoped(served);
    struct cohort__remote_served *all = &tasks->served;
    pthread_mutex_lock(&all->lock);
    bool is_late = served->arrival && !takes_more(all, false);
    pthread_mutex_unlock(&all->lock);
    if (is_late)
        cohort__arrival_park(served->arrival);
    if (queue(served))
        admit_some(tasks, false);
    else
        cohort__remote_close(tasks);
}
