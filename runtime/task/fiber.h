/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FIBER_H
#define COHORT_RUNTIME_TASK_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/base/batch_queue.h"
#include "runtime/base/ledger.h"
#include "runtime/task/stack.h"

#if defined(__x86_64__)
/* Each access to a thread-local variable of ours goes by the segment register. */
#define COHORT__IN_THREAD_OF_NOW
#else
#define COHORT__IN_THREAD_OF_NOW __attribute__((noinline))
#endif

/* A stack to run on. A switch saves the registers that a call has to preserve, errno, and the
 * floating point control words. It costs a call: it makes no system call and doesn't save the
 * signal mask.
 *
 * Compilers keep the addresses of thread-local variables, also that of errno, across calls. So if a
 * function switches, or calls one that may, and goes on in another thread then, what uses such a
 * variable afterwards has to be in a function that is not inlined, marked by
 * COHORT__IN_THREAD_OF_NOW.
 *
 * The assembly has no endbr64 and no shadow stack support: build with -fcf-protection=none (gcc's
 * default except on Ubuntu), or at least run without user shadow stacks. The linker takes care of
 * the latter, since our objects don't ask for shadow stacks. */
struct cohort__fiber {
    void *stack_pointer; /* while it is not running */
    size_t size;         /* that was asked for; 0: a thread's own stack */
    char *low;           /* the stack is from low to low+bytes */
    size_t bytes;
    char *floor; /* below this, no task should be run by a plain call */
    void (*entry)(void *arg);
    void *arg;
    struct cohort__worker *worker;            /* that runs on it, or that has last; for the owner */
    struct cohort__fiber *next;               /* for the lists of its owner */
    struct cohort__batch_queue_node returned; /* for the queue of its owner */
    unsigned char exponent;                   /* of its size, see worker.c; 0: COHORT_STACK */
    struct cohort__range_runner *runners;     /* on the stack, the innermost first; see range.h */
    struct cohort__wait_line *line;           /* of the ledger: what the task on it waits for */
    struct cohort__stack stack;               /* all zero: a thread's own stack */
    void *asan_fake_stack;
    void *tsan_fiber;
    uintptr_t valgrind_stack;
};

/* Creates a fiber that will run ENTRY(ARG) at the first switch to it. ENTRY must not return.
 * STACK_BYTES is rounded up to whole pages. The fiber itself is at the top of its stack, so that
 * one that is only begun holds one page of memory. COHORT_ERR_NO_MEMORY. */
cohort_status cohort__fiber_create(struct cohort__fiber **ret_fiber, size_t stack_bytes,
                                   void (*entry)(void *arg), void *arg);

/* FIBER must not be running. What is on its stack is not unwound. NULL is fine. */
void cohort__fiber_destroy(struct cohort__fiber *fiber);

/* Makes *FIBER represent the calling thread's own stack, so that one can switch from it and to
 * it. */
cohort_status cohort__fiber_adopt(struct cohort__fiber *fiber);

/* Ends what adopt began. Must run on the same stack. NULL is fine. */
void cohort__fiber_unadopt(struct cohort__fiber *fiber);

/* Stops FROM, the fiber that runs now, and continues TO where TO has stopped. Returns when there is
 * a switch to FROM again, which may be in another thread. errno is kept. */
void cohort__fiber_switch(struct cohort__fiber *from, struct cohort__fiber *to);

/* Whether FIBER is a thread's own stack. */
static inline bool cohort__fiber_is_threads_own(const struct cohort__fiber *fiber)
{
    return !fiber->stack.slab;
}

/* The bytes that are left on the stack of FIBER, below the caller's frame. FIBER is the one that
 * runs now. */
size_t cohort__fiber_room(const struct cohort__fiber *fiber);

/* --- pool --- */

/* The stacks of a worker that hold only a loop (see worker.h). Those that are not used for a while
 * are given back to the system, but for the first ones. One thread. All zero: empty, and keeps
 * none. */
struct cohort__fiber_pool {
    struct cohort__fiber *first;
    struct cohort__fiber *own; /* the thread's own stack if it is here. It is taken last, since */
                               /* tasks that may move can't run on it */
    size_t num;                /* the others */
    size_t num_kept;           /* so many stay */
    size_t least;              /* fewest since the last look */
    size_t num_surplus; /* that have not been used for a while, and are still to be given back */
    uint64_t look_at;   /* when to look next, in cycles of the clock */
};

/* Gives up to MOST stacks back to the system, if so many have not been used for a while. */
void cohort__fiber_pool_trim(struct cohort__fiber_pool *pool, size_t most);

/* Whether there is something to trim now. */
bool cohort__fiber_pool_must_trim(const struct cohort__fiber_pool *pool);

/* Whether POOL has more stacks than it keeps, so that some may have to be given back later. */
bool cohort__fiber_pool_has_surplus(const struct cohort__fiber_pool *pool);

/* Gives all stacks back, except the thread's own one. */
void cohort__fiber_pool_fini(struct cohort__fiber_pool *pool);

static inline void cohort__fiber_pool_put(struct cohort__fiber_pool *pool,
                                          struct cohort__fiber *fiber)
{
    if (cohort__fiber_is_threads_own(fiber)) {
        pool->own = fiber;
        return;
    }
    fiber->next = pool->first;
    pool->first = fiber;
    pool->num++;
}

/* NULL: it is not here. */
static inline struct cohort__fiber *cohort__fiber_pool_take_own(struct cohort__fiber_pool *pool)
{
    struct cohort__fiber *own = pool->own;
    pool->own = NULL;
    return own;
}

/* NULL: POOL is empty. */
static inline struct cohort__fiber *cohort__fiber_pool_take(struct cohort__fiber_pool *pool)
{
    struct cohort__fiber *fiber = pool->first;
    if (!fiber)
        return cohort__fiber_pool_take_own(pool);
    pool->first = fiber->next;
    if (--pool->num < pool->least)
        pool->least = pool->num;
    return fiber;
}

/* --- fiber_asm.c or fiber_ucontext.c, for fiber.c only --- */

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
