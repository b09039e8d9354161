/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_ABORT_H
#define COHORT_RUNTIME_JOB_ABORT_H

struct cohort__bootstrap;

/* From now on cohort_abort tells the launcher through BOOTSTRAP. NULL: it tells nobody; to be
 * called before the bootstrap is destroyed. Does not return if another thread aborts the job just
 * then. */
void cohort__abort_through(struct cohort__bootstrap *bootstrap);

#endif
