/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_TIMER_H
#define COHORT_RUNTIME_LOOP_TIMER_H

#include <stdint.h>

#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"

/* These are the scheduler's hooks timer and timer_cancel; see there, and struct cohort__timer in
 * task/scheduler.h. Any thread. `expired` runs in the loop's holder. */
void cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer, uint64_t deadline);
void cohort__loop_timer_cancel(struct cohort__loop *loop, struct cohort__timer *timer);

#endif
