/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/tasks.h"

#include <stdlib.h>

#include "runtime/base/ledger.h"
#include "runtime/base/log.h"
#include "runtime/proc/fetch.h"
#include "runtime/proc/send.h"
#include "runtime/remote/private.h"

/* The remote tasks of one process, as its messages and its end reach them. */

struct cohort__remote_tasks *cohort__remote_tasks_of(const struct cohort__process *process)
{
    return cohort__process_remote_context(process);
}

static void peer_destroy(struct cohort__remote_peer *peer)
{
    if (!peer)
        return;
    cohort__map_fini(&peer->calls);
    cohort__ledger_give_back(COHORT__LEDGER_PENDING, atomic_load(&peer->line));
    pthread_mutex_destroy(&peer->lock);
    free(peer);
}

struct cohort__remote_peer *cohort__remote_peer_get(struct cohort__remote_tasks *tasks,
                                                    uint32_t rank)
{
    struct cohort__remote_peer *peer =
        atomic_load_explicit(&tasks->peers[rank], memory_order_acquire);
    if (peer)
        return peer;
    struct cohort__remote_peer *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->rank = rank;
    pthread_mutex_init(&made->lock, NULL);
    cohort__map_init(&made->calls);
    cohort__list_init(&made->waiting);
    if (atomic_compare_exchange_strong(&tasks->peers[rank], &peer, made))
        return made;
    peer_destroy(made); /* another thread was faster */
    return peer;
}

void cohort__remote_open(struct cohort__remote_tasks *tasks)
{
    atomic_fetch_add_explicit(&tasks->num_open, 1, memory_order_relaxed);
}

void cohort__remote_close(struct cohort__remote_tasks *tasks)
{
    if (atomic_fetch_sub_explicit(&tasks->num_open, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t rank = 0; rank < tasks->size; rank++)
        peer_destroy(atomic_load(&tasks->peers[rank]));
    for (unsigned i = 0; i < COHORT__REMOTE_SERVED_LINES; i++)
        cohort__ledger_give_back(COHORT__LEDGER_PENDING, tasks->served.lines[i]);
    cohort__map_fini(&tasks->served.scoped);
    pthread_mutex_destroy(&tasks->served.lock);
    free(tasks);
}

void cohort__remote_drop(struct cohort__arrival *arrival)
{
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (envelope->kind == COHORT__KIND_ANNOUNCE)
        cohort__fetch_decline(arrival->process, envelope->source_locality, envelope->handle);
    cohort__arrival_release(arrival);
}

void cohort__remote_tell(struct cohort__remote_tasks *tasks, uint32_t rank, uint32_t tag,
                         uint64_t number)
{
    struct cohort__envelope envelope = {
        .kind = COHORT__KIND_ANSWER,
        .instance = COHORT__INSTANCE_REMOTE,
        .generation = number,
        .tag = tag,
    };
    cohort__send_control(tasks->process, rank, &envelope, NULL, 0);
}

void cohort__remote_error_set(struct cohort__error *error, const struct cohort__remote_name *name,
                              uint32_t rank, cohort_status status, const char *why)
{
    cohort__error_set(error, status, "remote task%s%.60s%s at locality %u: %s",
                      name->text ? " \"" : "", name->text ? name->text : "", name->text ? "\"" : "",
                      rank, why);
}

static void on_message(void *context, struct cohort__arrival *arrival)
{
    struct cohort__remote_tasks *tasks = context;
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (cohort__remote_message_check(envelope, tasks->size)) {
        cohort__log(COHORT__LOG_ERROR, "locality %u: dropped a message of locality %u: %s",
                    cohort__process_rank(tasks->process), envelope->source_locality,
                    cohort_error_message());
        cohort__remote_drop(arrival);
        return;
    }
    if (cohort__remote_is_call(envelope)) {
        cohort__remote_serve(tasks, arrival);
        return;
    }
    if (envelope->source_site > 0)
        cohort__remote_calls_admitted(tasks, envelope);
    if (envelope->tag == COHORT__REMOTE_RESULT) {
        cohort__remote_result(tasks, arrival);
        return;
    }
    if (envelope->tag == COHORT__REMOTE_CANCEL)
        cohort__remote_served_cancel(tasks, envelope->source_locality, envelope->generation);
    else if (envelope->tag == COHORT__REMOTE_UNKNOWN)
        cohort__remote_call_unknown(tasks, envelope->source_locality, envelope->generation);
    cohort__arrival_release(arrival);
}

static void on_peer_died(void *context, uint32_t rank)
{
    struct cohort__remote_tasks *tasks = context;
    struct cohort__remote_peer *peer = cohort__remote_peer_get(tasks, rank);
    if (peer)
        atomic_store(&peer->has_died, true);
    cohort__remote_served_end(tasks, &rank);
    if (peer)
        cohort__remote_calls_over(peer, COHORT_ERR_PEER_DIED);
    if (peer && cohort__remote_calls_end_some(tasks, peer))
        cohort__process_more(tasks->process);
}

/* For the callers of those that have died. */
static bool on_go_on(void *context)
{
    struct cohort__remote_tasks *tasks = context;
    bool has_more = false;
    for (uint32_t rank = 0; rank < tasks->size; rank++) {
        struct cohort__remote_peer *peer = atomic_load(&tasks->peers[rank]);
        has_more |= peer && cohort__remote_calls_end_some(tasks, peer);
    }
    return has_more;
}

static void on_tick(void *context, uint64_t now)
{
    (void)now;
    cohort__remote_served_tick(context);
    cohort__remote_calls_tick(context);
}

static bool is_busy(void *context)
{
    const struct cohort__remote_tasks *tasks = context;
    return atomic_load(&tasks->num_open) > 1;
}

static void stop(void *context)
{
    struct cohort__remote_tasks *tasks = context;
    cohort__remote_served_end(tasks, NULL);
    for (uint32_t rank = 0; rank < tasks->size; rank++) {
        struct cohort__remote_peer *peer = atomic_load(&tasks->peers[rank]);
        if (!peer)
            continue;
        cohort__remote_calls_over(peer, COHORT_ERR_CANCELLED);
        while (cohort__remote_calls_end_some(tasks, peer))
            ;
    }
    cohort__remote_close(tasks);
}

cohort_status cohort__remote_tasks_create(struct cohort__process *process)
{
    uint32_t size = cohort__process_size(process);
    struct cohort__remote_tasks *tasks = calloc(1, sizeof(*tasks) + size * sizeof(tasks->peers[0]));
    if (!tasks)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for remote tasks of %u localities",
                           size);
    tasks->process = process;
    tasks->size = size;
    tasks->window = cohort__send_window(size);
    atomic_init(&tasks->num_open, 1);
    pthread_mutex_init(&tasks->served.lock, NULL);
    cohort__list_init(&tasks->served.waiting);
    cohort__list_init(&tasks->served.admitted);
    cohort__map_init(&tasks->served.scoped);
    cohort__process_set_remote_handlers(process, &(struct cohort__process_handlers){
                                                     .context = tasks,
                                                     .message = on_message,
                                                     .peer_died = on_peer_died,
                                                     .go_on = on_go_on,
                                                     .tick = on_tick,
                                                     .busy = is_busy,
                                                     .stop = stop,
                                                 });
    return COHORT_OK;
}
