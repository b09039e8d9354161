/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FIBER_PRIVATE_H
#define COHORT_RUNTIME_TASK_FIBER_PRIVATE_H

#include "runtime/task/fiber.h"

/* The functions that fiber_asm.c and fiber_ucontext.c implement in different ways. Only fiber.c
 * calls them. */

/* Prepares the fresh stack of FIBER so that the first swap to it calls START(FIBER). */
cohort_status cohort__fiber_swap_init(struct cohort__fiber *fiber,
                                      void (*start)(struct cohort__fiber *fiber));

/* The same for a thread's own stack, which needs no START. */
cohort_status cohort__fiber_swap_adopt(struct cohort__fiber *fiber);

/* Saves the registers that a call has to preserve on the stack of FROM, and loads those of TO. */
void cohort__fiber_swap(struct cohort__fiber *from, struct cohort__fiber *to);

/* Frees what init and adopt made. */
void cohort__fiber_swap_fini(struct cohort__fiber *fiber);

#endif
