/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fiber.h"

#include <stdlib.h>
#include <ucontext.h>

/* For machines for which there is no assembly. It is slower, by one or two system calls for the
 * signal mask. The pointer to the context is kept in the field stack_pointer. */

/* makecontext passes only ints to the function. */
static void start_split(unsigned start_high, unsigned start_low, unsigned arg_high,
                        unsigned arg_low)
{
    uintptr_t start = (uintptr_t)((uint64_t)start_high << 32 | start_low);
    uintptr_t arg = (uintptr_t)((uint64_t)arg_high << 32 | arg_low);
    ((void (*)(struct cohort__fiber *))start)((struct cohort__fiber *)arg);
}

static unsigned high(uintptr_t value)
{
    return (unsigned)((uint64_t)value >> 32);
}

static cohort_status context_create(ucontext_t **ret_context)
{
    ucontext_t *context = malloc(sizeof(*context));
    if (!context || getcontext(context) != 0) {
        free(context);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "fiber: no memory for a context");
    }
    *ret_context = context;
    return COHORT_OK;
}

cohort_status cohort__fiber_swap_init(struct cohort__fiber *fiber,
                                      void (*start)(struct cohort__fiber *fiber))
{
    ucontext_t *context = NULL;
    cohort_status status = context_create(&context);
    if (status != COHORT_OK)
        return status;
    context->uc_stack.ss_sp = fiber->low;
    context->uc_stack.ss_size = fiber->bytes;
    context->uc_link = NULL;
    uintptr_t start_address = (uintptr_t)start;
    uintptr_t arg = (uintptr_t)fiber;
    makecontext(context, (void (*)(void))start_split, 4, high(start_address),
                (unsigned)start_address, high(arg), (unsigned)arg);
    fiber->stack_pointer = context;
    return COHORT_OK;
}

cohort_status cohort__fiber_swap_adopt(struct cohort__fiber *fiber)
{
    ucontext_t *context = NULL;
    cohort_status status = context_create(&context);
    if (status == COHORT_OK)
        fiber->stack_pointer = context;
    return status;
}

void cohort__fiber_swap(struct cohort__fiber *from, struct cohort__fiber *to)
{
    /* Can only fail in setting the signal mask, and that never fails. */
    (void)swapcontext(from->stack_pointer, to->stack_pointer);
}

void cohort__fiber_swap_fini(struct cohort__fiber *fiber)
{
    free(fiber->stack_pointer);
    fiber->stack_pointer = NULL;
}
