/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: what --machine has found, as a table or as JSON. */
#ifndef COHORT_TOOLS_SIM_WORLD_REPORT_H
#define COHORT_TOOLS_SIM_WORLD_REPORT_H

#include "tools/sim/world.h"

/* Simulates what OPTIONS ask for on their machine, and prints it. */
cohort_status sim_world_report(const struct sim_options *options);

#endif
