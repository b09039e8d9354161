/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/strided.h"

#include <string.h>

/* Inlined with each size that is a number's: the compiler turns the memcpy into a move. */
static inline __attribute__((always_inline)) void copy_pieces(unsigned char *to, size_t to_stride,
                                                              const unsigned char *from,
                                                              size_t from_stride, size_t bytes,
                                                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

void cohort__strided_copy(unsigned char *to, size_t to_stride, const unsigned char *from,
                          size_t from_stride, size_t bytes, size_t count)
{
    switch (count > 0 ? bytes : 0) {
    case 0:
        return;
    case 1:
        copy_pieces(to, to_stride, from, from_stride, 1, count);
        return;
    case 2:
        copy_pieces(to, to_stride, from, from_stride, 2, count);
        return;
    case 4:
        copy_pieces(to, to_stride, from, from_stride, 4, count);
        return;
    case 8:
        copy_pieces(to, to_stride, from, from_stride, 8, count);
        return;
    case 16:
        copy_pieces(to, to_stride, from, from_stride, 16, count);
        return;
    default:
        copy_pieces(to, to_stride, from, from_stride, bytes, count);
    }
}
