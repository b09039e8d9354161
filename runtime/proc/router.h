/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ROUTER_H
#define COHORT_RUNTIME_PROC_ROUTER_H

#include "runtime/net/net.h"

struct cohort__process;

/* The router gets all messages from other localities. It checks that they belong to this job, takes
 * the credit out, and passes each one on according to its kind. Never waits. */
struct cohort__net_handlers cohort__router_net_handlers(struct cohort__process *process);

/* Called now and then by the thread that runs the transport's progress: a peer whose message is
 * lost counts as dead. */
void cohort__router_look_for_gaps(struct cohort__process *process, uint64_t now);

#endif
