/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the connection between cohortrun and a daemon: its messages and its heartbeats. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_LINK_H
#define COHORT_TOOLS_COHORTRUN_NODE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/schema.h"
#include "tools/cohortrun/seal.h"

struct cohort__loop;

/* The one connection between cohortrun and the node daemon of a host. It carries all that concerns
 * the host's localities: messages in order, each of a kind and for a locality (or 0). The other end
 * has proved who it is, and nobody else can read or send anything (seal.h). */
struct node_link;

enum node_link_kind {
    /* cohortrun -> daemon */
    NODE_LINK_ORDER = 1, /* what to start; see order.h */
    NODE_LINK_SIGNAL,    /* u8: to the program's group; SIGKILL: everything of the locality */
    NODE_LINK_REAP,      /* kill the locality's guardian, which does not act */
    NODE_LINK_INPUT,     /* standard input of locality 0; empty: its end */
    NODE_LINK_TAKEN,     /* u8 stream, u32: how many bytes of OUTPUT have been printed */
    NODE_LINK_DISMISS,   /* the job is over */
    NODE_LINK_FETCH,     /* the next piece of a look, or of a trace; see node_fetch.h */
    NODE_LINK_PART_HERE, /* all of the locality's part of a trace has come: it can go */
    /* daemon -> cohortrun */
    NODE_LINK_STATE,        /* what is known of a locality; see state.h */
    NODE_LINK_OUTPUT,       /* u8 stream, bytes; only the stream: its end */
    NODE_LINK_INPUT_TAKEN,  /* u32: how many bytes of INPUT have been passed on */
    NODE_LINK_INPUT_CLOSED, /* nobody reads it any more */
    NODE_LINK_REFUSED,      /* text: why the order can't be carried out as a whole; the STATE of
                               each locality that is not started follows */
    NODE_LINK_FETCHED,      /* an answer to FETCH */
    NODE_LINK_COUNTED,      /* what a locality has counted, see stats_watch.h */
    /* both */
    NODE_LINK_CLOCK, /* u64: when it was sent, by cohortrun's clock; answered with the same, and by
                        the daemon's clock with u64 when it arrived, and u64 when that is sent */
    NODE_LINK_CONTROL, /* one message of the control protocol, runtime/launch/control.h */
    NODE_LINK_BEAT,    /* a heartbeat; of a daemon: u8, what has moved since the last one, see
                          motion.h */
    NODE_LINK_NUM_KINDS
};

enum {
    NODE_LINK_MAX_MESSAGE = 16 << 20,
    /* The bytes of one stream that may be in flight. At that limit a sender waits until some are
     * taken. */
    NODE_LINK_WINDOW = 64 << 10,
    NODE_LINK_PING_BYTES = 8,  /* of CLOCK, there */
    NODE_LINK_PONG_BYTES = 24, /* and back */
};

struct node_link_handlers {
    void *context;
    /* At cohortrun: whether a daemon for HOST is awaited; NULL at a daemon. */
    bool (*is_awaited)(void *context, uint32_t host);
    /* Both ends have shown that they have the key. */
    void (*opened)(void *context, uint32_t host);
    /* Only after `opened`. DATA is valid until the handler returns. */
    void (*message)(void *context, enum node_link_kind kind, uint32_t rank,
                    const unsigned char *data, size_t bytes);
    /* The last call: no more messages come. WHY is, for example, "the connection was closed". The
     * node_link still has to be closed. */
    void (*ended)(void *context, const char *why);
};

/* Takes FD over, also on failure. HOST: only at a daemon. */
cohort_status node_link_open(struct node_link **ret_node_link, struct cohort__loop *loop, int fd,
                             enum seal_side side, const unsigned char key[SEAL_KEY_BYTES],
                             uint32_t host, const struct node_link_handlers *handlers);

/* Replaces the handlers. To be called from `opened`. */
void node_link_hand_over(struct node_link *node_link, const struct node_link_handlers *handlers);

/* From `opened` on. If the connection is broken, the message is lost, and `ended` is called. */
void node_link_send(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                    const void *data, size_t bytes);

/* The same of the struct at FROM. */
void node_link_send_struct(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                           const struct cohort__schema *schema, const void *from);

/* No handler is called any more. May be called by handlers. NULL is fine. */
void node_link_close(struct node_link *node_link);

/* Whether the other end of a node_link is still there. Each end sends a heartbeat every interval,
 * and whatever arrives counts as one. cohortrun and the node daemons send the heartbeats, so a
 * program may compute as long as it likes. */
struct pulse {
    uint64_t interval_ns;
    uint64_t timeout_ns;
    uint64_t heard;
    uint64_t looked;
};

void pulse_start(struct pulse *pulse, uint64_t interval_ns, uint64_t timeout_ns);
void pulse_heard(struct pulse *pulse);

/* To be called every interval. */
bool pulse_is_silent(struct pulse *pulse);

#endif
