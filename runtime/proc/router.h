/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_ROUTER_H
#define COHORT_RUNTIME_PROC_ROUTER_H

#include <stdint.h>

#include "runtime/base/list.h"
#include "runtime/net/net.h"

struct cohort__process;

/* The router gets all messages from other localities. It checks that they belong to this job, takes
 * the credit out, and passes each one on according to its kind. Never waits. */
struct cohort__net_handlers cohort__router_net_handlers(struct cohort__process *process);

/* Called now and then by the thread that runs the transport's progress: a peer whose message is
 * lost counts as dead. */
void cohort__router_look_for_gaps(struct cohort__process *process, uint64_t now);

/* The most bytes of a peer's DATA that come in fragments and are incomplete. A sender begins one
 * after the other, so two of them, of what a transport sends in fragments, would do where messages
 * keep their order. */
enum { COHORT__ASSEMBLY_BYTES_MAX = 1 << 20 };

/* Frees the incomplete ones in ASSEMBLIES, the list of a peer. */
void cohort__assemblies_fini(struct cohort__list *assemblies);

/* The process stops: what is still delayed never comes. */
void cohort__delay_stop(struct cohort__process *process);

#endif
