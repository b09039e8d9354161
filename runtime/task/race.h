/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_RACE_H
#define COHORT_RUNTIME_TASK_RACE_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/task/future.h"

/* The first WANTED of COUNT futures that complete win; 1 <= WANTED <= COUNT. Before the returned
 * future completes, RET_INDICES[0 .. WANTED - 1], if it is not NULL, has their indices in the order
 * of completion. It completes with COHORT_OK, or if IS_LIKE_WINNER, which is for WANTED 1 only,
 * with the status and value of the winner. Takes the references, which it gives back when the race
 * is decided. Any thread. */
cohort_future *cohort__race(cohort_future *const *futures, size_t count, size_t wanted,
                            size_t *ret_indices, bool is_like_winner);

#endif
