/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_SIGNALS_H
#define COHORT_RUNTIME_LOOP_SIGNALS_H

#include "cohort/status.h"

struct cohort__loop;

/* Calls FUNCTION(CONTEXT, SIGNAL) in the loop's holder whenever SIGNAL is sent to this process,
 * until it is closed. Does not keep cohort__loop_run from ending. All functions here may be called
 * only by the holder. */
struct cohort__signals;
cohort_status cohort__signals_open(struct cohort__signals **ret_signals, struct cohort__loop *loop,
                                   int signal, void (*function)(void *context, int signal),
                                   void *context);

/* May be called by FUNCTION. NULL is fine. */
void cohort__signals_close(struct cohort__signals *signals);

#endif
