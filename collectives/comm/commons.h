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
#include "collectives/comm/watch.h"
#include "runtime/base/list.h"
#include "runtime/proc/process.h"

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
