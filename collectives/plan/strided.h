/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_STRIDED_H
#define COHORT_COLLECTIVES_PLAN_STRIDED_H

#include <stddef.h>

/* Copies COUNT pieces of BYTES bytes. On each side a piece begins so many bytes after the one
 * before. Pieces may lie at any address. */
void cohort__strided_copy(unsigned char *to, size_t to_stride, const unsigned char *from,
                          size_t from_stride, size_t bytes, size_t count);

#endif
