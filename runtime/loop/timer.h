/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_TIMER_H
#define COHORT_RUNTIME_LOOP_TIMER_H

#include <stdint.h>

#include "runtime/loop/loop.h"
#include "runtime/task/scheduler.h"

/* The scheduler's contract of a timer (struct cohort__timer and the hooks timer and timer_cancel in
 * task/scheduler.h). Both: any thread. `expired` runs in the loop's holder. */
void cohort__loop_timer(struct cohort__loop *loop, struct cohort__timer *timer, uint64_t deadline);
void cohort__loop_timer_cancel(struct cohort__loop *loop, struct cohort__timer *timer);

#endif
