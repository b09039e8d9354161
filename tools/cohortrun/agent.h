/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the program that starts the daemon of a host: ssh, or that of --agent. */
#ifndef COHORT_TOOLS_COHORTRUN_AGENT_H
#define COHORT_TOOLS_COHORTRUN_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/deadline.h"
#include "tools/cohortrun/guarded.h"

/* The program that starts the node daemon of a host, ssh say, and stays until that ends. It is a
 * guarded: neither it nor what it has started here outlives cohortrun. */
struct agent {
    struct guarded guarded;
    const struct agent_options *options;
    void *context;
    char *command; /* as the user gave it, for this host */
    int input;     /* its standard input; stays open, since agents may end with it */
    struct cohort__lines *output;
    struct deadline settle;
    bool told; /* of its end */
};

struct agent_options {
    struct cohort__loop *loop;
    const char *command; /* with {host} in it, run by sh; NULL: ssh */
    int null;
    uint64_t descriptors;
    /* A line of its output, without newline. */
    void (*said)(void *context, const char *line);
    /* It has ended, and so nothing more comes; again when it is gone, if that was not yet so. */
    void (*ended)(void *context);
};

/* Starts the agent for HOST, with GREETING on its standard input; CONTEXT is that of the handlers.
 * OPTIONS have to stay. AGENT has to outlive the loop. */
cohort_status agent_start(struct agent *agent, const struct agent_options *options,
                          const char *host, const char *greeting, void *context);

/* "agent 'ssh b' exited with status 255" */
void agent_describe(const struct agent *agent, char *text, size_t bytes);

/* Ends it and all that it has started on this host; HARD: where that has had no effect. */
void agent_kill(struct agent *agent, bool hard);

bool agent_is_gone(const struct agent *agent);

void agent_close(struct agent *agent);
/* After the loop. */
void agent_fini(struct agent *agent);

#endif
