/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_JOB_STATUS_SIGNAL_H
#define COHORT_RUNTIME_JOB_STATUS_SIGNAL_H

/* SIGUSR2 to a locality: `cohortrun --status` of it, on its standard error: that is of its whole
 * job if cohortrun has started it on this host, and else of this locality alone. The program itself
 * only starts that, so it makes no difference what it is doing. */

/* If the program has not said itself what SIGUSR2 is to do. PATH: in which folders cohortrun is
 * looked for if it is not where this library is installed; may be NULL. Before there are threads
 * that might get the signal. */
void cohort__status_signal_watch(const char *path);

/* Unless the program has taken the signal meanwhile, it ends the program again. */
void cohort__status_signal_unwatch(void);

#endif
