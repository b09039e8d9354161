/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_PARCEL_STEPS_H
#define COHORT_COLLECTIVES_EXEC_PARCEL_STEPS_H

#include "collectives/exec/execution.h"

/* Runs plans for blocks of one byte with blocks of the caller's whose sizes differ, and which only
 * those know who send and receive them. Each goes as an object, a *parcel*: at the start a copy of
 * it is put into its slot of IN. The DONE step of a row copies what has come for it to where the
 * caller wants it, if it has the size that the caller expects. So rows for blocks of one size carry
 * them, and leaders need not know their sizes. */
extern const struct cohort__step_mode cohort__parcel_mode;

#endif
