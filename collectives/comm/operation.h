/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_OPERATION_H
#define COHORT_COLLECTIVES_COMM_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "cohort/future.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/comm/group.h"
#include "collectives/comm/hooks.h"
#include "collectives/comm/message.h"
#include "collectives/comm/questions.h"

/* One call in flight, as the endpoint sees it. exec embeds it in its own structs. All of this
 * happens in the endpoint's turn, except the call itself. */
struct cohort__operation;

struct cohort__operation_handlers {
    void (*start)(struct cohort__operation *operation);
    /* A DATA or ANNOUNCE for this operation has come. Takes MESSAGE. */
    void (*message)(struct cohort__operation *operation, struct cohort__message *message);
    /* The operation fails: `failure` has just been set. It ends as soon as its buffers are not
     * accessed any more, maybe during this call. Also called in place of start. */
    void (*fail)(struct cohort__operation *operation);
    /* It has been waiting for stall_after, again: asks the sites that it waits for, and may fail.
     * False: it does not ask, since another one does that for it. */
    bool (*stalled)(struct cohort__operation *operation);
    /* SITE has answered a question, and nothing is wrong. */
    void (*answer)(struct cohort__operation *operation, uint32_t site, enum cohort__answer answer);
    /* A site that has answered a meeting of this operation that it has not called, or
     * COHORT__NO_SITE. */
    uint32_t (*find_absent)(const struct cohort__operation *operation);
    /* How many messages it sends SITE, or has sent, besides those of its agreement. UINT32_MAX: no
     * memory to count them. NULL: it sends none. */
    uint32_t (*num_sends)(struct cohort__operation *operation, uint32_t site);
    /* A locality has died, or the communicator is revoked: fails the operation if that ends its
     * communicator's calls. */
    void (*peer_died)(struct cohort__operation *operation);
    /* Appends to TEXT, of CAPACITY bytes, at USED, what it waits for. Returns the new length. */
    size_t (*describe)(const struct cohort__operation *operation, char *text, size_t used,
                       size_t capacity);
    /* Its future has failed with ERROR before it could start: its other ones do, too. NULL: it has
     * no others. */
    void (*refused)(struct cohort__operation *operation, const struct cohort__error *error);
    /* It has ended, maybe with `failure`. Its memory is exec's again. */
    void (*release)(struct cohort__operation *operation);
};

/* The time between two questions doubles, so many times at most. So a job that waits for hours is
 * not kept busy by questions. */
enum { COHORT__MAX_BACKOFF = 4 };

/* What a call gives its caller as it ends well, and he frees. */
struct cohort__handout {
    void (*take_back)(void *out, size_t num); /* frees and empties it; NULL: nothing is given */
    void *out;
    size_t num;
};

struct cohort__operation {
    struct cohort__item call;
    struct cohort__list waiting;           /* for the window, or for a verdict */
    struct cohort__map_node of_generation; /* then */
    const struct cohort__operation_handlers *handlers;
    struct cohort_comm *comm;
    cohort_future *future; /* the reference that completes it */
    /* What is left to do for the call when this one has ended, in its place and with all that is
     * known of the call: another operation, of which only the handlers are set. It is started only
     * if this one has ended well, and released anyway. NULL: nothing. */
    struct cohort__operation *sequel;
    uint64_t generation;
    uint64_t fingerprint; /* of the signature */
    /* What was called, to describe it, also when it has ended. */
    struct cohort__signature signature;
    struct cohort__hooked hooked;
    struct cohort__handout handout;
    uint64_t asked_at; /* time of the last questions, or when it was found waiting; 0: not yet */
    unsigned backoff;  /* the next question is 2^backoff times `stall_after` after the last */
    struct cohort__questions questions;
    /* The last site of which it knows that it has not called, though somebody waits for it: the
     * number + 1, or 0; and who has said so, that site itself or one that waits for it. */
    uint32_t absent;
    uint32_t absent_by;
    bool are_all_told; /* of the failure: all sites learn of it in another way */
    bool has_left;     /* of the failure: it is that this site has left */
    bool is_agreed;    /* if it is checked: the sites have come to an agreement */
    bool is_refused;   /* by an agreement: each site finds it by itself, in words of its own */
    struct cohort__error failure; /* not COHORT_OK: the operation is failing with this */
};

/* In the endpoint's turn. _find: the operation in flight. _find_waiting, _first_waiting: a call
 * that waits, for the window or for a verdict; the first one. _failure: of a generation that has
 * failed and is remembered. NULL: there is none. */
struct cohort__operation *cohort__endpoint_find(struct cohort_comm *comm, uint64_t generation);
struct cohort__operation *cohort__endpoint_find_waiting(const struct cohort_comm *comm,
                                                        uint64_t generation);
struct cohort__operation *cohort__endpoint_first_waiting(const struct cohort_comm *comm);
const struct cohort__failure *cohort__endpoint_failure(const struct cohort_comm *comm,
                                                       uint64_t generation);

/* In the endpoint's turn: OPERATION waits, and a mark (early.h) will make it fail when it would
 * start. Its future completes now, with ERROR; the operation completes STAND_IN then, which is new
 * and of which it takes both references. */
void cohort__operation_refuse_waiting(struct cohort__operation *operation, cohort_future *stand_in,
                                      const struct cohort__error *error);

