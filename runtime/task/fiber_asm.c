/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/fiber.h"

#include <string.h>

/* Both are in fiber_<cpu>.S. swap pushes a frame, writes the stack pointer to *SAVE, makes LOAD the
 * stack pointer, and pops the frame that is there. The first frame of a fiber is built below. It
 * returns to cohort__fiber_asm_entry, which finds a function and its argument in two of the saved
 * registers, and calls that function. */
void cohort__fiber_asm_swap(void **save, void *load);
void cohort__fiber_asm_entry(void);

#if defined(__x86_64__)
/* In the order in which swap pops them. */
struct frame {
    uint32_t mxcsr;
    uint32_t x87_control;
    void *r15, *r14, *r13, *r12, *rbx, *rbp;
    void (*return_address)(void);
    void *end[2]; /* zeros that end the stack, and align it to 16 bytes for the entry */
};

static void frame_init(struct frame *frame, void (*start)(struct cohort__fiber *), void *arg)
{
    uint16_t control;
    __asm__ volatile("stmxcsr %0" : "=m"(frame->mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(control));
    frame->x87_control = control;
    memcpy(&frame->r12, &start, sizeof(start));
    frame->r13 = arg;
    frame->return_address = cohort__fiber_asm_entry;
}
#elif defined(__aarch64__)
struct frame {
    uint64_t fpcr;
    uint64_t padding;
    double d8_to_d15[8];
    void *x19, *x20, *x21_to_x28[8];
    void *x29;
    void (*x30)(void);
};

static void frame_init(struct frame *frame, void (*start)(struct cohort__fiber *), void *arg)
{
    __asm__ volatile("mrs %0, fpcr" : "=r"(frame->fpcr));
    memcpy(&frame->x19, &start, sizeof(start));
    frame->x20 = arg;
    frame->x30 = cohort__fiber_asm_entry;
}
#else
#error "no assembly for this machine: configure with -Dfiber=ucontext"
#endif

_Static_assert(sizeof(struct frame) % 16 == 0, "the stack is aligned to 16 at the entry");

cohort_status cohort__fiber_swap_init(struct cohort__fiber *fiber,
                                      void (*start)(struct cohort__fiber *fiber))
{
    struct frame *frame = (struct frame *)(fiber->low + fiber->bytes) - 1;
    memset(frame, 0, sizeof(*frame));
    frame_init(frame, start, fiber);
    fiber->stack_pointer = frame;
    return COHORT_OK;
}

cohort_status cohort__fiber_swap_adopt(struct cohort__fiber *fiber)
{
    fiber->stack_pointer = NULL;
    return COHORT_OK;
}

void cohort__fiber_swap(struct cohort__fiber *from, struct cohort__fiber *to)
{
    cohort__fiber_asm_swap(&from->stack_pointer, to->stack_pointer);
}

void cohort__fiber_swap_fini(struct cohort__fiber *fiber)
{
    fiber->stack_pointer = NULL;
}
