/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_SYNC_H
#define COHORT_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Synchronisation between tasks, and with threads outside of the runtime. Who has to wait is served
 * in the order of coming. A task that waits suspends, and its thread runs other tasks; any other
 * thread blocks. A mutex of pthreads does not do for tasks: whoever waits for it keeps its worker
 * from running the task that holds it, and a task that holds one across an await may go on in
 * another thread, which must not unlock it.
 *
 * All objects are used alike:
 * - create: the caller owns one reference to the object. COHORT_ERR_BAD_PARAMETER,
 *   COHORT_ERR_NO_MEMORY. ref takes one more, and returns its argument; unref gives one back; NULL
 * is fine for both. With the last reference the object goes. Whoever waits for it then gets
 *   COHORT_ERR_GONE; whoever uses it later ends the program, with a line that says where, unless
 * the memory is another object's by then.
 * - Functions that may wait have a limit in NANOSECONDS: COHORT_NO_LIMIT, or 0 for none of it. They
 *   return COHORT_OK; COHORT_ERR_TIMEOUT when the time has passed; COHORT_ERR_CANCELLED when the
 *   scope of the calling task is cancelled (cohort/scope.h), at once if it is already, but only if
 *   they had to wait; COHORT_ERR_NO_MEMORY; COHORT_ERR_BAD_PARAMETER if an argument is NULL. On
 * each failure nothing has changed.
 * - Any thread may call all of it, except the runtime's own outside of tasks, for which waiting is
 *   COHORT_ERR_STATE. Only what has a limit may suspend. */

/* --- mutex --- */

/* Holds off all but one. Its owner is a task, wherever that runs, or a thread outside. */
typedef struct cohort_mutex cohort_mutex;
COHORT_API cohort_status cohort_mutex_create(cohort_mutex **ret_mutex) COHORT_MUST_USE;
COHORT_API cohort_mutex *cohort_mutex_ref(cohort_mutex *mutex);
COHORT_API void cohort_mutex_unref(cohort_mutex *mutex);

/* Takes MUTEX, and waits while another one holds it. COHORT_ERR_STATE if the caller does. */
COHORT_API cohort_status cohort_mutex_lock(cohort_mutex *mutex,
                                           uint64_t nanoseconds) COHORT_MUST_USE;

/* Hands MUTEX to who has waited for longest. COHORT_ERR_STATE if the caller does not hold it. */
COHORT_API cohort_status cohort_mutex_unlock(cohort_mutex *mutex);

/* --- condition --- */

/* Where the holders of a mutex wait until something that it guards has changed. */
typedef struct cohort_condition cohort_condition;
COHORT_API cohort_status cohort_condition_create(cohort_condition **ret_condition) COHORT_MUST_USE;
COHORT_API cohort_condition *cohort_condition_ref(cohort_condition *condition);
COHORT_API void cohort_condition_unref(cohort_condition *condition);

/* Unlocks MUTEX, waits until it is signalled, and locks MUTEX again, however the wait has ended:
 * the caller holds it afterwards. The lock has no limit and is not cancelled. There are no wake-ups
 * without a signal, but others may have come first. COHORT_ERR_STATE if the caller does not hold
 * MUTEX. */
COHORT_API cohort_status cohort_condition_wait(cohort_condition *condition, cohort_mutex *mutex,
                                               uint64_t nanoseconds) COHORT_MUST_USE;

/* Wakes who has waited for longest; all who wait. NULL is fine. */
COHORT_API void cohort_condition_signal(cohort_condition *condition);
COHORT_API void cohort_condition_broadcast(cohort_condition *condition);

/* --- semaphore --- */

/* A number of permits. */
typedef struct cohort_semaphore cohort_semaphore;
COHORT_API cohort_status cohort_semaphore_create(uint64_t count,
                                                 cohort_semaphore **ret_semaphore) COHORT_MUST_USE;
COHORT_API cohort_semaphore *cohort_semaphore_ref(cohort_semaphore *semaphore);
COHORT_API void cohort_semaphore_unref(cohort_semaphore *semaphore);

/* Takes one permit. */
COHORT_API cohort_status cohort_semaphore_acquire(cohort_semaphore *semaphore,
                                                  uint64_t nanoseconds) COHORT_MUST_USE;

/* Adds COUNT permits, of which those who wait get theirs first. COHORT_ERR_BAD_PARAMETER if there
 * would be more than UINT64_MAX. */
COHORT_API cohort_status cohort_semaphore_release(cohort_semaphore *semaphore, uint64_t count);

/* --- latch --- */

/* Opens once, when it has been counted down from COUNT to 0, and stays open. */
typedef struct cohort_latch cohort_latch;
COHORT_API cohort_status cohort_latch_create(uint64_t count,
                                             cohort_latch **ret_latch) COHORT_MUST_USE;
COHORT_API cohort_latch *cohort_latch_ref(cohort_latch *latch);
COHORT_API void cohort_latch_unref(cohort_latch *latch);

/* Counts LATCH down by COUNT. COHORT_ERR_STATE if that is more than what is left; then nothing is
 * counted. */
COHORT_API cohort_status cohort_latch_count_down(cohort_latch *latch, uint64_t count);

/* Waits until LATCH is open. */
COHORT_API cohort_status cohort_latch_wait(cohort_latch *latch,
                                           uint64_t nanoseconds) COHORT_MUST_USE;

/* --- barrier of tasks --- */

/* Where COUNT tasks or threads of one locality wait for each other, again and again. COUNT is at
 * least 1. Between localities: cohort_barrier, of a communicator. */
typedef struct cohort_local_barrier cohort_local_barrier;
COHORT_API cohort_status
cohort_local_barrier_create(uint64_t count, cohort_local_barrier **ret_barrier) COHORT_MUST_USE;
COHORT_API cohort_local_barrier *cohort_local_barrier_ref(cohort_local_barrier *barrier);
COHORT_API void cohort_local_barrier_unref(cohort_local_barrier *barrier);

/* Waits until COUNT have come. On success *ret_is_last, which may be NULL, says whether the caller
 * was the last of them; it goes on first. On failure the caller has not come. */
COHORT_API cohort_status cohort_local_barrier_wait(cohort_local_barrier *barrier,
                                                   uint64_t nanoseconds,
                                                   bool *ret_is_last) COHORT_MUST_USE;

/* --- queue --- */

/* Pointers, of which up to CAPACITY (at least 1) wait to be taken, first in, first out. The library
 * only passes them on; those that are left when the queue goes are the caller's still. */
typedef struct cohort_queue cohort_queue;
COHORT_API cohort_status cohort_queue_create(size_t capacity,
                                             cohort_queue **ret_queue) COHORT_MUST_USE;
COHORT_API cohort_queue *cohort_queue_ref(cohort_queue *queue);
COHORT_API void cohort_queue_unref(cohort_queue *queue);

/* Puts ITEM, which may be NULL, into QUEUE, and waits while that is full. COHORT_ERR_GONE: QUEUE is
 * closed. */
COHORT_API cohort_status cohort_queue_put(cohort_queue *queue, void *item,
                                          uint64_t nanoseconds) COHORT_MUST_USE;

/* Takes the first item, and waits while there is none. *ret_item is untouched on failure.
 * COHORT_ERR_GONE: QUEUE is closed and empty. */
COHORT_API cohort_status cohort_queue_get(cohort_queue *queue, void **ret_item,
                                          uint64_t nanoseconds) COHORT_MUST_USE;

/* Nothing more can be put; what is there can still be taken. Who waits to put gets COHORT_ERR_GONE.
 * More than once does no harm, NULL is fine. */
COHORT_API void cohort_queue_close(cohort_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
