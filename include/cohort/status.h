/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_STATUS_H
#define COHORT_STATUS_H

/* What every public header needs: how functions are exported, and how they report success. */

#define COHORT_API __attribute__((visibility("default")))
#define COHORT_MUST_USE __attribute__((warn_unused_result))

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is success, everything else is negative. The numbers are part of the ABI and of the wire. */
typedef enum cohort_status {
    COHORT_OK = 0,
    COHORT_ERR_BAD_PARAMETER = -1,  /* an argument that is not valid */
    COHORT_ERR_NO_MEMORY = -2,      /* no more memory, stacks or descriptors in this process */
    COHORT_ERR_NOT_SUPPORTED = -3,  /* this build, provider or machine can't do it */
    COHORT_ERR_GENERATION = -4,     /* a generation that is not above the last one */
    COHORT_ERR_MISMATCH = -5,       /* two sites called different things, or with other arguments */
    COHORT_ERR_DUPLICATE_SITE = -6, /* a site joined a communicator twice */
    COHORT_ERR_WRONG_ROLE = -7,     /* the root called a non-root's function, or the reverse */
    COHORT_ERR_MOVED_PAST = -8,     /* a peer skipped this generation */
    COHORT_ERR_GONE = -9,           /* a peer has left the communicator */
    COHORT_ERR_CANCELLED = -10,     /* ended here before it was complete */
    COHORT_ERR_PEER_DIED = -11,     /* a locality ended without leaving the job */
    COHORT_ERR_NETWORK = -12,       /* the transport failed */
    COHORT_ERR_PROTOCOL = -13,      /* bytes from outside that make no sense */
    COHORT_ERR_SYSTEM = -14,        /* a system call failed; the message holds its errno */
    COHORT_ERR_TIMEOUT = -15,       /* a deadline passed */
    COHORT_ERR_STATE = -16,         /* not at this time: before the start, or after the end */
    COHORT_ERR_FAILED = -17,        /* the user's own code failed and gave no other status */
    COHORT_ERR_REVOKED = -18,       /* a site has revoked the communicator */
} cohort_status;

/* The name of STATUS, for instance "COHORT_ERR_MISMATCH"; "unknown status" for any other number.
 * Any thread; never suspends; the text is static. */
COHORT_API const char *cohort_status_name(cohort_status status);

/* A short English phrase for STATUS, for instance "sites disagree". Any thread; never suspends; the
 * text is static. */
COHORT_API const char *cohort_status_text(cohort_status status);

/* The message of the last error that this task (or, outside of tasks, this thread) got, from a
 * function that returned a cohort_status, or from an await. It says who, what and where. Empty when
 * there was no error. The text belongs to the task and is valid until its next error. Any thread;
 * never suspends. */
COHORT_API const char *cohort_error_message(void);

/* Sets the message (and STATUS) that cohort_error_message() will give for this task, printf-like,
 * and returns STATUS, so that a task can end with `return cohort_fail(st, "row %zu ...", row);`.
 * The message goes into the task's future together with the status. Of a message of more than 511
 * bytes, the middle is left out (" ... "), so that its begin and the cause, at its end, are there;
 * without memory for all of it, the end is.
 * Any thread; never suspends. */
COHORT_API cohort_status cohort_fail(cohort_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
