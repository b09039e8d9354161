/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the daemon on another host: does for its localities what is done here. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_H
#define COHORT_TOOLS_COHORTRUN_NODE_H

/* The node daemon: cohortrun in another role, that an agent starts on a host. It connects back to
 * the cohortrun that wanted it, is told what to start (order.h), and does for its localities what
 * cohortrun does for those of its own host. It decides nothing: what it sees it tells, and what it
 * is told it does. When the connection breaks, or nothing has come on it for a
 * while, it ends its localities and itself; when it is killed, their guardians end them. */

/* The argument that makes cohortrun one; greeting.h says what it reads. */
#define NODE_OPTION "--node"

int node_main(void);

#endif
