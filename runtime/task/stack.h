/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_STACK_H
#define COHORT_RUNTIME_TASK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Stacks for fibers. They are cut from slabs of one mapping each, since the kernel limits the
 * mappings of a process (vm.max_map_count, 65530), and a mapping of its own for each stack would
 * limit a locality to half as many suspended tasks. All functions: any thread. */

/* What is below a stack, and catches a stack that grows beyond its end. */
enum cohort__stack_guard {
    COHORT__STACK_GUARD_KERNEL, /* a page that the kernel guards without a mapping (Linux 6.13) */
    COHORT__STACK_GUARD_PAGE,   /* a page without access, which splits the mapping of the slab */
    COHORT__STACK_GUARD_CANARY, /* known bytes at the top of the next lower stack */
};

struct cohort__stack {
    char *low; /* the stack is from low to low + bytes */
    size_t bytes;
    struct cohort__stack_slab *slab;
    uint32_t index; /* in the slab */
    enum cohort__stack_guard guard;
};

/* A stack of at least BYTES that holds no memory yet. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__stack_take(struct cohort__stack *ret_stack, size_t bytes);

/* Gives the stack back, and its memory to the system. */
void cohort__stack_give_back(const struct cohort__stack *stack);

/* False: something has grown beyond the end of the stack, and no guard has caught it. */
bool cohort__stack_is_intact(const struct cohort__stack *stack);

/* Whether ADDRESS is in the guard of the stack. Safe in signal handlers. */
bool cohort__stack_guards(const struct cohort__stack *stack, const void *address);

/* Stacks that are taken from now on have GUARD, or a later one of the list if there is no such
 * guard. The first one at the beginning. */
void cohort__stack_use_guard(enum cohort__stack_guard guard);

#endif
