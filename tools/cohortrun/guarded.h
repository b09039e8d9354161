/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: a program under a guardian, seen from the process that has started both. */
#ifndef COHORT_TOOLS_COHORTRUN_WARD_H
#define COHORT_TOOLS_COHORTRUN_WARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/guardian.h"

struct cohort__loop;

/* What runs so long after it was killed can't be: not even where a hundred others want the core. */
enum { WARD_UNKILLABLE_SECONDS = 30 };

/* A program under a guardian: that of a locality, or the agent that reaches another host. For a
 * locality of another host it only holds what is known of it. */
struct ward {
    void *context;
    void (*changed)(void *context); /* the program or its guardian has ended */
    int pid;                        /* of the program; 0: not known yet */
    enum ward_end {
        WARD_RUNS,
        WARD_NOT_STARTED, /* status: errno */
        WARD_ENDED,       /* status: as from waitpid; nothing of it remains */
        WARD_LOST,        /* its guardian has ended without a report */
    } end;
    int status;
    bool guardian_ended;
    struct cohort__child *guardian;
    int link_fd; /* until the program is started; then 0, which is standard input */
    struct cohort__stream *link;
};

struct ward_options {
    struct cohort__loop *loop;
    const char *name;              /* what errors call it */
    char *const *program;          /* with its arguments; NULL-terminated */
    char *const *environment;      /* NULL: this process's */
    uint64_t descriptors;          /* its limit of open ones */
    int null;                      /* /dev/null */
    const struct cohort__hub *hub; /* whose descriptors it gets as well, see above; or NULL */
};

/* Starts the guardian, which waits for ward_start_program. CONTEXT and CHANGED are set, the rest is
 * zero. On failure nothing of it is left, and it counts as not started. */
cohort_status ward_start(struct ward *ward, const struct ward_options *options);

/* Starts the program. FDS, which stay the caller's, become its 0, 1, ... On failure the ward is
 * abandoned. */
cohort_status ward_start_program(struct ward *ward, const struct ward_options *options,
                                 const int fds[GUARDIAN_FD_LINK]);

/* The program is not to be started; it counts as such, and the guardian ends. */
void ward_abandon(struct ward *ward);

/* Sends SIGNAL to the program's group; SIGKILL: ends everything that belongs to it. */
void ward_signal(struct ward *ward, int signal);

/* For a guardian that does not act. */
void ward_kill_guardian(struct ward *ward);

/* No process of it is left here. */
bool ward_is_gone(const struct ward *ward);

/* The end of a sentence: " was killed by signal 9 (Killed)". */
void ward_describe_end(const struct ward *ward, char *text, size_t bytes);

/* The status that a shell would show, 0 to 255. */
int ward_exit_status(const struct ward *ward);

void ward_close(struct ward *ward);

/* Raises this process's limit of open descriptors as far as allowed; each ward takes some. Returns
 * what it was before, which is meant for the programs. */
uint64_t ward_raise_descriptor_limit(void);

#endif
