/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FIBER_H
#define COHORT_RUNTIME_TASK_FIBER_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* A stack to run on. Switching saves what a call has to preserve, errno and the floating point
 * control words; it is a call, with no signal mask and no system call. Fibers belong to the thread
 * that first ran them: compilers cache the addresses of thread-local variables.
 *
 * The assembly has no endbr64 and no shadow stack support: build with -fcf-protection=none (gcc's
 * default but on Ubuntu), or at least run without user shadow stacks; the linker takes care of the
 * latter, since our objects don't ask for them. */
struct cohort__fiber {
    void *stack_pointer; /* while it is not running */
    char *low;           /* the stack is low.. low+bytes */
    size_t bytes;
    char *floor; /* below this, nothing new should be started on the stack */
    void (*entry)(void *arg);
    void *arg;
    struct cohort__fiber *next; /* for the lists of its owner */
    void *mapping;              /* with the guard page; NULL: a thread's own stack */
    size_t mapping_bytes;
    void *asan_fake_stack;
    void *tsan_fiber;
    unsigned valgrind_stack;
};

/* A fiber that will run ENTRY(ARG) when it is first switched to; ENTRY never returns. STACK_BYTES
 * is rounded up to pages; a page below it is not accessible. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__fiber_create(struct cohort__fiber **ret_fiber, size_t stack_bytes,
                                   void (*entry)(void *arg), void *arg);

/* FIBER must not be running. What is on its stack is not unwound. NULL is fine. */
void cohort__fiber_destroy(struct cohort__fiber *fiber);

/* Makes *FIBER stand for the calling thread's own stack, so that it can be switched from and to. */
cohort_status cohort__fiber_adopt(struct cohort__fiber *fiber);

/* Ends that, on the same stack. NULL is fine. */
void cohort__fiber_unadopt(struct cohort__fiber *fiber);

/* Stops running FROM, which is what runs now, and goes on with TO, where it stopped. Returns when
 * somebody switches to FROM. */
void cohort__fiber_switch(struct cohort__fiber *from, struct cohort__fiber *to);

/* The bytes left on FIBER's stack, which is what runs now, below the caller's frame. */
size_t cohort__fiber_room(const struct cohort__fiber *fiber);

#endif
