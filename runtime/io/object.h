/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_OBJECT_H
#define COHORT_RUNTIME_IO_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/misuse.h"
#include "runtime/loop/loop.h"
#include "runtime/task/future.h"
#include "runtime/task/scope.h"

/* --- calls --- */

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

/* CALL has ended; it may be gone when this returns. end_uv: with libuv's ERROR, or COHORT_OK if it
 * is not negative; WHAT is the path or address. end_early: for the call's reason. Holder only. */
void cohort__io_call_end(struct cohort__io_call *call);
void cohort__io_call_end_uv(struct cohort__io_call *call, int error, const char *what);
void cohort__io_call_end_early(struct cohort__io_call *call, const char *what);

/* One more reference to CALL's memory, for a request of libuv that may end later than it does.
 * Holder only. */
void cohort__io_call_keep(struct cohort__io_call *call);
void cohort__io_call_drop(struct cohort__io_call *call);

/* For a list of calls, by their `queue`: the first, or NULL; and cancels all of them for REASON.
 * Those that have a reason already end by that, and may stay until then. Holder only. */
struct cohort__io_call *cohort__io_queue_first(const struct cohort__list *queue);
void cohort__io_queue_cancel(struct cohort__list *queue, enum cohort__io_reason reason);

/* --- objects --- */

/* What files, listeners and connections have in common: an end in the system that is open until
 * somebody closes it, or has given back the last reference, or the runtime ends. It begins a struct
 * that cohort__slab_alloc_zero has allocated, of its kind. */
struct cohort__io_object;

struct cohort__io_object_kind {
    const char *noun; /* "TCP connection" */
    const char *name; /* of the public function that closes one */

    /* Begins to close it, and lets its calls end. When nothing uses it any more, the kind calls
     * cohort__io_object_closed, which may be before this returns. Called once. Holder only. */
    void (*close)(struct cohort__io_object *object);
};

struct cohort__io_object {
    const struct cohort__io_object_kind *kind;
    struct cohort__loop *loop;
    const char *what;         /* its path or address, for messages */
    _Atomic uint32_t refs;    /* to the memory: of calls, one of all users, one while it is open */
    _Atomic uint32_t users;   /* references of the program */
    atomic_bool is_closed;    /* written by the holder */
    bool is_closing;          /* or closed; holder only, as what follows */
    struct cohort__list link; /* of all that are open */
    struct cohort__list closers; /* calls that wait for its end */
    struct cohort__loop_request unused;
    cohort_status status; /* how the close has ended */
    struct cohort__error error;
};

/* The new OBJECT, whose memory is zero, is open, messages call it WHAT, and the caller has a
 * reference to it, which one of two takes: give makes it that of the program's users, of which
 * there is one then, and discard closes it. Holder only. */
void cohort__io_object_open(struct cohort__io_object *object,
                            const struct cohort__io_object_kind *kind, struct cohort__loop *loop,
                            const char *what);

void cohort__io_object_give(struct cohort__io_object *object);
void cohort__io_object_discard(struct cohort__io_object *object);

/* For a public FUNCTION, as cohort__misuse_check: OBJECT is that of a NOUN. */
__attribute__((always_inline)) static inline void
cohort__io_object_check(const struct cohort__io_object *object, const char *noun,
                        const char *function)
{
    cohort__misuse_check(&object->users, noun, object, COHORT__MISUSE_UNREF, function);
}

/* References of the program. When the last one is given back, the object is closed. Any thread. */
void cohort__io_object_ref(struct cohort__io_object *object);
void cohort__io_object_unref(struct cohort__io_object *object);

/* If nobody has done so before. Holder only. */
void cohort__io_object_close(struct cohort__io_object *object);

/* OBJECT has been closed, with STATUS and the error in the caller's slot. It may be gone when this
 * returns. Holder only. */
void cohort__io_object_closed(struct cohort__io_object *object, cohort_status status);

/* A call about an object, to whose memory it has a reference from its start to its end. */
struct cohort__io_object_call {
    struct cohort__io_call call;
    struct cohort__io_object *object;
};

/* As cohort__io_call_start, about OBJECT. Any thread. */
cohort_future *cohort__io_object_call_start(struct cohort__io_object_call *call,
                                            struct cohort__io_object *object);

/* Such a call's `release`. */
void cohort__io_object_call_release(struct cohort__io_call *call);

/* What such a call is about. */
struct cohort__io_object *cohort__io_object_of(struct cohort__io_call *call);

/* Whether such a call may begin. If its object is closing, or closed, it has ended. Holder only. */
bool cohort__io_object_admits(struct cohort__io_call *call);

/* A call that closes OBJECT, and waits for it. Any thread. */
cohort_future *cohort__io_object_close_call(struct cohort__io_object *object);

/* To be called when the scheduler has run, after cohort__loop_attach(NULL), by the thread that
 * destroys the loop, before that. Cancels all calls, and closes what is open; the log says how many
 * of which kind. The loop's end sees to the rest. */
void cohort__io_end(void);

#endif
