/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the program that starts the daemon of a host: ssh, or that of --agent. */
#ifndef COHORT_TOOLS_COHORTRUN_AGENT_H
#define COHORT_TOOLS_COHORTRUN_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/guarded.h"
#include "tools/cohortrun/timer.h"

/* The program that starts the node daemon of a host, for example ssh, and that runs until the
 * daemon ends. It is guarded (guarded.h): neither it nor what it has started on this host outlives
 * cohortrun. */
struct agent {
    struct guarded guarded;
    const struct agent_options *options;
    void *context;
    char *command; /* as the user gave it, for this host */
    int input;     /* its standard input; stays open, since some agents end when it is closed */
    struct cohort__lines *output;
    struct timer settle;
    bool told; /* its end has been told */
};

struct agent_options {
    struct cohort__loop *loop;
    const char *command; /* with {host} in it, run by sh; NULL: ssh */
    int null;
    uint64_t descriptors;
    /* A line of its output, without newline. */
    void (*said)(void *context, const char *line);
    /* It has ended: no more output comes. If it is not gone yet, this is called again when it
     * is. */
    void (*ended)(void *context);
};

/* Starts the agent for HOST, with GREETING on its standard input. CONTEXT is passed to the
 * handlers. OPTIONS have to stay valid. AGENT has to outlive the loop. */
cohort_status agent_start(struct agent *agent, const struct agent_options *options,
                          const char *host, const char *greeting, void *context);

/* "agent 'ssh b' exited with status 255" */
void agent_describe(const struct agent *agent, char *text, size_t bytes);

/* Ends the agent and all that it has started on this host. HARD: kills the agent's guardian, for
 * when the first way has had no effect. */
void agent_kill(struct agent *agent, bool hard);

bool agent_is_gone(const struct agent *agent);

void agent_close(struct agent *agent);
/* To be called after the loop is destroyed. */
void agent_fini(struct agent *agent);

#endif
