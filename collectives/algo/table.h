/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_TABLE_H
#define COHORT_COLLECTIVES_ALGO_TABLE_H

#include "collectives/algo/algorithm.h"

/* The rows. Each is defined in the file of its algorithm. */
#define ROW(collective, name) extern const struct cohort__algorithm cohort__##collective##_##name;
#include "collectives/algo/rows.h"
#undef ROW

#endif
