/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_DEQUE_H
#define COHORT_RUNTIME_TASK_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The work-stealing deque of Chase and Lev, with the memory orders of Lê, Pop, Cohen and Zappa
 * Nardelli (2013). In place of their fences there are sequentially consistent operations, which the
 * thread sanitizer understands. The owner pushes and pops at the bottom, thieves steal at the top.
 * Arrays that have become too small are kept until fini, since a thief may still read them. */
struct cohort__deque_array;
struct cohort__deque {
    _Atomic int64_t top;
    char padding[64 - sizeof(int64_t)]; /* thieves write top, the owner writes bottom */
    _Atomic int64_t bottom;
    struct cohort__deque_array *_Atomic array;
    bool is_shared; /* whether there are thieves */
};

/* COHORT_ERR_NO_MEMORY. CAPACITY is rounded up to a power of two. */
cohort_status cohort__deque_init(struct cohort__deque *deque, size_t capacity, bool is_shared);

/* Doesn't touch the items that are left. */
void cohort__deque_fini(struct cohort__deque *deque);

/* The owner only. Returns false if the deque is full; see grow. In a shared deque the push is
 * sequentially consistent. So an owner that looks for sleeping workers after the push can't miss
 * one that looked for items before it went to sleep. */
bool cohort__deque_push(struct cohort__deque *deque, void *item);

/* The owner only. The newest item; NULL if there is none. */
void *cohort__deque_pop(struct cohort__deque *deque);

/* The owner only. Takes ITEM if it is the oldest one, or, where there are no thieves, one of the
 * few newest ones. Returns whether it did. */
bool cohort__deque_take(struct cohort__deque *deque, const void *item);

/* The owner only. Doubles the capacity. Returns false if there is no memory; then nothing has
 * changed. */
bool cohort__deque_grow(struct cohort__deque *deque);

/* Any thread. The oldest item. NULL if there is none, or if another thread was quicker; in the
 * latter case *ret_again is set to true. RET_AGAIN may be NULL. */
void *cohort__deque_steal(struct cohort__deque *deque, bool *ret_again);

/* Any thread. Only a hint, except for the order with push that is described there. */
bool cohort__deque_is_empty(struct cohort__deque *deque);
size_t cohort__deque_length(struct cohort__deque *deque);

#endif
