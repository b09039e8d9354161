/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-sim: the outcomes as a table, as JSON or as a plot. */
#ifndef COHORT_TOOLS_SIM_REPORT_H
#define COHORT_TOOLS_SIM_REPORT_H

#include "tools/sim/options.h"
#include "tools/sim/world.h"

/* What `cohort-sim` found of one algorithm. */
struct sim_outcome {
    const struct cohort__algorithm *algorithm;
    const char *refuses; /* why it can't; NULL: it can, and the rest is set */
    double predicted;    /* time by the row's formula; below 0: it has no formula */
    struct cohort__sim_result result;
};

/* The time by the row's formula. Below 0 if it has none. */
double sim_predicted(const struct cohort__algorithm *algorithm,
                     const struct cohort__request *request, const struct cohort__sim_costs *costs);

/* Prints the outcomes, as a table or as JSON. The details of a single one are printed below it. */
void sim_report_print(const struct sim_options *options, const struct cohort__network *network,
                      const struct sim_outcome *outcomes, size_t num_outcomes);

/* Simulates ALGORITHMS over the range of OPTIONS, and draws their times to options->plot. Points
 * that an algorithm or the network refuses are left out. Errors: those of the simulation and of
 * plot_write; BAD_PARAMETER if nothing can be simulated at all. */
cohort_status sim_plot(const struct sim_options *options,
                       const struct cohort__algorithm *const *algorithms, size_t num_algorithms);

/* Simulates what OPTIONS ask for on their machine, and prints it. */
cohort_status sim_world_report(const struct sim_options *options);

#endif
