/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the time against bytes or sites, as a plot. */
#ifndef COHORT_TOOLS_SIM_PLOT_H
#define COHORT_TOOLS_SIM_PLOT_H

#include "tools/sim/options.h"

/* Simulates ALGORITHMS over the range of OPTIONS, and draws their times to options->plot. Points
 * that an algorithm or the network refuses are left out. Errors: those of the simulation and of
 * plot_write; BAD_PARAMETER if nothing can be simulated at all. */
cohort_status sim_plot(const struct sim_options *options,
                       const struct cohort__algorithm *const *algorithms, size_t num_algorithms);

#endif
