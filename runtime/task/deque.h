/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_DEQUE_H
#define COHORT_RUNTIME_TASK_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The work-stealing deque of Chase and Lev, with the memory orders of Lê, Pop, Cohen and Zappa
 * Nardelli (2013), where their fences are sequentially consistent operations, which the thread
 * sanitizer understands. The owner pushes and pops at the bottom, thieves steal at the top. Arrays
 * that were outgrown are kept until fini, since a thief may still read them. */
struct cohort__deque_array;
struct cohort__deque {
    _Atomic int64_t top;
    char padding[64 - sizeof(int64_t)]; /* thieves write top, the owner bottom */
    _Atomic int64_t bottom;
    struct cohort__deque_array *_Atomic array;
    bool is_shared; /* whether there are thieves at all */
};

/* COHORT_ERR_NO_MEMORY. CAPACITY is rounded up to a power of two. */
cohort_status cohort__deque_init(struct cohort__deque *deque, size_t capacity, bool is_shared);

/* Items that are left are forgotten. */
void cohort__deque_fini(struct cohort__deque *deque);

/* The owner only. False: full, see grow. Where it is shared the push is sequentially consistent:
 * who then looks for sleepers can't miss one that looked for items before it slept. */
bool cohort__deque_push(struct cohort__deque *deque, void *item);

/* The owner only. The newest item; NULL if there is none. */
void *cohort__deque_pop(struct cohort__deque *deque);

/* The owner only: what pop would return, unless a thief is quicker; so only to be compared. */
void *cohort__deque_peek(struct cohort__deque *deque);

/* The owner only: doubles the capacity. False where there is no memory; nothing has changed. */
bool cohort__deque_grow(struct cohort__deque *deque);

/* Any thread. The oldest item; NULL if there is none, or (then *ret_again is true, which may be
 * NULL) another thread was quicker. */
void *cohort__deque_steal(struct cohort__deque *deque, bool *ret_again);

/* Any thread; just a hint but for the order of push. */
bool cohort__deque_is_empty(struct cohort__deque *deque);
size_t cohort__deque_length(struct cohort__deque *deque);

#endif
