/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_LAUNCHER_H
#define COHORT_RUNTIME_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The launcher's half of the control protocol (launch/control.h), as a state machine. It keeps
 * track of which localities have joined, finished, left and died, and decides which messages to
 * send to which of them. It has no sockets, processes or clocks. The caller (tools/cohortrun) has
 * these, and tells it what has happened. One thread. */
struct cohort__launcher;

/* A host and its localities: NUM localities, with ranks from FIRST on. */
struct cohort__launcher_host {
    uint32_t first;
    uint32_t num;
    const char *address; /* at which other hosts reach it, in digits */
};

struct cohort__launcher_options {
    uint32_t size;
    const struct cohort__launcher_host *hosts; /* by rank, with all localities; copied, except the
                                                * addresses, which have to stay valid */
    uint32_t num_hosts;                        /* 0: all localities are on this host */
    uint32_t workers;                          /* of each locality; 0: it may choose */
    uint64_t key;
    bool keeps_going; /* if localities die, the job goes on without them */
};

/* Called from within the functions below. Handlers must not call these functions. */
struct cohort__launcher_handlers {
    void *context;
    void (*send)(void *context, uint32_t rank, const void *message, size_t bytes);
    /* The caller has to call cohort__launcher_resume after NANOSECONDS. */
    void (*pause)(void *context, uint64_t nanoseconds);
    /* The job can't go on, since RANK has failed, died or sent an invalid message. TEXT is a
     * sentence that begins with its name. The others have been told. Called once. */
    void (*broken)(void *context, uint32_t rank, const char *text);
    /* The next two are called only if the job keeps going. RANK has died; the others have been
     * told, and NUM_LIVING of them go on. */
    void (*died)(void *context, uint32_t rank, uint32_t num_living, const char *text);
    /* RANK lives, but can't go on, as BY says (perhaps RANK itself) in the sentence TEXT; AT_FAULT:
     * for a reason that lies in RANK, not in the link between them. The caller sees to it that one
     * of them ends. */
    void (*accused)(void *context, uint32_t rank, uint32_t by, bool at_fault, const char *text);
    /* RANK has aborted the job, whether that keeps going or not: the status to end it with is CODE,
     * 1 to 255, and REASON is one line. The others have not been told. */
    void (*aborted)(void *context, uint32_t rank, int code, const char *reason);
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

/* RANK's program has ended, or its connection. FAILED: it was killed, or has a status other than 0.
 * TEXT is a sentence that begins with its name and says how it has ended. The launcher decides
 * whether RANK was allowed to end. */
void cohort__launcher_ended(struct cohort__launcher *launcher, uint32_t rank, bool failed,
                            const char *text);

/* The program with which RANK has joined has ended without a BYE, as the sentence TEXT says, though
 * the script that had started it goes on, and its connection. If RANK was in the job, it has died.
 * If the script starts another program, that ends at its start, and says so. */
void cohort__launcher_program_ended(struct cohort__launcher *launcher, uint32_t rank,
                                    const char *text);

void cohort__launcher_resume(struct cohort__launcher *launcher);

/* The job is being ended: it keeps going no longer, so the next death breaks it. */
void cohort__launcher_stop_going(struct cohort__launcher *launcher);

/* Whether RANK takes part at the moment: it has joined, and was not yet allowed to leave. */
bool cohort__launcher_is_member(const struct cohort__launcher *launcher, uint32_t rank);

/* Whether RANK has joined and was allowed to leave, so that its exit status concerns only itself.
 */
bool cohort__launcher_is_released(const struct cohort__launcher *launcher, uint32_t rank);

/* Whether RANK has said that it fails, in a start or as a member, and has not left the job since.
 * It does not do any more what others may wait for, though its process may go on. */
bool cohort__launcher_is_failing(const struct cohort__launcher *launcher, uint32_t rank);

/* Whether the job needs RANK: it takes part, or its start has failed, or others have joined and
 * wait for it. */
bool cohort__launcher_is_awaited(const struct cohort__launcher *launcher, uint32_t rank);

/* How many sets of programs have joined one after the other, with those that join now. */
uint32_t cohort__launcher_epoch(const struct cohort__launcher *launcher);

/* Whether any locality takes part. */
bool cohort__launcher_has_members(const struct cohort__launcher *launcher);

/* The text that RANK has sent with FAILED; NULL if there is none. */
const char *cohort__launcher_failure(const struct cohort__launcher *launcher, uint32_t rank);

#endif
