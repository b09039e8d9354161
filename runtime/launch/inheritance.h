/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_INHERITANCE_H
#define COHORT_RUNTIME_LAUNCH_INHERITANCE_H

#include <stdbool.h>

#include "cohort/status.h"

/* What cohortrun has left to this process: descriptors, and variables of the environment that name
 * them. The start of the runtime uses them up. A process that may start it again keeps copies, and
 * begins like the next program of a script (launch/control.h). One thread at a time, while no other
 * one uses the environment. */

/* Before the start. If the environment names such descriptors for the first time, copies of them
 * are kept from now on, closed on exec. Where there is no room for copies none are, and the log
 * says so. */
void cohort__inheritance_keep(void);

/* Whether there are copies. */
bool cohort__inheritance_is_kept(void);

/* Before a further start: the environment names descriptors again, as at first. Nothing, if there
 * are no copies. COHORT_ERR_NO_MEMORY: no room for descriptors, or variables. */
cohort_status cohort__inheritance_renew(void);

/* No further start may come: the copies are closed. */
void cohort__inheritance_drop(void);

#endif
