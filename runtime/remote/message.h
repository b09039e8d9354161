/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_REMOTE_MESSAGE_H
#define COHORT_RUNTIME_REMOTE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/wire/envelope.h"

/* The messages of remote tasks. They are of the instance COHORT__INSTANCE_REMOTE. Of the envelope's
 * fields they use
 *
 *   tag          which message it is
 *   generation   the call's number at its caller, from 1
 *   fingerprint  of a call: the hash of the function's name
 *   dest_site    of a call: for how many localities it is, from the receiver on upwards.
 *                Of an ERROR: 1 if it is that of the caller's scope. Else 0
 *   source_site  of RESULT and ADMITTED: how many calls of the receiver the sender has
 *                admitted since its last such message. Of SCOPED_CALL: 1 if the
 *                function's error is the scope's. Else 0
 *
 * CALL is a DATA or an ANNOUNCE, whose payload is IN. RESULT is a DATA or an ANNOUNCE with OUT, or
 * an ERROR. OUT of a call for several localities is a message of byte strings (wire/bins.h), one
 * for each locality. ADMITTED is an ANSWER without payload.
 *
 * SCOPED_CALL is a CALL of a task in a scope: its result says that all has ended that it has
 * started, wherever. CANCEL, an ANSWER without payload, asks for its end. Messages may overtake
 * each other: a locality that does not know the call answers UNKNOWN, likewise, and then the
 * caller, if it still waits for the result, asks once more. */
enum cohort__remote_tag {
    COHORT__REMOTE_CALL = 1,
    COHORT__REMOTE_RESULT,
    COHORT__REMOTE_ADMITTED,
    COHORT__REMOTE_SCOPED_CALL,
    COHORT__REMOTE_CANCEL,
    COHORT__REMOTE_UNKNOWN,
    COHORT__REMOTE_NUM_TAGS,
};

static inline bool cohort__remote_is_call(const struct cohort__envelope *envelope)
{
    return envelope->tag == COHORT__REMOTE_CALL || envelope->tag == COHORT__REMOTE_SCOPED_CALL;
}

/* Whether ENVELOPE, which came in, may be one of these in a job of SIZE localities. */
cohort_status cohort__remote_message_check(const struct cohort__envelope *envelope, uint32_t size);

/* The payload of an ERROR. The message of the packer's status says whether that succeeded. */
struct cohort__packer;
void cohort__remote_error_pack(struct cohort__packer *packer, const struct cohort__error *error);

/* Replaces *ERROR by what BYTES at DATA say: by COHORT_ERR_PROTOCOL where they make no sense. */
void cohort__remote_error_unpack(const void *data, size_t bytes, struct cohort__error *error);

#endif
