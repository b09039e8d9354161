/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_CALL_H
#define COHORT_RUNTIME_IO_CALL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/list.h"
#include "runtime/loop/loop.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"

/* One call of a function of cohort/tcp.h or cohort/file.h: its future, and what the holder of the
 * loop does for it. Any thread creates and starts one. From then on only the holder touches it,
 * until it has ended, and while it has a reference of its own. */
struct cohort__io_call;

struct cohort__io_call_kind {
    const char *name; /* of the public function */

    bool ignores_scope; /* it is done in any case: it cleans up */

    /* Begins it, and may end it at once. Holder only. */
    void (*begin)(struct cohort__io_call *call);

    /* Ends it early, at once or soon, as far as that is possible: cohort__io_call_end_early. Called
     * at most once, between the begin and the end. NULL: it ends by itself. Holder only. */
    void (*cancel)(struct cohort__io_call *call);

    /* Gives back what the call has, but for its own memory. Called once, before its future is
     * complete; perhaps without a begin. NULL: it has nothing. */
    void (*release)(struct cohort__io_call *call);
};

/* Why a call ends early. */
enum cohort__io_reason {
    COHORT__IO_GOES_ON,
    COHORT__IO_SCOPE_CANCELLED,
    COHORT__IO_RUNTIME_ENDED,
    COHORT__IO_CLOSED, /* what it was about */
};

struct cohort__io_call {
    cohort_future future; /* first: it is freed as a future */
    const struct cohort__io_call_kind *kind;
    struct cohort__loop *loop;
    struct cohort__list all;   /* of those that have begun and not ended */
    struct cohort__list queue; /* for its owner */
    struct cohort__loop_request start;
    struct cohort__loop_request cancel;
    struct cohort__scope_watch watch;
    bool is_scoped; /* the watch is in use */
    bool has_begun;
    bool has_ended;
    enum cohort__io_reason reason;
};

/* The future of a call that can't even be made. */
cohort_future *cohort__io_refuse(const char *function, cohort_status status, const char *why);

/* Zeroed memory for a call, of at least BYTES, which begins with one. NULL: there is none. Any
 * thread. */
void *cohort__io_call_create(size_t bytes, const struct cohort__io_call_kind *kind);

/* Lets the holder begin CALL, soon, and returns the caller's reference to its future. Any thread.
 */
cohort_future *cohort__io_call_start(struct cohort__io_call *call);

/* CALL has ended; it may be gone when this returns. end_with takes its error from the caller's
 * slot (cohort_fail). end_uv: with libuv's ERROR, or COHORT_OK if it is not negative; WHAT is the
 * path or address. end_early: for the call's reason. Holder only. */
void cohort__io_call_end(struct cohort__io_call *call);
void cohort__io_call_end_with(struct cohort__io_call *call, cohort_status status);
void cohort__io_call_end_uv(struct cohort__io_call *call, int error, const char *what);
void cohort__io_call_end_early(struct cohort__io_call *call, const char *what);

/* One more reference to CALL's memory, for a request of libuv that may end later than it does.
 * Holder only. */
void cohort__io_call_keep(struct cohort__io_call *call);
void cohort__io_call_drop(struct cohort__io_call *call);

/* At the end of the runtime: cancels all calls. Holder only. */
void cohort__io_calls_cancel(void);

/* For a list of calls, by their `queue`: the first, or NULL; and cancels all of them for REASON.
 * Those that have a reason already end by that, and may stay until then. Holder only. */
struct cohort__io_call *cohort__io_queue_first(const struct cohort__list *queue);
void cohort__io_queue_cancel(struct cohort__list *queue, enum cohort__io_reason reason);

#endif
