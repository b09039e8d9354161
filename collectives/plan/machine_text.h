/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_MACHINE_TEXT_H
#define COHORT_COLLECTIVES_PLAN_MACHINE_TEXT_H

#include <stdio.h>

#include "collectives/plan/machine.h"

/* Writes a line for each level, and below it one for each of its first subgroups, with their sites
 * and leaders. ROOT and TURN as for cohort__machine_leader. However many sites there are, that is
 * at most a hundred lines. */
void cohort__machine_print(FILE *file, const struct cohort__machine *machine, uint32_t root,
                           uint64_t turn);

#endif
