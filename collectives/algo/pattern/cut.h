/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_CUT_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_CUT_H

#include "collectives/algo/algorithm.h"

/* Cuts a block into NUM_PIECES pieces that are as equal as its elements allow. The larger ones come
 * first. That is the rule of cohort__partition, but pieces may be empty. Returns the byte where
 * PIECE begins. PIECE may be NUM_PIECES: the end. ELEMENT as in a request. */
size_t cohort__cut(size_t bytes, size_t element, uint32_t num_pieces, uint32_t piece);

/* The bytes of COUNT pieces from FIRST on. */
size_t cohort__cut_bytes(size_t bytes, size_t element, uint32_t num_pieces, uint32_t first,
                         uint32_t count);

#endif
