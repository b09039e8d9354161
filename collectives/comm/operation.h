/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_OPERATION_H
#define COHORT_COLLECTIVES_COMM_OPERATION_H

#include <stdbool.h>

#include "cohort/future.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/message.h"

/* One call in flight, as the endpoint sees it; exec builds on it. All of this happens in the
 * endpoint's turn, but for the call itself. */
struct cohort__operation;

struct cohort__operation_handlers {
    void (*start)(struct cohort__operation *operation);
    /* DATA or ANNOUNCE for this operation; MESSAGE is the handler's. */
    void (*message)(struct cohort__operation *operation, struct cohort__message *message);
    /* It fails: `failure` has just been set. It ends as soon as nobody accesses its buffers any
     * more, maybe during the call. Also called instead of start. */
    void (*fail)(struct cohort__operation *operation);
    /* It has been waiting for stall_after, again: ask whom it waits for. */
    void (*stalled)(struct cohort__operation *operation);
    /* SITE has answered, and nothing is wrong. */
    void (*answer)(struct cohort__operation *operation, uint32_t site, enum cohort__answer answer);
    /* A locality has died: fail it, if it still needs it. */
    void (*peer_died)(struct cohort__operation *operation);
    /* Appends to TEXT, of CAPACITY bytes, what it waits for; returns the new length. */
    size_t (*describe)(const struct cohort__operation *operation, char *text, size_t used,
                       size_t capacity);
    /* It has ended, maybe with `failure`: its memory is exec's again. */
    void (*release)(struct cohort__operation *operation);
};

/* Each question is twice as long after the one before: a job that waits for hours is not to be kept
 * busy by it. */
enum { COHORT__MAX_PATIENCE = 4 };

struct cohort__operation {
    struct cohort__item call;
    struct cohort__list waiting; /* for the window */
    const struct cohort__operation_handlers *handlers;
    struct cohort_comm *comm;
    cohort_future *future; /* the completer's reference */
    uint64_t generation;
    uint64_t fingerprint;               /* of the signature */
    struct cohort__signature signature; /* what was called, for words and for later questions */
    uint64_t asked_at; /* when it last asked what it waits for, or was first found waiting; or 0 */
    unsigned patience; /* it asks again after 2^patience times the communicator's `stall_after` */
    bool are_all_told; /* of the failure: all sites get to know it in another way */
    struct cohort__error failure; /* not COHORT_OK: it is failing, with this */
};

/* Hands OPERATION, all of whose fields are set, to its endpoint; the generation has passed the
 * gate. By the caller's thread. */
void cohort__operation_call(struct cohort__operation *operation);

/* In the endpoint's turn: fails OPERATION with ERROR, unless it is failing already. */
void cohort__operation_fail(struct cohort__operation *operation, const struct cohort__error *error);

/* The same, with STATUS and a message behind what the operation is and where. */
void cohort__operation_fail_with(struct cohort__operation *operation, cohort_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Fails OPERATION if a locality with sites of its communicator is dead, with the first of these
 * deaths: it is the reason of all that follows. False: there is none. With a dead site the
 * communicator is of no use any more, so that all its calls fail: one that does not need that site
 * itself may wait for others that have given up, and would do so for ever. */
bool cohort__operation_fail_if_broken(struct cohort__operation *operation);

/* Sets *ERROR, which is empty: OTHER_SITE has called something else in the same generation, THEIRS
 * in words. Both sites get the same words. Any thread. */
void cohort__operation_mismatch(const struct cohort__operation *operation, uint32_t other_site,
                                const char *theirs, struct cohort__error *error);

/* In the endpoint's turn: asks SITE how it stands with this call, in PHASE of it, and says what has
 * been called here. Something else there fails the call at both. */
void cohort__operation_ask(const struct cohort__operation *operation, uint32_t site,
                           unsigned phase);

/* The same, still to be sent; NULL: no memory. Any thread that knows that the operation is alive.
 */
struct cohort__message *cohort__operation_question(const struct cohort__operation *operation,
                                                   unsigned phase);

/* In the endpoint's turn: tells all other sites of this locality, and with IS_FOR_ALL those of all
 * localities, that this call has failed, outside of any plan, unless they get to know it in another
 * way. A site that has not called yet fails when it does; who has ended the call pays no attention.
 */
void cohort__operation_tell(const struct cohort__operation *operation, bool is_for_all);

/* In the endpoint's turn: ends OPERATION, which has not started, since its site has left. */
void cohort__operation_abandon(struct cohort__operation *operation);

/* By exec, in the endpoint's turn: nothing of it is under way any more. Completes the future, with
 * `failure` if that is one, and calls `release`. */
void cohort__operation_ended(struct cohort__operation *operation);

#endif
