/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_PRIVATE_H
#define COHORT_RUNTIME_REMOTE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/ledger_format.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/proc/arrival.h"
#include "runtime/proc/process.h"
#include "runtime/remote/functions.h"
#include "runtime/remote/message.h"
#include "runtime/remote/tasks.h"

/* Between the files of this folder. call.c is the caller's side, serve.c the other one,
 * everywhere.c makes one call of many, tasks.c has what is common.
 *
 * Flow control has two parts, and tests/model/remote.pml is a model of it.
 *
 * First, a caller sends a locality at most `window` calls that it does not know to be admitted
 * there. More wait at the caller. So whatever its callers do, a locality keeps at most so many
 * calls of each that it has not admitted, with at most COHORT_REMOTE_COPIED_BYTES or what the eager
 * budget allows; longer ones are announced, and fetched once they are admitted.
 *
 * Second, a locality admits calls, in the order in which they came, as long as few are admitted and
 * not over. If there are more, a worker that has nothing else to do admits one more: so no worker
 * is idle while calls wait, and functions that wait keep no others from running, which they may
 * wait for. A busy locality has few stacks and INs nevertheless. There is room for a number of
 * calls that are not over, and for the bytes of their INs. If there is no room, and none has ended
 * between two ticks, it is doubled, until so much is not needed any more. So nothing waits for ever
 * because of this, and however many calls wait for each other, they wait for few ticks.
 *
 * Whoever waits holds no lock, and keeps nobody from draining messages.
 *
 * Scopes reach over localities by calls: a call of a task in a scope counts there until its result
 * has come. Where it is served it has a scope of its own, whose await is before the result. So each
 * scope waits only for what it has started itself, and that is enough, as everything has been
 * started by something: no order of messages matters. An error goes back with the result, and
 * cancels the scope there. tests/model/finish.pml is a model of it. */
enum {
    COHORT__REMOTE_BUSY_MAX = 1024,               /* admitted and not over, in a busy locality */
    COHORT__REMOTE_ADMITTED_MAX = 65536,          /* in any; before the room is doubled */
    COHORT__REMOTE_ADMITTED_BYTES_MAX = 64 << 20, /* of their INs, likewise */
    COHORT__REMOTE_SERVED_LINES = 8,              /* of the ledger, at most */
    COHORT__REMOTE_CALLS_OF_A_TURN = 1000,        /* that end when the locality they are for dies */
};

/* What is known of another locality. Made when first needed. */
struct cohort__remote_peer {
    uint32_t rank;
    pthread_mutex_t lock; /* of all below; no outside function is called under it */

    /* Our calls there. */
    struct cohort__map calls;    /* those that have no result yet, by number */
    struct cohort__list waiting; /* those that the window keeps back, oldest first */
    uint64_t last_number;
    uint32_t num_unadmitted; /* sent, and not known to be admitted */
    cohort_status over;      /* why there can be no more calls: it died, or the job is over */
    uint32_t places;         /* in the line that calls have, a bit for each */
    /* Of the ledger; NULL: none yet, or no memory. Written without the lock, once. */
    struct cohort__pending_line *_Atomic line;

    /* Its calls here. */
    uint32_t num_untold;  /* that we have admitted, and not told it of */
    atomic_bool has_died; /* set before those that wait are dropped; read with their lock */
};

/* The calls of others in this locality. */
struct cohort__remote_served {
    pthread_mutex_t lock;         /* of all below; no outside function is called under it */
    struct cohort__list waiting;  /* to be admitted, oldest first */
    struct cohort__list admitted; /* that are not over, oldest first */
    struct cohort__map scoped;    /* scoped calls that are not over, by caller and number */
    uint32_t num_waiting;
    uint32_t num_admitted; /* that are not over */
    size_t bytes_admitted; /* of their IN */
    unsigned num_doubled;  /* how often the room is doubled, since nothing has ended */
    bool has_ended;        /* one, or the fetch of one, since the last tick */
    bool is_admitting;     /* a thread */
    bool is_looking;       /* a task, for when there is nothing else to do */
    bool was_serving;      /* at the last tick, which alone has the next ones: */
    struct cohort__pending_line *lines[COHORT__REMOTE_SERVED_LINES]; /* of the ledger, or NULL */
    uint32_t num_more;     /* how often the room was doubled; this and the next are for tests */
    uint32_t most_waiting; /* the most there have been */
    uint32_t most_admitted;
    size_t most_bytes;
};

