/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the daemon on another host: does for its localities what cohortrun does here. */
#ifndef COHORT_TOOLS_COHORTRUN_NODE_H
#define COHORT_TOOLS_COHORTRUN_NODE_H

/* The node daemon is cohortrun in another role, which an agent starts on a host. It connects back
 * to the cohortrun that wanted it, and is told what to start (order.h). It does for its localities
 * what cohortrun does for those of its own host. It decides nothing: it reports what happens, and
 * does what it is told. When the connection breaks, or nothing has come on it for a while, it ends
 * its localities and itself. When it is killed, the guardians end the localities. */

int node_main(void);

#endif
