/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_FAULT_ALLOC_H
#define COHORT_RUNTIME_BASE_FAULT_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/fault.h"

/* Allocations that fail since COHORT_FAULT says so. libcohort.so is linked in such a way that its
 * calls of malloc, calloc, realloc and aligned_alloc go through fault_wrap.c, which asks here.
 * libcohort.a is not. The slab goes to malloc for each object meanwhile, so all that it hands out
 * counts. Not counted are what other libraries and the program allocate, and what comes from mmap
 * (the stacks of tasks, memory that is shared) or posix_memalign. */

/* Whether the library is linked so. */
extern bool cohort__alloc_can_fail;

/* Whether allocations are counted now. */
extern atomic_bool cohort__alloc_is_counted;

/* Whether FAULT has such a rule for its locality. */
bool cohort__alloc_fault_is_wanted(const struct cohort__fault *fault);

/* Counts from now on, until all rules of FAULT for its locality have acted. FAULT stays until
 * cohort__alloc_fault_end. Once. */
void cohort__alloc_fault_begin(const struct cohort__fault *fault);

/* To be called when only one thread is left. Also if it has not begun. */
void cohort__alloc_fault_end(void);

/* Counts one more allocation; errno is ENOMEM if it has to fail. Any thread. */
bool cohort__alloc_fails(void);

#endif
