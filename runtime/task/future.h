/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_FUTURE_H
#define COHORT_RUNTIME_TASK_FUTURE_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "runtime/base/error.h"

/* Who wants to be told when a future is complete. NOTIFY is called once, by whoever completes it,
 * on any thread, perhaps deep inside a drain: it only enqueues (completing another future counts
 * as that), and never runs user code. The waiter may be gone when it returns. The future is alive
 * during the call even if nobody else holds a reference. */
struct cohort__waiter {
    struct cohort__waiter *next;
    void (*notify)(struct cohort__waiter *waiter);
};

/* One atomic word of state: the list of the waiters, or COHORT__FUTURE_DONE. The rest is written
 * before that and never changes afterwards. A task begins with its future. */
struct cohort_future {
    struct cohort__waiter *_Atomic state;
    _Atomic uint32_t refs;
    cohort_status status;
    union {
        void *value;                     /* of a success */
        struct cohort__error_text *text; /* of an error; a counted reference */
    };
    bool is_task;
    atomic_uchar claim; /* of a task, see task.h */
};

#define COHORT__FUTURE_DONE ((struct cohort__waiter *)1)

/* Pending, with two references: one for the caller, one for the completer. NULL where memory ran
 * out; the message is set. Any thread. */
cohort_future *cohort__future_create(void);

/* The completer's three ways to end it; one of them is called, once. Each takes the completer's
 * reference, and is wait-free but for what the waiters' notify does. Any thread; never suspends.
 * complete: with STATUS and, where that is an error, the message of ERROR (NULL: the general text;
 * so is a message for another status). fail: STATUS is not COHORT_OK. */
void cohort__future_complete(cohort_future *future, cohort_status status,
                             const struct cohort__error *error);
void cohort__future_fulfil(cohort_future *future, void *value);
void cohort__future_fail(cohort_future *future, cohort_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cohort__future_vfail(cohort_future *future, cohort_status status, const char *format,
                          va_list args) __attribute__((format(printf, 3, 0)));

/* Registers WAITER; false if FUTURE is complete already, then it is not and notify is not called.
 * The caller sets WAITER->notify; a waiter keeps no reference to the future. Any thread. */
bool cohort__future_wait_with(cohort_future *future, struct cohort__waiter *waiter);

/* Takes WAITER out again. True: it is out, and notify will not be called. False: notify was called,
 * is being called, or (rare: somebody else was taking a waiter out of the same future) will be
 * called, so WAITER has to live on until then. Linear in the number of waiters. Any thread. */
bool cohort__future_forget(cohort_future *future, struct cohort__waiter *waiter);

/* Of a complete future. The value is NULL unless it was fulfilled with another one. */
cohort_status cohort__future_status(const cohort_future *future);
void *cohort__future_value(const cohort_future *future);

/* Makes *ERROR (empty, or an error) the same as that of the complete FUTURE. */
void cohort__future_error(const cohort_future *future, struct cohort__error *error);

/* Already complete with STATUS and the message of ERROR, as above. Never NULL. */
cohort_future *cohort__future_of_status(cohort_status status, const struct cohort__error *error);

/* A complete future with COHORT_ERR_NO_MEMORY, for when there is none for a better one. Given back
 * like all others, though there is but one. */
cohort_future *cohort__future_no_memory(void);

/* For the combinators: NULL if FUTURES and all that is in it is there; else the error, and the
 * references are taken. */
cohort_future *cohort__futures_check(cohort_future *const *futures, size_t count,
                                     const char *function);
void cohort__futures_unref(cohort_future *const *futures, size_t count);

/* A fresh, pending future in the memory of FUTURE, with REFS references. */
void cohort__future_init(cohort_future *future, uint32_t refs);

#endif
