/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_CROSS_TASKS_H
#define COHORT_TESTS_CROSS_TASKS_H

#include <stdatomic.h>

#include <cohort/cohort.h>

#include "runtime/base/random.h"
#include "tests/cross/play.h"
#include "tests/support/scarce.h"

/* What tasks do without a communicator: scopes with tasks that do all kinds of things, and wait for
 * what may not come, until their scope fails or is cancelled. */

struct scene;
struct scope_facts;
struct shared;

/* Of one task in the scope. */
struct part {
    struct scene *scene;
    struct scope_facts *facts;
    struct cohort__random random; /* of what it does */
    uint32_t depth;               /* scopes around its own */
    bool fails;
};

typedef void part_function(struct part *part);

/* A number below LIMIT. */
static inline uint32_t part_draw(struct part *part, uint32_t limit)
{
    return (uint32_t)cohort__random_below(&part->random, limit);
}

/* Yields now and then. */
void part_pause(struct part *part);

/* What all parts of its scene have in common; NULL: no memory. */
struct shared *part_shared(const struct part *part);

/* Has FUNCTION called by a thread for blocking functions; at once, or by such a thread. */
void part_block(struct part *part, part_function *function);
void part_call(struct part *part, part_function *function);

/* The caller is in PART's scope. */
void part_check(const struct part *part);

/* Whether STATUS is due to an allocation that has failed, and not to the program. */
static inline bool is_for_want_of_memory(cohort_status status)
{
    return status == COHORT_ERR_NO_MEMORY && scarce_has_failed();
}

/* In a cancelled scope anything may end as that. */
void check_end(cohort_status status);

/* waits.c: cohort/sync.h. NULL: no memory. */
struct shared *shared_create(uint32_t form);
/* A task outside of the scope waits for what parts of KIND wait for, if they do. */
void shared_keep(struct shared *shared, part_function *kind);
/* After the scope. */
void shared_end(struct shared *shared);
part_function use_mutex, use_condition, use_semaphore, use_latch, use_barrier, use_queue;

/* ranges.c: cohort/parallel.h. */
part_function use_range, use_reduction;

/* promises.c: what completes outside of tasks. */
part_function use_promises, use_callbacks, use_loop;

/* connections.c: cohort/tcp.h. */
part_function use_connection;

#endif
