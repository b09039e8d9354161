/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_COMMONS_H
#define COHORT_COLLECTIVES_COMM_COMMONS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/actor.h"
#include "collectives/comm/arenas.h"
#include "runtime/base/batch_queue.h"
#include "runtime/base/list.h"
#include "runtime/proc/process.h"

/* Who looks at a board while calls wait for what other localities write there. There may be very
 * many boards, so only those are looked at. */
struct cohort__watch {
    bool (*look)(struct cohort__watch *watch); /* returns whether something was there */
    _Atomic uint32_t num_waiting;              /* calls */
    atomic_bool is_listed;                     /* or about to be */
    uint32_t num_idle; /* looks in vain at num_waiting, one after the other */
    struct cohort__batch_queue_node added;
    struct cohort__list link;
};

/* All of them. The list is used only by the thread that turns the event loop. */
struct cohort__watches {
    struct cohort__batch_queue added; /* to the list, at the next look */
    struct cohort__list list;
};

void cohort__watches_init(struct cohort__watches *watches);

/* One more call waits; one less. Any thread, with the lock held that is WATCH's owner's. */
void cohort__watch_begin(struct cohort__watches *watches, struct cohort__watch *watch);

static inline void cohort__watch_end(struct cohort__watch *watch)
{
    const uint32_t num = atomic_load_explicit(&watch->num_waiting, memory_order_relaxed);
    atomic_store_explicit(&watch->num_waiting, num - 1, memory_order_relaxed);
}

/* Looks wherever calls wait. By the thread that turns the event loop. */
bool cohort__watches_look(struct cohort__watches *watches);

/* WATCH, for which no call waits, is about to be freed. By the same thread, or when no other one is
 * left. */
void cohort__watches_remove(struct cohort__watches *watches, struct cohort__watch *watch);

/* What endpoints keep for their next calls (exec/plan_cache.h). */
struct cohort__plan_memory {
    _Atomic size_t bytes;
    _Atomic uint32_t num_caches;
};

/* What all groups of a locality share. It lasts longer than they do: the inbox, which finds them,
 * has it, and sets its functions. */
struct cohort__commons {
    /* Fixed. */
    struct cohort__process *process;
    /* Any thread: nobody has a reference to the group of INSTANCE any more. It may be gone. */
    void (*unused)(struct cohort__commons *commons, uint64_t instance);
    /* What an endpoint does with a message: how its item runs. */
    void (*receive)(struct cohort__actor *actor, struct cohort__item *item);
    /* An endpoint ends with its group. */
    void (*destroy)(struct cohort__actor *actor);

    struct cohort__watches watches; /* who looks at boards and notes */
    struct cohort__arenas arenas;   /* the memory that is used on boards */
    struct cohort__plan_memory plans;
    _Atomic uint64_t num_works; /* see count_work */
    pthread_mutex_t later_lock;
    struct cohort__list later;   /* endpoints that have left something for later: `later` of them */
    _Atomic uint32_t num_failed; /* calls, sets and gets, ever, of all of which some fail later */
};

/* The caller sets the functions. */
void cohort__commons_init(struct cohort__commons *commons, struct cohort__process *process);
void cohort__commons_fini(struct cohort__commons *commons);

/* Any thread. CHANGE 1: something that may still send has been given to a worker, or left for
 * later. CHANGE -1: it is done; then COMMONS may be gone. */
void cohort__commons_count_work(struct cohort__commons *commons, int change);

/* Any thread: whether there is such a work. */
bool cohort__commons_are_busy(const struct cohort__commons *commons);

#endif