/* In the endpoint's turn: calls that wait may be able to start. */
void cohort__endpoint_resume(struct cohort_comm *comm);

/* In the endpoint's turn, a later turn of the event loop: the same for those that were put off. */
void cohort__endpoint_resume_later(struct cohort_comm *comm);

/* Whether the sites have yet to agree. Until then only the agreement's messages (phase 0) are for
 * this operation. Others are from sites that have agreed, or have sent early; they are parked. */
static inline bool cohort__operation_is_before_agreement(const struct cohort__operation *operation)
{
    return operation->signature.checked && !operation->is_agreed;
}

/* By exec, in the endpoint's turn: the sites agree. Hands in what has come too early. */
void cohort__operation_agree(struct cohort__operation *operation);

/* Hands OPERATION to its endpoint. All of its fields are set, and its generation has passed the
 * gate. By the caller's thread. */
void cohort__operation_call(struct cohort__operation *operation);

/* A call of COMM's only site that ends before it returns: nobody waits for it or asks for it, so it
 * is no operation, unless there are hooks or a trace, the communicator may have been revoked, or
 * something is under way there, as what takes GENERATION back. _begin begins the endpoint's turn,
 * in which the caller moves the data; _end ends it, and the call of GENERATION and SIGNATURE, which
 * has passed the gate. False: it has to be an operation. By the caller's thread. */
bool cohort__alone_begin(struct cohort_comm *comm, uint64_t generation);
void cohort__alone_end(struct cohort_comm *comm, uint64_t generation,
                       const struct cohort__signature *signature);

/* In the endpoint's turn: fails OPERATION with ERROR, unless it is failing already. */
void cohort__operation_fail(struct cohort__operation *operation, const struct cohort__error *error);

/* The same with STATUS and a message, which follows the name and place of the operation. */
void cohort__operation_fail_with(struct cohort__operation *operation, cohort_status status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets *RET_ERROR, which is empty, to STATUS and the same message with WHY, for a call that has no
 * operation. Any thread. */
void cohort__call_error(const struct cohort_comm *comm, uint64_t generation,
                        const struct cohort__signature *signature, cohort_status status,
                        const char *why, struct cohort__error *ret_error);

/* Fails OPERATION if its communicator is revoked, or a locality with sites of it is dead. The error
 * is then who has revoked it, or the first such death, since that is the reason of all that
 * follows. False: there is none. With a dead site the communicator is of no use any more, so all
 * its calls fail. A call that does not need that site itself may wait for other sites that have
 * given up, and would wait for ever. */
bool cohort__operation_fail_if_broken(struct cohort__operation *operation);

/* Sets *ERROR, which is empty, to this: OTHER_SITE has called something else in the same
 * generation. THEIRS is that call in words. Both sites get the same error text. Any thread. */
void cohort__operation_mismatch(const struct cohort__operation *operation, uint32_t other_site,
                                const char *theirs, struct cohort__error *error);

/* In the endpoint's turn: asks SITE how it stands with this call, and says what was called here. If
 * something else was called there, the call fails at both sites. TAG: as in an ASK (message.h).
 * Does nothing if SITE has yet to answer the last question: it will be asked again when this
 * operation has waited for longer. */
void cohort__operation_ask(struct cohort__operation *operation, uint32_t site, uint32_t tag);

/* The same in any case: something of SITE has come that does not fit, and comes only once. */
void cohort__operation_ask_anyway(const struct cohort__operation *operation, uint32_t site,
                                  uint32_t tag);

/* The question, not sent yet. NULL: out of memory. Any thread that is sure that the operation
 * exists. */
struct cohort__message *cohort__operation_question(const struct cohort__operation *operation,
                                                   uint32_t tag);

/* In the endpoint's turn: OPERATION, which is in flight, fails since its site leaves. The others
 * get COHORT_ERR_GONE, its own caller COHORT_ERR_CANCELLED. */
void cohort__operation_leave(struct cohort__operation *operation);

/* In the endpoint's turn: ends OPERATION, which has not started, since its site has left. */
void cohort__operation_abandon(struct cohort__operation *operation);

/* By exec, in the endpoint's turn: nothing of the operation is under way any more. Calls `release`,
 * then completes the future, with `failure` if that is set; or the call goes on with the sequel. */
void cohort__operation_ended(struct cohort__operation *operation);

/* The failure of a call as a whole. If the call has a plan, the error goes along its sends to the
 * sites that depend on it. If not, all sites are told: each site of this locality, and each other
 * locality once, which tells its own sites. A site that has not called yet keeps the failure until
 * it does. */

/* In the endpoint's turn: tells other sites, outside of any plan, that this call has failed. They
 * are the other sites of this locality, and with IS_FOR_ALL those of all localities. Does nothing
 * if they learn of it in another way. A site that has not called yet fails when it does. A site
 * that has ended the call ignores it. */
void cohort__failure_tell(struct cohort__operation *operation, bool is_for_all);

/* Any thread: hands FAILURE (its generation, fingerprint and error) to all sites of this locality
 * except SOURCE_SITE, whose call it was. */
void cohort__failure_tell_sites(struct cohort__group *group, const struct cohort__message *failure,
                                uint32_t source_site);

#endif
