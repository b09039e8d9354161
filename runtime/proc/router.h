/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ROUTER_H
#define COHORT_RUNTIME_PROC_ROUTER_H

#include "runtime/net/net.h"

struct cohort__process;

/* Where all messages from other localities come in: checks that they are of this job, takes the
 * credit out, and hands them to whom their kind concerns. Never waits. */
struct cohort__net_handlers cohort__router_net_handlers(struct cohort__process *process);

/* Now and then, by who turns the transport: a peer of which a message is lost counts as dead. */
void cohort__router_look_for_gaps(struct cohort__process *process, uint64_t now);

#endif
