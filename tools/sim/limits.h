/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: what is too large to be simulated on this machine. */
#ifndef COHORT_TOOLS_SIM_LIMITS_H
#define COHORT_TOOLS_SIM_LIMITS_H

#include "collectives/algo/algorithm.h"

/* What this machine can simulate. */

/* Returns NULL, or why not: ALGORITHM can't carry out REQUEST, or there is no room to simulate
 * it. */
const char *sim_refuses(const struct cohort__algorithm *algorithm,
                        const struct cohort__request *request);

/* The same for so many messages, whatever carries them out. */
const char *sim_refuses_messages(double messages);

/* From now on, memory beyond what this machine has is refused. So a simulation that turns out to be
 * too large ends with an error, and no other process is killed for it. */
void sim_limit_memory(void);

#endif
