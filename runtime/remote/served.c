/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/remote/served.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/base/slab.h"
#include "runtime/wire/pack.h"

/* One call of another locality: how it is made of what came, and how it ends, with its result or
 * an error, which goes back. */

struct served *cohort__served_create(struct cohort__remote_tasks *tasks,
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

struct cohort__remote_name cohort__served_name(const struct served *served)
{
    const struct cohort__remote_function *function = cohort__remote_function_find(served->hash);
    return (struct cohort__remote_name){served->hash, function ? function->name : NULL};
}

cohort__any_function *cohort__served_shown(const struct served *served)
{
    return served->span > 1
               ? (cohort__any_function *)cohort_async_everywhere
               : (cohort__any_function *)cohort__remote_function_find(served->hash)->function;
}

/* Results ------------------------------------------------------------------------------------- */

uint32_t cohort__served_take_untold(struct cohort__remote_peer *peer)
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
        .source_site = cohort__served_take_untold(peer),
        .tag = COHORT__REMOTE_RESULT,
    };
}

void cohort__served_send_error(struct cohort__remote_tasks *tasks, struct cohort__remote_peer *peer,
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

void cohort__served_free(struct served *served)
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
        cohort__served_leave(served);
    cohort__served_free(served);
    cohort__remote_close(tasks);
}

void cohort__served_fail_with(struct served *served, cohort_status status, const char *why,
                              bool is_of_scope)
{
    struct cohort__error error = {0};
    struct cohort__remote_name name = cohort__served_name(served);
    if (served->span > 1 && !served->says_where)
        cohort__remote_error_set(&error, &name, cohort__process_rank(served->tasks->process),
                                 status, why);
    else
        cohort__error_set(&error, status, "%s", why);
    cohort__served_send_error(served->tasks, served->peer, served->number, &error, is_of_scope);
    cohort__error_fini(&error);
    over(served);
}

void cohort__served_fail(struct served *served, cohort_status status, const char *why)
{
    cohort__served_fail_with(served, status, why, false);
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
        cohort__served_fail(served, status, cohort_error_message());
    else
        over(served);
}

void cohort__served_send_result(struct served *served)
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
