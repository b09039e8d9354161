/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/exec/kernels.h"

#include <stdint.h>
#include <string.h>

/* One function for each operation and type, made by macros since C has no other way. Integers are
 * computed as unsigned, so that they wrap around instead of overflowing. The loops are plain, for
 * the compiler to vectorise; elements are loaded by memcpy, since a user's buffer need not be
 * aligned. */

#define KERNEL(NAME, TYPE, EXPRESSION)                                                             \
    static void NAME(void *result, const void *left, const void *right, size_t count)              \
    {                                                                                              \
        unsigned char *to = result;                                                                \
        const unsigned char *from_a = left, *from_b = right;                                       \
        for (size_t i = 0; i < count; i++) {                                                       \
            TYPE a, b, c;                                                                          \
            memcpy(&a, from_a + i * sizeof(a), sizeof(a));                                         \
            memcpy(&b, from_b + i * sizeof(b), sizeof(b));                                         \
            c = (TYPE)(EXPRESSION);                                                                \
            memcpy(to + i * sizeof(c), &c, sizeof(c));                                             \
        }                                                                                          \
    }

#define COMPARING_KERNELS(SUFFIX, TYPE)                                                            \
    KERNEL(min_##SUFFIX, TYPE, b < a ? b : a)                                                      \
    KERNEL(max_##SUFFIX, TYPE, b > a ? b : a)                                                      \
    KERNEL(logical_and_##SUFFIX, TYPE, a != 0 && b != 0)                                           \
    KERNEL(logical_or_##SUFFIX, TYPE, a != 0 || b != 0)                                            \
    KERNEL(logical_xor_##SUFFIX, TYPE, (a != 0) != (b != 0))

#define BITWISE_KERNELS(SUFFIX, TYPE)                                                              \
    KERNEL(bitwise_and_##SUFFIX, TYPE, a &b)                                                       \
    KERNEL(bitwise_or_##SUFFIX, TYPE, a | b)                                                       \
    KERNEL(bitwise_xor_##SUFFIX, TYPE, a ^ b)

/* WIDE is an unsigned type of at least the width of int. */
#define INTEGER_KERNELS(SUFFIX, TYPE, WIDE)                                                        \
    KERNEL(sum_##SUFFIX, TYPE, (WIDE)a + (WIDE)b)                                                  \
    KERNEL(product_##SUFFIX, TYPE, (WIDE)a *(WIDE)b)                                               \
    COMPARING_KERNELS(SUFFIX, TYPE)                                                                \
    BITWISE_KERNELS(SUFFIX, TYPE)

#define FLOATING_KERNELS(SUFFIX, TYPE)                                                             \
    KERNEL(sum_##SUFFIX, TYPE, a + b)                                                              \
    KERNEL(product_##SUFFIX, TYPE, a *b)                                                           \
    COMPARING_KERNELS(SUFFIX, TYPE)

INTEGER_KERNELS(int8, int8_t, uint32_t)
INTEGER_KERNELS(int16, int16_t, uint32_t)
INTEGER_KERNELS(int32, int32_t, uint32_t)
INTEGER_KERNELS(int64, int64_t, uint64_t)
INTEGER_KERNELS(uint8, uint8_t, uint32_t)
INTEGER_KERNELS(uint16, uint16_t, uint32_t)
INTEGER_KERNELS(uint32, uint32_t, uint32_t)
INTEGER_KERNELS(uint64, uint64_t, uint64_t)
FLOATING_KERNELS(float, float)
FLOATING_KERNELS(double, double)

#define COMPARING_ROW(SUFFIX)                                                                      \
    [COHORT__KERNEL_SUM] = sum_##SUFFIX, [COHORT__KERNEL_PRODUCT] = product_##SUFFIX,              \
    [COHORT__KERNEL_MIN] = min_##SUFFIX, [COHORT__KERNEL_MAX] = max_##SUFFIX,                      \
    [COHORT__KERNEL_LOGICAL_AND] = logical_and_##SUFFIX,                                           \
    [COHORT__KERNEL_LOGICAL_OR] = logical_or_##SUFFIX,                                             \
    [COHORT__KERNEL_LOGICAL_XOR] = logical_xor_##SUFFIX

#define BITWISE_ROW(SUFFIX)                                                                        \
    [COHORT__KERNEL_BITWISE_AND] = bitwise_and_##SUFFIX,                                           \
    [COHORT__KERNEL_BITWISE_OR] = bitwise_or_##SUFFIX,                                             \
    [COHORT__KERNEL_BITWISE_XOR] = bitwise_xor_##SUFFIX

static cohort__kernel_function *const table[][COHORT__KERNEL_END] = {
    [COHORT_BYTE] = {BITWISE_ROW(uint8)},
    [COHORT_INT8] = {COMPARING_ROW(int8), BITWISE_ROW(int8)},
    [COHORT_INT16] = {COMPARING_ROW(int16), BITWISE_ROW(int16)},
    [COHORT_INT32] = {COMPARING_ROW(int32), BITWISE_ROW(int32)},
    [COHORT_INT64] = {COMPARING_ROW(int64), BITWISE_ROW(int64)},
    [COHORT_UINT8] = {COMPARING_ROW(uint8), BITWISE_ROW(uint8)},
    [COHORT_UINT16] = {COMPARING_ROW(uint16), BITWISE_ROW(uint16)},
    [COHORT_UINT32] = {COMPARING_ROW(uint32), BITWISE_ROW(uint32)},
    [COHORT_UINT64] = {COMPARING_ROW(uint64), BITWISE_ROW(uint64)},
    [COHORT_FLOAT] = {COMPARING_ROW(float)},
    [COHORT_DOUBLE] = {COMPARING_ROW(double)},
};

cohort__kernel_function *cohort__kernel_find(enum cohort__kernel kernel, cohort_datatype datatype)
{
    if (datatype >= sizeof(table) / sizeof(table[0]) || kernel >= COHORT__KERNEL_END)
        return NULL;
    return table[datatype][kernel];
}
