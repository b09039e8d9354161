/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_ALGO_COMPOSED_H
#define COHORT_TESTS_ALGO_COMPOSED_H

#include "tests/algo/call.h"

/* Rows that follow the machine. */

/* As call_sizes_collective, but in an exclusive scan the last site's input goes to its leader, who
 * need not read it. */
call_sizes composed_sizes;

/* Checks the plans of ROW, that no site takes more memory than the price says, and the result. */
void composed_verify(const struct cohort__algorithm *row, const struct cohort__request *request,
                     uint64_t seed);

/* What the leaders of such a row do: of a scan an exclusive one, of a shift an exchange. */
enum cohort__collective composed_top(enum cohort__collective collective);

#endif
