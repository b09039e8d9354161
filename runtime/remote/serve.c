/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/trace.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "runtime/remote/served.h"

/* The other side: a call comes, waits to be admitted, and its IN is fetched. The rest is in the
 * files of served.h. */

/* Admission ----------------------------------------------------------------------------------- */

/* Before its task has started. */
static void fail_early(struct served *served, cohort_status status, const char *why)
{
    if (served->is_scoped)
        cohort__served_forget_scoped(served);
    cohort__served_fail(served, status, why);
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
        cohort__served_start(served);
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
    uint32_t num = is_due ? cohort__served_take_untold(peer) : 0;
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
        cohort__served_start(served);
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

void cohort__served_leave(struct served *served)
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
    cohort__served_look_on(tasks);
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
        cohort__served_cancel_scoped(all, *rank);
    struct cohort__list *link;
    while ((link = cohort__list_pop_front(&ended))) {
        cohort__served_free(COHORT_CONTAINER_OF(link, struct served, link));
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
    cohort__served_send_error(tasks, peer, number, &error, false);
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
        cohort__served_free(served);
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
    struct served *served = cohort__served_create(tasks, peer, arrival);
    if (!served) {
        refuse(tasks, peer, arrival, COHORT_ERR_NO_MEMORY, "no memory there");
        return;
    }
    cohort__remote_open(tasks);
    if (served->is_scoped)
        cohort__served_remember_scoped(served);
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
