/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_TABLE_H
#define COHORT_COLLECTIVES_ALGO_TABLE_H

#include "collectives/algo/algorithm.h"

/* The rows, one from each file of an algorithm. */
extern const struct cohort__algorithm cohort__gather_linear;
extern const struct cohort__algorithm cohort__gather_hierarchical;
extern const struct cohort__algorithm cohort__scatter_linear;
extern const struct cohort__algorithm cohort__scatter_hierarchical;
extern const struct cohort__algorithm cohort__broadcast_linear;
extern const struct cohort__algorithm cohort__broadcast_hierarchical;
extern const struct cohort__algorithm cohort__reduce_linear;
extern const struct cohort__algorithm cohort__reduce_hierarchical;
extern const struct cohort__algorithm cohort__all_gather_linear;
extern const struct cohort__algorithm cohort__all_gather_hierarchical;
extern const struct cohort__algorithm cohort__all_reduce_linear;
extern const struct cohort__algorithm cohort__all_reduce_hierarchical;
extern const struct cohort__algorithm cohort__all_to_all_linear;
extern const struct cohort__algorithm cohort__all_to_all_hierarchical;
extern const struct cohort__algorithm cohort__all_to_all_padded;
extern const struct cohort__algorithm cohort__barrier_linear;
extern const struct cohort__algorithm cohort__barrier_hierarchical;

#endif
