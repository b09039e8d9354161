/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TASK_CALLBACKS_H
#define COHORT_RUNTIME_TASK_CALLBACKS_H

/* To be called when the runtime has ended, and all that it completes is complete: callbacks whose
 * futures are still pending become ready, with COHORT_ERR_CANCELLED. */
void cohort__callbacks_cancel_all(void);

#endif
