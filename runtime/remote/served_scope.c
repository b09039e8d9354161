/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cohort/task.h"
#include "runtime/base/container.h"
#include "runtime/base/hash.h"
#include "runtime/remote/served.h"
#include "runtime/task/fork.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"
#include "runtime/task/task.h"

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

void cohort__served_remember_scoped(struct served *served)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    cohort__map_insert(&all->scoped, &served->node,
                       scoped_hash(served->peer->rank, served->number));
    pthread_mutex_unlock(&all->lock);
}

cohort_scope *cohort__served_forget_scoped(struct served *served)
{
    struct cohort__remote_served *all = &served->tasks->served;
    pthread_mutex_lock(&all->lock);
    cohort__map_remove(&all->scoped, &served->node);
    cohort_scope *scope = served->scope;
    served->scope = NULL;
    pthread_mutex_unlock(&all->lock);
    return scope;
}

/* The function has returned; what it has started may go on for long. Its stack and its IN do not.
 */
static cohort_status run_scoped(void *arg)
{
    struct served *served = arg;
    cohort_status status = cohort__served_call(served);
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
    cohort__served_leave(served);
    return status;
}

/* All has ended that the call has started. */
static cohort_status finish_scoped(cohort_future *ended, void *arg)
{
    struct served *served = arg;
    cohort_future_unref(ended);
    cohort_status status = cohort__scope_finish(cohort__served_forget_scoped(served));
    if (status)
        cohort__served_fail_with(served, status, cohort_error_message(), true);
    else if (served->error.status)
        cohort__served_fail(served, served->error.status, cohort__error_message(&served->error));
    else
        cohort__served_send_result(served);
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

void cohort__served_start_scoped(struct served *served)
{
    cohort_scope *scope = NULL;
    cohort_status status = cohort__scope_create_alone(&scope);
    cohort_future *finish = scope ? cohort__then_outside(cohort__scope_ended(scope), finish_scoped,
                                                         served, cohort__served_shown(served))
                                  : NULL;
    if (scope && !finish->is_task) {
        status = cohort__future_status(finish);
        cohort__scope_close(scope);
        (void)!cohort__scope_finish(scope); /* nothing is in it */
    }
    if (status) {
        cohort_future_unref(finish);
        cohort__served_forget_scoped(served);
        cohort__served_fail(served, status, "it could not be started");
        return;
    }
    if (set_scope(served, scope))
        cohort_scope_cancel(scope);
    status = cohort__task_start_in(scope, run_scoped, served, cohort__served_shown(served));
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
    cohort__served_fail(served, COHORT_ERR_CANCELLED, "the scope of its caller was cancelled");
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

void cohort__served_cancel_scoped(struct cohort__remote_served *all, uint32_t rank)
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
