/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SHARE_H
#define COHORT_EXAMPLES_SHARE_H

#include <stddef.h>

/* Cuts WHOLE things into NUM shares, one after the other. Their sizes differ by at most one, and
 * the larger ones come first. If there are too few things, the last shares are empty. */

/* Where share I, 0 .. NUM, begins; share NUM begins at the end. */
size_t share_begin(size_t whole, size_t num, size_t i);

size_t share_size(size_t whole, size_t num, size_t i);

/* The sizes of all shares, each times UNIT, in RET_COUNTS[0 .. NUM - 1]. */
void share_counts(size_t whole, size_t num, size_t unit, size_t *ret_counts);

#endif
