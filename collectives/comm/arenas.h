/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_ARENAS_H
#define COHORT_COLLECTIVES_COMM_ARENAS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/list.h"

/* The memory that this locality has written to on all its boards. An arena keeps what was written
 * to, since the next call writes there again. But there may be thousands of boards, so beyond
 * COHORT__ARENAS_MOST bytes those that have grown least recently are given back to the system, as
 * far as they are not in use. Calls that are under way at the same time may take more. */
enum { COHORT__ARENAS_MOST = 64 << 20 };

/* One board's. All zero, but for the function: nothing was written. */
struct cohort__arena {
    /* Gives the memory back, sets `bytes` to 0 and returns true, unless it may still be read or
     * written. Must not wait for a lock. */
    bool (*give_back)(struct cohort__arena *arena);
    /* From the beginning, that were written to. The user of the arena may read it under the lock
     * under which it calls grow, and give_back sets it. */
    size_t bytes;
    struct cohort__list link;
};

struct cohort__arenas {
    pthread_mutex_t lock;
    struct cohort__list
        list;     /* those with memory; what has grown or refused least recently first */
    size_t bytes; /* of all */
};

void cohort__arenas_init(struct cohort__arenas *arenas);
void cohort__arenas_fini(struct cohort__arenas *arenas);

/* ARENA, which the caller uses, is written to up to BYTES from now on, which are more than before.
 * Any thread. */
void cohort__arenas_grow(struct cohort__arenas *arenas, struct cohort__arena *arena, size_t bytes);

/* ARENA is about to be freed. Its give_back is not called any more when this returns. Any thread.
 */
void cohort__arenas_remove(struct cohort__arenas *arenas, struct cohort__arena *arena);

/* What ARENA has, and all have together. Any thread. */
void cohort__arenas_look(struct cohort__arenas *arenas, const struct cohort__arena *arena,
                         size_t *ret_bytes, size_t *ret_all_bytes);

#endif
