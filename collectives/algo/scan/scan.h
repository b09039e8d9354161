/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_SCAN_SCAN_H
#define COHORT_COLLECTIVES_ALGO_SCAN_SCAN_H

#include "collectives/algo/algorithm.h"

/* Scans, each for SCAN or EXCLUSIVE_SCAN as the request says. They are in scan/<name>.c. NAME is
 * the plan's. */
cohort_status cohort__scan_linear_build(const struct cohort__request *request, const char *name,
                                        struct cohort__plan **ret_plan);
cohort_status cohort__scan_hypercube_build(const struct cohort__request *request, const char *name,
                                           struct cohort__plan **ret_plan);
cohort_status cohort__scan_hierarchical_build(const struct cohort__request *request,
                                              const char *name, struct cohort__plan **ret_plan);
cohort_status cohort__scan_levels_build(const struct cohort__request *request, const char *name,
                                        struct cohort__plan **ret_plan);
void cohort__scan_levels_stages(const struct cohort__request *request,
                                struct cohort__stages *ret_stages);

struct cohort__cost cohort__scan_linear_cost(const struct cohort__request *request);
struct cohort__cost cohort__scan_hypercube_cost(const struct cohort__request *request);
struct cohort__cost cohort__scan_hierarchical_cost(const struct cohort__request *request);

#endif
