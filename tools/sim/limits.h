/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: what is too large to be simulated on this machine. */
#ifndef COHORT_TOOLS_SIM_LIMITS_H
#define COHORT_TOOLS_SIM_LIMITS_H

#include "collectives/algo/algorithm.h"

/* What this machine can simulate. */

/* NULL, or why ALGORITHM can't carry out REQUEST, or its simulation has no room here. */
const char *sim_refuses(const struct cohort__algorithm *algorithm,
                        const struct cohort__request *request);

/* From now on, memory beyond what this machine has is refused: a simulation that turns out to be
 * too large ends with an error, and nothing else on the machine is killed for it. */
void sim_limit_memory(void);

#endif
