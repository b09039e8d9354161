/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FUTURE_H
#define COHORT_RUNTIME_TASK_FUTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger_format.h"
#include "runtime/base/misuse.h"

/* What a program has done wrong with a future or a promise. */
enum cohort__misuse_kind {
    COHORT__MISUSE_GONE,     /* used after the last reference was given back */
    COHORT__MISUSE_SHARED,   /* given away, or awaited, twice at a time with one reference */
    COHORT__MISUSE_COMPLETE, /* a promise was fulfilled, or failed, before */
};

/* Ends the program by SIGABRT, after one line on standard error: that public FUNCTION was called
 * for FUTURE, by CALLER (a return address), and what of it is wrong; and what FUTURE is or was, as
 * far as its memory still tells. */
_Noreturn void cohort__misuse(enum cohort__misuse_kind kind, const cohort_future *future,
                              const char *function, const void *caller)
    __attribute__((cold, noinline));

/* A request to be told when a future is complete. NOTIFY is called once, by the thread that
 * completes the future, which may be any thread and may be deep inside the processing of a queue.
 * So NOTIFY may only enqueue something, and must never run user code. What completes another future
 * in turn leaves that to cohort__waiter_follow: futures may depend on each other in chains of any
 * length, and a frame for each of them would be too many.
 * The waiter may no longer exist when NOTIFY returns. The future exists during the call, even if
 * nobody else holds a reference, unless what NOTIFY does gives back the one of an owner. */
struct cohort__waiter {
    struct cohort__waiter *next;
    void (*notify)(struct cohort__waiter *waiter);
    /* Who waits has a reference to the future, and doesn't use that until NOTIFY is called. So if
     * there is no further reference, nobody looks at the future when it becomes complete. */
    bool is_owner;
    atomic_bool is_forgotten;
};

/* Of a task. */
enum cohort__task_claim {
    COHORT__TASK_OPEN,    /* any worker may claim it */
    COHORT__TASK_CLAIMED, /* claimed, or not queued yet */
    COHORT__TASK_BOUND,   /* only its own worker claims it, when it comes to it (queues.c) */
};

/* The state is one atomic word: the list of the waiters, with a mark if its only one is an owner,
 * or COHORT__FUTURE_DONE. The result is written before the state becomes COHORT__FUTURE_DONE, and
 * never changes after that. The first member of a task is its future.
 *
 * When the last reference has been given back, refs is 0, and stays so until the memory is used
 * again: the slab only overwrites the first word, which is never COHORT__FUTURE_DONE then. So
 * whoever still uses the future is found out where it would wait, at no cost to those who don't. */
struct cohort_future {
    struct cohort__waiter *_Atomic state;
    _Atomic uint32_t refs;
    cohort_status status;
    union {
        void *value;                     /* of a success */
        struct cohort__error_text *text; /* of an error; a counted reference */
    };
    bool is_task : 1;
    bool may_move : 1;                /* a task that other workers may go on with */
    bool is_extended : 1;             /* a struct cohort__extended_task, see task.h */
    unsigned char about : 5;          /* an enum cohort__wait_kind, for those who look on */
    atomic_uchar claim;               /* of a task, see above */
    unsigned char priority : 2;       /* of a task, see queues.c */
    unsigned char stack_exponent : 5; /* of a task, see task.h */
    bool gives_way : 1;               /* likewise */
    atomic_uchar sweep_shift;         /* see forget */
    _Atomic uint32_t num_forgotten;   /* waiters that may still be in the list */
};

/* FUTURE as what somebody waits for, see struct cohort__wait_line. It is aligned to 16. */
static inline uintptr_t cohort__future_what(const cohort_future *future)
{
    return (uintptr_t)future + future->about;
}

#define COHORT__FUTURE_DONE ((struct cohort__waiter *)1)

/* Makes the memory at FUTURE a new, pending future with REFS references, not of a task. */
static inline void cohort__future_init(cohort_future *future, uint32_t refs,
                                       enum cohort__wait_kind about)
{
    atomic_init(&future->state, NULL);
    atomic_init(&future->refs, refs);
    future->status = COHORT_OK;
    future->value = NULL;
    future->is_task = false;
    future->may_move = false;
    future->is_extended = false;
    future->priority = 0;
    future->about = (unsigned char)about & 31;
    atomic_init(&future->claim, COHORT__TASK_CLAIMED);
    future->stack_exponent = 0;
    future->gives_way = false;
    atomic_init(&future->sweep_shift, 0);
    atomic_init(&future->num_forgotten, 0);
}

/* The same as cohort_future_ready, for those who have a reference. */
static inline bool cohort__future_is_complete(const cohort_future *future)
{
    return atomic_load_explicit(&future->state, memory_order_acquire) == COHORT__FUTURE_DONE;
}

