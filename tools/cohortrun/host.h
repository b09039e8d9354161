/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: one other host: its agent, its daemon, its localities. */
#ifndef COHORT_TOOLS_COHORTRUN_HOST_H
#define COHORT_TOOLS_COHORTRUN_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/cohortrun/address.h"
#include "tools/cohortrun/agent.h"
#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/motion.h"
#include "tools/cohortrun/node_fetch.h"
#include "tools/cohortrun/node_link.h"
#include "tools/cohortrun/trace_part.h"
#include "tools/share/host_list.h"
#include "tools/trace/clocks.h"

/* What a host is asked for, of one kind: of one locality after the other; far_fetch.c's. */
struct far_fetch {
    bool is_asked;
    uint32_t number; /* of the last question: the answer to an earlier one is late */
    uint32_t rank;
    uint64_t at; /* the next byte */
};

/* What is asked for next of a host, for a trace; far_trace.c's. */
struct far_trace_host {
    uint64_t sent; /* the ping under way; 0: none */
    uint32_t num_left;
    struct trace_ping best; /* of this series: the quickest one there, and back */
    enum {
        FAR_TRACE_RUNS,    /* the job is not over */
        FAR_TRACE_CLOCK,   /* the last series of pings */
        FAR_TRACE_PARTS,   /* they are fetched */
        FAR_TRACE_IS_OVER, /* nothing more is asked */
    } stage;
    struct trace_part_copy copy; /* of the one that is fetched */
};

struct cohort__packer;
struct output;

/* Another host of the job, seen from cohortrun: the agent that reaches it, the connection to its
 * node daemon, and what is known of its localities. Each has a `struct locality`, as if it were
 * started here. */
struct host {
    const struct host_name *name;
    const struct host_common *common;
    struct locality *localities; /* of this host, the first of them */
    struct agent agent;
    struct node_link *node_link; /* NULL: not connected yet, or no longer */
    struct pulse pulse;
    enum host_stage {
        HOST_AWAITED,   /* its daemon has not connected */
        HOST_READY,     /* it has, and may have been told what to start */
        HOST_DISMISSED, /* it has been told to end */
        HOST_LOST,      /* see `why` */
    } stage;
    bool is_ordered;
    char why[400];                    /* "the connection was closed" */
    char address[ADDRESS_TEXT_BYTES]; /* where the other hosts reach it */
    struct timer timeout;             /* for its agent, at the end */
    unsigned num_timeouts;
    bool is_given_up;
    struct far_fetch fetches[NODE_FETCH_NUM_WHATS];
    struct far_trace_host trace;
    enum motion_result motion; /* what its daemon has last said */
    bool is_fed;               /* output is arriving: what is taken is reported together */
    size_t taken;
};

/* From the daemon. */
struct host_message {
    enum node_link_kind kind;
    struct locality *locality; /* that it is about; NULL: none of the host's */
    const unsigned char *data;
    size_t bytes;
    uint64_t arrived; /* when it came */
};

/* What all hosts share. */
struct host_common {
    struct agent_options agent;
    struct output *output;
    uint64_t heartbeat_ns;
    uint64_t heartbeat_timeout_ns;
    void *context;
    /* HOST is lost before it was told to start anything, or can't start all of it. Its `why` says
     * why. */
    void (*failed)(void *context, struct host *host);
    /* HOST's connection or agent has ended. */
    void (*changed)(void *context, struct host *host);
    /* What the daemon says that is not about the host itself, and a heartbeat when something moves
     * there. False: it makes no sense. */
    bool (*message)(void *context, struct host *host, const struct host_message *message);
};

/* One whose agent has not been started. What the others point to has to stay. */
void host_init(struct host *host, const struct host_name *name, const struct host_common *common,
               struct locality *localities);

/* Starts the agent with GREETING. */
cohort_status host_start(struct host *host, const char *greeting);

/* Its daemon has connected. Takes NODE_LINK over. */
void host_welcome(struct host *host, struct node_link *node_link, const struct address *from);

/* Tells the daemon to start the host's localities. */
void host_order(struct host *host, const struct cohort__packer *order,
                const struct locality_handlers *handlers);

/* Passes standard input on to locality 0. BYTES 0: its end. */
void host_input(struct host *host, const void *data, size_t bytes);

/* To be called at every heartbeat. */
void host_beat(struct host *host);

void host_lose(struct host *host, const char *why);

/* The job is over: tells the daemon to end, and ends the agent if need be. */
void host_dismiss(struct host *host);
bool host_is_gone(const struct host *host);

/* Whether its daemon is there, and has been told what to start. */
static inline bool host_is_ready(const struct host *host)
{
    return host->node_link && host->is_ordered && host->stage == HOST_READY;
}

/* To the daemon, if that is there. */
void host_send(struct host *host, enum node_link_kind kind, uint32_t rank, const void *data,
               size_t bytes);

void host_close(struct host *host);
/* To be called after the loop is destroyed. */
void host_fini(struct host *host);

#endif
