/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_WATCH_H
#define COHORT_COLLECTIVES_COMM_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/batch_queue.h"
#include "runtime/base/list.h"

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

/* One more call waits. Any thread. */
void cohort__watch_begin(struct cohort__watches *watches, struct cohort__watch *watch);

/* One call less. Any thread. */
static inline void cohort__watch_end(struct cohort__watch *watch)
{
    atomic_fetch_sub(&watch->num_waiting, 1);
}

/* Looks wherever calls wait. By the thread that turns the event loop. */
bool cohort__watches_look(struct cohort__watches *watches);

/* WATCH, for which no call waits, is about to be freed. By the same thread, or when no other one is
 * left. */
void cohort__watches_remove(struct cohort__watches *watches, struct cohort__watch *watch);

#endif