struct cohort__remote_tasks {
    struct cohort__process *process;
    uint32_t size; /* of the job */
    uint32_t window;
    /* Calls, and served ones, that are not over; and 1 until the process stops. */
    _Atomic uint64_t num_open;
    struct cohort__remote_served served;
    struct cohort__remote_peer *_Atomic peers[]; /* by rank */
};

/* tasks.c. The remote tasks of PROCESS; and what is known of RANK, which is made if necessary.
 * NULL: memory ran out. */
struct cohort__remote_tasks *cohort__remote_tasks_of(const struct cohort__process *process);
struct cohort__remote_peer *cohort__remote_peer_get(struct cohort__remote_tasks *tasks,
                                                    uint32_t rank);

/* _make: PEER has a line from now on, if there is memory; any thread, without a lock.
 * The others with PEER's lock held. _add: a call has a place in it; returns that, or
 * COHORT__REMOTE_NO_PLACE. _remove: gives it back; NO_PLACE is fine. _has_room: there are calls
 * without a place, and places for them. */
enum { COHORT__REMOTE_NO_PLACE = -1 };

/* Something that is not over has begun, or is over. After the last one TASKS may be gone. */
void cohort__remote_open(struct cohort__remote_tasks *tasks);
void cohort__remote_close(struct cohort__remote_tasks *tasks);

/* Takes ARRIVAL, which nobody wants: an announcement is declined. */
void cohort__remote_drop(struct cohort__arrival *arrival);

/* Tells RANK something of its call, or of ours, with NUMBER: CANCEL or UNKNOWN. */
void cohort__remote_tell(struct cohort__remote_tasks *tasks, uint32_t rank, uint32_t tag,
                         uint64_t number);

/* What is to be called. TEXT is for messages, and NULL if the name is not known here; it has to
 * stay as long as NAME says it does. */
struct cohort__remote_name {
    uint64_t hash;
    const char *text;
};

/* Sets *ERROR to STATUS and "remote task NAME at locality RANK: WHY". */
void cohort__remote_error_set(struct cohort__error *error, const struct cohort__remote_name *name,
                              uint32_t rank, cohort_status status, const char *why);

/* call.c. A call of RANK, this locality or another one, with IN and *RET_OUT as in
 * cohort_async_at. SPAN: for how many localities it is, from RANK on upwards. If it is more than
 * one, RANK is another locality, and OUT has all results, packed. NAME->text need not stay. */
cohort_future *cohort__remote_call(struct cohort__remote_tasks *tasks, uint32_t rank, uint32_t span,
                                   const struct cohort__remote_name *name, const cohort_object *in,
                                   cohort_object *ret_out);
void cohort__remote_result(struct cohort__remote_tasks *tasks, struct cohort__arrival *arrival);
void cohort__remote_calls_admitted(struct cohort__remote_tasks *tasks,
                                   const struct cohort__envelope *envelope);
void cohort__remote_calls_tick(struct cohort__remote_tasks *tasks);
/* RANK does not know the call with NUMBER that it was to cancel. */
void cohort__remote_call_unknown(struct cohort__remote_tasks *tasks, uint32_t rank,
                                 uint64_t number);
/* No more results come from PEER: it is dead, or the job is over. _end_some: ends some of the calls
 * that it had. Returns false if there are no more. */
void cohort__remote_calls_over(struct cohort__remote_peer *peer, cohort_status status);
bool cohort__remote_calls_end_some(struct cohort__remote_tasks *tasks,
                                   struct cohort__remote_peer *peer);

/* serve.c. Takes ARRIVAL, a call. */
void cohort__remote_serve(struct cohort__remote_tasks *tasks, struct cohort__arrival *arrival);
void cohort__remote_served_tick(struct cohort__remote_tasks *tasks);
/* Drops the calls that wait: of RANK, which is dead, or of all where the job is over (NULL). Scoped
 * ones of RANK are cancelled, since nobody waits for them any more. */
void cohort__remote_served_end(struct cohort__remote_tasks *tasks, const uint32_t *rank);

/* RANK has cancelled the scope of its call with NUMBER. */
void cohort__remote_served_cancel(struct cohort__remote_tasks *tasks, uint32_t rank,
                                  uint64_t number);

/* everywhere.c. In a task: runs the function in SPAN localities, from this one on upwards. On
 * success OBJECTS has their results. Otherwise all are empty; the error message is set. */
cohort_status cohort__remote_spread(struct cohort__remote_tasks *tasks, uint32_t span,
                                    const struct cohort__remote_name *name, const cohort_object *in,
                                    cohort_object *objects);

#endif