/* For a public FUNCTION that its CALLER has given FUTURE: ends the program if its last reference
 * was given back before. To be called before any memory is allocated, which could be that of
 * FUTURE. */
static inline void cohort__future_check(const cohort_future *future, const char *function,
                                        const void *caller)
{
    if (cohort__is_gone(&future->refs))
        cohort__misuse(COHORT__MISUSE_GONE, future, function, caller);
}

/* A pending future with two references: one for the caller, and one for the code that will complete
 * it (the completer). NULL if there is no memory; the message is set. Any thread. */
cohort_future *cohort__future_create(void);

/* The same, and says what it is about. */
cohort_future *cohort__future_create_about(enum cohort__wait_kind about);

/* The three ways to complete a future. The completer calls one of them, once. Each consumes the
 * completer's reference, and is wait-free except for the notify functions of the waiters. Any
 * thread; never suspends.
 * complete: with STATUS and, if that is an error, the message of ERROR. If ERROR is NULL or has
 * another status, the message is the general text of STATUS. fail: STATUS is not
 * COHORT_OK. */
void cohort__future_complete(cohort_future *future, cohort_status status,
                             const struct cohort__error *error);
void cohort__future_fulfil(cohort_future *future, void *value);

/* The same as complete, with the status, and the value or the message, of SOURCE, which is
 * complete. */
void cohort__future_complete_like(cohort_future *future, const cohort_future *source);

/* The same as complete, for a FUTURE to which only the completer and the calling thread itself, in
 * an await of it, hold a reference: so nobody else can look at it. */
void cohort__future_complete_own(cohort_future *future, cohort_status status,
                                 const struct cohort__error *error);

/* Whether that is so, if the caller holds both. */
bool cohort__future_is_own(const cohort_future *future);

/* The same as complete, but consumes no reference: the calling thread has one, in an await of
 * FUTURE, which stands for the completer's, too. */
void cohort__future_complete_held(cohort_future *future, cohort_status status,
                                  const struct cohort__error *error);
void cohort__future_fail(cohort_future *future, cohort_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As cohort_await, on behalf of a public FUNCTION, whose CALLER is then where the task waits. */
cohort_status cohort__future_await(cohort_future *future, const char *function,
                                   const void *caller) COHORT_MUST_USE;

/* Registers WAITER, whose notify the caller has set. Returns false if FUTURE is complete already:
 * then WAITER is not registered and notify is not called. A waiter keeps no reference to the
 * future. Any thread. */
bool cohort__future_wait_with(cohort_future *future, struct cohort__waiter *waiter);

/* The same for a WAITER that is an owner, on behalf of a public FUNCTION that its CALLER has given
 * FUTURE. Ends the program if another owner waits, alone, and there are not enough references for
 * both. */
bool cohort__future_wait_as_owner(cohort_future *future, struct cohort__waiter *waiter,
                                  const char *function, const void *caller);

/* WAITER was notified, and FOLLOW is to complete another future, or may do so. Calls
 * FOLLOW(WAITER), or, if this is called below such a call of this thread, leaves it to that, which
 * does so when it is over. Until then WAITER has to exist, and nobody else uses it. */
void cohort__waiter_follow(struct cohort__waiter *waiter,
                           void (*follow)(struct cohort__waiter *waiter));

/* Nobody is interested in WAITER any more, which wait_with has registered. Its notify is called
 * once, as ever: when FUTURE is complete, or sooner, when a later forget removes all such waiters
 * at once. So WAITER has to exist until then, and its notify has to find out by itself that there
 * is nothing left to do. A future keeps at most as many forgotten waiters as it had others at the
 * last removal, or 16, so this takes constant time on average. Any thread. */
void cohort__future_forget(cohort_future *future, struct cohort__waiter *waiter);

/* FUTURE is complete. The value is NULL unless the future was fulfilled with another one. */
cohort_status cohort__future_status(const cohort_future *future);
void *cohort__future_value(const cohort_future *future);

/* Makes *ERROR, which must be a valid error or empty, the same as the error of FUTURE, which is
 * complete. */
void cohort__future_error(const cohort_future *future, struct cohort__error *error);

/* A future that is complete already, with STATUS and the message of ERROR, as above. Never NULL. */
cohort_future *cohort__future_of_status(cohort_status status, const struct cohort__error *error);

/* A complete future with COHORT_ERR_NO_MEMORY, for use when there is no memory for a future with a
 * message. There is only one such object, but the caller unrefs it like any other. */
cohort_future *cohort__future_no_memory(void);

/* For the combinators of several futures. Returns NULL if neither FUTURES nor any of its elements
 * is NULL. Otherwise returns a future with the error, and consumes the references to the elements.
 * Also does the same as cohort__future_check. */
cohort_future *cohort__futures_check(cohort_future *const *futures, size_t count,
                                     const char *function, const void *caller);
void cohort__futures_unref(cohort_future *const *futures, size_t count);

#endif
