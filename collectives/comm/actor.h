/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ACTOR_H
#define COHORT_COLLECTIVES_COMM_ACTOR_H

#include <stdbool.h>

#include "runtime/base/batch_queue.h"

/* An actor has a queue of items. Any thread posts them. The thread that makes the queue non-empty
 * runs them, before its post returns: that is the actor's turn. Items run one at a time and never
 * nested in those of another actor, so what is used only in the turn needs no lock. */
struct cohort__actor;

/* Something for an actor to do. It runs in the actor's turn, on any thread. */
struct cohort__item {
    struct cohort__batch_queue_node node;
    void (*run)(struct cohort__actor *actor, struct cohort__item *item);
};

/* What an actor is a part of, and is freed with. */
struct cohort__actor_home {
    void (*ref)(struct cohort__actor_home *home);
    void (*unref)(struct cohort__actor_home *home);
};

struct cohort__actor {
    struct cohort__batch_queue queue;
    struct cohort__actor *next_ready; /* in the list of the thread that runs it */
    /* Set in its turn, once other threads may free it after a turn: each turn then has a reference
     * to its home. NULL: it stays anyway. */
    struct cohort__actor_home *home;
};

void cohort__actor_init(struct cohort__actor *actor);

/* Whether no thread runs it, and there is nothing to run. */
static inline bool cohort__actor_is_idle(const struct cohort__actor *actor)
{
    return cohort__batch_queue_is_empty(&actor->queue);
}

/* Any thread: has this actor run ITEM, maybe before this returns. If the actor has a home, or gets
 * one now, it may be gone after that, unless the caller has a reference to that home. */
void cohort__actor_post(struct cohort__actor *actor, struct cohort__item *item);

/* Begins a turn without an item, if no other thread runs the actor. All that the caller does until
 * turn_end is the actor's turn. False: an item has to be posted instead. */
bool cohort__actor_turn_begin(struct cohort__actor *actor);
void cohort__actor_turn_end(struct cohort__actor *actor);

#endif
