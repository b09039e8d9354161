/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_DELAY_H
#define COHORT_RUNTIME_PROC_DELAY_H

#include <stdbool.h>

#include "runtime/net/net.h"
#include "runtime/proc/process.h"

/* The router's: messages that came and are kept back for a while, since COHORT_FAULT says so. To
 * the rest it looks as if the transport had them, and others had overtaken them. */

/* False: MESSAGE is to be handled now. Else it is copied and released, and DELIVER gets the copy
 * later, from the loop, with PROCESS as its context. */
bool cohort__delay_take(struct cohort__process *process, struct cohort__net_message *message,
                        void (*deliver)(void *context, struct cohort__net_message *message));

/* The process stops: what is still kept back never comes. */
void cohort__delay_stop(struct cohort__process *process);

#endif
