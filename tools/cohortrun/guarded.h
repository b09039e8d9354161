/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a program under a guardian, seen from the process that has started both. */
#ifndef COHORT_TOOLS_COHORTRUN_GUARDED_H
#define COHORT_TOOLS_COHORTRUN_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/command.h"
#include "tools/cohortrun/guardian.h"
#include "tools/cohortrun/oom.h"

struct cohort__ending;
struct cohort__loop;

/* A process that still runs so long after SIGKILL can't be killed. The time is enough even if a
 * hundred other processes want the core. */
enum { GUARDED_UNKILLABLE_SECONDS = 30 };

/* A program under a guardian: the program of a locality, or the agent that reaches another host.
 * For a locality of another host it only holds what is known of it. */
struct guarded {
    void *context;
    void (*changed)(void *context); /* the program or its guardian has ended */
    int pid;                        /* of the program; 0: not known yet */
    enum guarded_end {
        GUARDED_RUNS,
        GUARDED_NOT_STARTED, /* status: errno; 0: that was not tried */
        GUARDED_ENDED,       /* status: as from waitpid; nothing of it remains */
        GUARDED_LOST,        /* its guardian has ended without a report */
    } end;
    int status;
    char oom[OOM_TEXT_BYTES]; /* that the kernel may have killed it for want of memory; or empty */
    bool is_gone; /* no process of it is left on its host; if it is lost: of its program */
    struct cohort__loop *loop;
    bool guardian_ended;
    struct cohort__child *guardian;
    struct cohort__ending *ending; /* of a program without guardian; NULL: it has one, or is gone */
    int link_fd; /* until the program is started; then 0, which is standard input */
    struct cohort__stream *link;
};

struct guarded_options {
    struct cohort__loop *loop;
    const char *name; /* what errors call it */
    struct command command;
    char *const *environment;      /* NULL: this process's */
    uint64_t descriptors;          /* the program's limit of open ones */
    int null;                      /* /dev/null */
    const struct cohort__hub *hub; /* it gets the hub's descriptors, too, see guardian.h; or NULL */
    int ledger;                    /* and this one, behind the hub's; -1: none */
};

/* The number that the ledger has in the program. */
unsigned guarded_ledger_number(const struct cohort__hub *hub);

/* Starts the guardian, which waits for guarded_start_program. CONTEXT and CHANGED are set, the rest
 * is zero. After a failure nothing of it is left, and it counts as not started. */
cohort_status guarded_start(struct guarded *guarded, const struct guarded_options *options);

/* Starts the program. FDS become its descriptors 0, 1, ... and stay the caller's. On failure it is
 * abandoned. */
cohort_status guarded_start_program(struct guarded *guarded, const struct guarded_options *options,
                                    const int fds[GUARDIAN_FD_LINK]);

/* The program is not to be started. It counts as not started, and the guardian ends. */
void guarded_abandon(struct guarded *guarded);

/* Sends SIGNAL to the program's group; SIGKILL: ends everything that belongs to it. */
void guarded_signal(struct guarded *guarded, int signal);

/* Kills a guardian that does not act. */
void guarded_kill_guardian(struct guarded *guarded);

/* The end of a sentence: " was killed by signal 9 (Killed)", " was not started". */
void guarded_describe_end(const struct guarded *guarded, char *text, size_t bytes);

/* The status that a shell would show, 0 to 255. */
int guarded_exit_status(const struct guarded *guarded);

void guarded_close(struct guarded *guarded);

/* Raises this process's limit of open descriptors as far as allowed, since each program takes some.
 * Returns the limit before, which is the one that the programs get. */
uint64_t guarded_raise_descriptor_limit(void);

#endif
