/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: standard input and output of the daemon's localities. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_PIPES_H
#define COHORT_TOOLS_COHORTRUN_NODE_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/cohortrun/output.h"
#include "tools/cohortrun/node_link.h"

/* The standard streams of a node daemon's localities, carried over the node_link. Of each stream at
 * most NODE_LINK_WINDOW bytes are in flight: a program that writes more waits, as for a full
 * pipe. */
struct node_pipes;

struct node_pipes_options {
    struct cohort__loop *loop;
    uint32_t first; /* localities */
    uint32_t num;
    void *context;
    void (*send)(void *context, enum node_link_kind kind, uint32_t rank, const void *data,
                 size_t bytes);
};

/* RET_INPUT is the descriptor that locality 0 reads, if it is among them. It stays the pipes'. */
cohort_status node_pipes_create(struct node_pipes **ret_pipes,
                                const struct node_pipes_options *options, int *ret_input);

/* Takes over FD, the reading end of a locality's output, also on failure. */
cohort_status node_pipes_add(struct node_pipes *pipes, uint32_t rank, enum output_stream stream,
                             int fd);

/* All localities have been started: closes the daemon's own copy of what it has handed on. */
void node_pipes_started(struct node_pipes *pipes);

/* NODE_LINK_INPUT or NODE_LINK_TAKEN has come. False: the message makes no sense. */
bool node_pipes_message(struct node_pipes *pipes, enum node_link_kind kind, uint32_t rank,
                        const unsigned char *data, size_t bytes);

/* node_pipes_close: before the loop is destroyed. node_pipes_destroy: after that. NULL is fine. */
void node_pipes_close(struct node_pipes *pipes);
void node_pipes_destroy(struct node_pipes *pipes);

#endif
