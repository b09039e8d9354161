/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_LAUNCHER_H
#define COHORT_RUNTIME_PROC_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The launcher's half of the control protocol (launch/control.h) as a state machine: who has
 * joined, finished, left and died, and what is to be said to whom. It knows of no sockets,
 * processes and clocks; whoever has them (tools/cohortrun) tells it what happened. One thread. */
struct cohort__launcher;

/* A host, and which localities are on it: NUM from FIRST on. */
struct cohort__launcher_host {
    uint32_t first;
    uint32_t num;
    const char *address; /* where the other hosts reach it, in digits */
};

struct cohort__launcher_options {
    uint32_t size;
    const struct cohort__launcher_host *hosts; /* by rank, together all localities; copied, but
                                                * for the addresses, which have to stay */
    uint32_t num_hosts;                        /* 0: all are on this one */
    uint32_t workers;                          /* of each locality; 0: as it likes */
    uint64_t key;
};

/* Called from within the functions below; they may not call these. */
struct cohort__launcher_handlers {
    void *context;
    void (*send)(void *context, uint32_t rank, const void *message, size_t bytes);
    /* Call cohort__launcher_resume after so many nanoseconds. */
    void (*pause)(void *context, uint64_t nanoseconds);
    /* The job can't go on, since RANK has failed, died or spoken nonsense; TEXT is a sentence that
     * begins with its name. The others have been told. Once. */
    void (*broken)(void *context, uint32_t rank, const char *text);
};

/* Sends the first WELCOME to each locality. */
cohort_status cohort__launcher_create(struct cohort__launcher **ret_launcher,
                                      const struct cohort__launcher_options *options,
                                      const struct cohort__launcher_handlers *handlers);

/* NULL is fine. */
void cohort__launcher_destroy(struct cohort__launcher *launcher);

/* RANK has sent a message. */
void cohort__launcher_message(struct cohort__launcher *launcher, uint32_t rank, const void *message,
                              size_t bytes);

/* RANK's program has ended, or its connection has, badly (FAILED: killed, or a status other than 0)
 * or not; TEXT is a sentence that begins with its name and says how. Whether it was allowed to is
 * for the machine to say. */
void cohort__launcher_ended(struct cohort__launcher *launcher, uint32_t rank, bool failed,
                            const char *text);

void cohort__launcher_resume(struct cohort__launcher *launcher);

/* Whether RANK takes part at the moment: it has joined, and was not allowed to leave. */
bool cohort__launcher_is_member(const struct cohort__launcher *launcher, uint32_t rank);

/* Whether RANK has joined and was allowed to leave, so that its exit status concerns only itself.
 */
bool cohort__launcher_is_released(const struct cohort__launcher *launcher, uint32_t rank);

/* Whether any locality takes part. */
bool cohort__launcher_has_members(const struct cohort__launcher *launcher);

/* What RANK said with FAILED; NULL if nothing. */
const char *cohort__launcher_failure(const struct cohort__launcher *launcher, uint32_t rank);

#endif
