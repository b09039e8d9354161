/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/actor.h"

#include <stddef.h>

#include "runtime/base/container.h"

/* The actors that this thread has to run. If an actor becomes ready while another one runs, it
 * waits here until that one has finished. So actors never run nested. */
static __thread struct {
    struct cohort__actor *first;
    struct cohort__actor *last;
    bool is_running;
} ready __attribute__((tls_model("initial-exec")));

void cohort__actor_init(struct cohort__actor *actor)
{
    cohort__batch_queue_init(&actor->queue);
    actor->next_ready = NULL;
    actor->home = NULL;
}

/* Runs ACTOR's items until the queue is empty and released. After that, other threads may run it.
 * If it has a home, they may also free it, or the unref at the end frees it, with its home. */
static void run(struct cohort__actor *actor)
{
    struct cohort__actor_home *home = NULL; /* a reference */
    for (;;) {
        if (actor->home && !home) {
            home = actor->home;
            home->ref(home);
        }
        struct cohort__batch_queue_node *node = cohort__batch_queue_take_or_release(&actor->queue);
        if (!node)
            break;
        while (node) {
            struct cohort__item *item = COHORT_CONTAINER_OF(node, struct cohort__item, node);
            node = node->next;
            item->run(actor, item);
        }
    }
    if (home)
        home->unref(home);
}

static void run_ready(void)
{
    struct cohort__actor *actor;
    while ((actor = ready.first)) {
        ready.first = actor->next_ready;
        run(actor);
    }
    ready.is_running = false;
}

bool cohort__actor_turn_begin(struct cohort__actor *actor)
{
    if (ready.is_running || !cohort__batch_queue_claim(&actor->queue))
        return false;
    ready.is_running = true;
    return true;
}

void cohort__actor_turn_end(struct cohort__actor *actor)
{
    run(actor);
    run_ready();
}

void cohort__actor_post(struct cohort__actor *actor, struct cohort__item *item)
{
    /* Mostly no other thread runs the actor, and the item need not go through the queue. */
    if (cohort__actor_turn_begin(actor)) {
        item->run(actor, item);
        cohort__actor_turn_end(actor);
        return;
    }
    if (!cohort__batch_queue_push(&actor->queue, &item->node))
        return; /* the thread that runs it will find the item */
    actor->next_ready = NULL;
    if (ready.first)
        ready.last->next_ready = actor;
    else
        ready.first = actor;
    ready.last = actor;
    if (ready.is_running)
        return;
    ready.is_running = true;
    run_ready();
}
