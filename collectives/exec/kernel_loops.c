/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collectives/exec/kernels.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Writes a line of memory past the caches, if the machine can do that. Then the line is not read
 * into a cache first. */
enum { COHORT__LINE_BYTES = 64 };

/* TO and LINE are aligned to COHORT__LINE_BYTES. */
static inline void cohort__line_write(unsigned char *to, const void *line)
{
#if defined(__AVX__)
    const __m256i *parts = line;
    for (size_t i = 0; i < COHORT__LINE_BYTES / sizeof(*parts); i++)
        _mm256_stream_si256((__m256i *)to + i, _mm256_load_si256(parts + i));
#elif defined(__SSE2__)
    const __m128i *parts = line;
    for (size_t i = 0; i < COHORT__LINE_BYTES / sizeof(*parts); i++)
        _mm_stream_si128((__m128i *)to + i, _mm_load_si128(parts + i));
#else
    memcpy(to, line, COHORT__LINE_BYTES);
#endif
}

/* Orders these writes before all later ones. A thread that learns of them by a later write sees
 * them. */
static inline void cohort__line_fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The number of elements, of COUNT, in front of the first whole line of TO. It is COUNT if no
 * element begins at the start of a line. */
static inline size_t cohort__line_head(const void *to, size_t element, size_t count)
{
    size_t bytes = -(uintptr_t)to % COHORT__LINE_BYTES;
    return bytes % element == 0 && bytes / element < count ? bytes / element : count;
}

/* This file is compiled once for each variant of the machine, with -O3 and its flags. meson.build
 * gives the name of its table. There are two functions for each operation and type. They are made
 * by macros since C has no other way. Integers are computed as unsigned, so that they wrap around
 * instead of overflowing. Elements are loaded by memcpy, since a user's buffer need not be aligned.
 * Contraction is off, so that all variants give the same bits. */

/* No element depends on another one, even if the result is in the place of an operand. So the
 * compiler need not check for overlap. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Reduces element I of from_a and from_b, and leaves the result in c. */
#define REDUCE_ELEMENT(TYPE, EXPRESSION, I)                                                        \
    TYPE a, b, c;                                                                                  \
    memcpy(&a, from_a + (I) * sizeof(a), sizeof(a));                                               \
    memcpy(&b, from_b + (I) * sizeof(b), sizeof(b));                                               \
    c = EXPRESSION

#define PLAIN_KERNEL(NAME, TYPE, EXPRESSION)                                                       \
    static void NAME(void *result, const void *left, const void *right, size_t count)              \
    {                                                                                              \
        unsigned char *to = result;                                                                \
        const unsigned char *from_a = left, *from_b = right;                                       \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < count; i++) {                                                       \
            REDUCE_ELEMENT(TYPE, EXPRESSION, i);                                                   \
            memcpy(to + i * sizeof(c), &c, sizeof(c));                                             \
        }                                                                                          \
    }

/* Writes whole lines of the result. The plain kernel does the elements before and after them. */
#define STREAMED_KERNEL(NAME, TYPE, EXPRESSION)                                                    \
    static void NAME##_streamed(void *result, const void *left, const void *right, size_t count)   \
    {                                                                                              \
        enum { IN_LINE = COHORT__LINE_BYTES / sizeof(TYPE) };                                      \
        _Alignas(COHORT__LINE_BYTES) TYPE line[IN_LINE];                                           \
        unsigned char *to = result;                                                                \
        const unsigned char *from_a = left, *from_b = right;                                       \
        size_t i = cohort__line_head(result, sizeof(TYPE), count);                                 \
        NAME(to, from_a, from_b, i);                                                               \
        for (; count - i >= IN_LINE; i += IN_LINE) {                                               \
            for (size_t j = 0; j < IN_LINE; j++) {                                                 \
                REDUCE_ELEMENT(TYPE, EXPRESSION, i + j);                                           \
                line[j] = c;                                                                       \
            }                                                                                      \
            cohort__line_write(to + i * sizeof(TYPE), line);                                       \
        }                                                                                          \
        size_t done = i * sizeof(TYPE);                                                            \
        NAME(to + done, from_a + done, from_b + done, count - i);                                  \
        cohort__line_fence();                                                                      \
    }

#define KERNEL(NAME, TYPE, EXPRESSION)                                                             \
    PLAIN_KERNEL(NAME, TYPE, EXPRESSION)                                                           \
    STREAMED_KERNEL(NAME, TYPE, EXPRESSION)

/* Of numbers, whose results C may have widened. */
#define NUMBER_KERNEL(NAME, TYPE, EXPRESSION) KERNEL(NAME, TYPE, (TYPE)(EXPRESSION))

#define LOGICAL_KERNELS(SUFFIX, TYPE)                                                              \
    NUMBER_KERNEL(logical_and_##SUFFIX, TYPE, a != 0 && b != 0)                                    \
    NUMBER_KERNEL(logical_or_##SUFFIX, TYPE, a != 0 || b != 0)                                     \
    NUMBER_KERNEL(logical_xor_##SUFFIX, TYPE, (a != 0) != (b != 0))

#define BITWISE_KERNELS(SUFFIX, TYPE)                                                              \
    NUMBER_KERNEL(bitwise_and_##SUFFIX, TYPE, a &b)                                                \
    NUMBER_KERNEL(bitwise_or_##SUFFIX, TYPE, a | b)                                                \
    NUMBER_KERNEL(bitwise_xor_##SUFFIX, TYPE, a ^ b)

/* WIDE is an unsigned type of at least the width of int. */
#define INTEGER_KERNELS(SUFFIX, TYPE, WIDE)                                                        \
    NUMBER_KERNEL(sum_##SUFFIX, TYPE, (WIDE)a + (WIDE)b)                                           \
    NUMBER_KERNEL(product_##SUFFIX, TYPE, (WIDE)a *(WIDE)b)                                        \
    NUMBER_KERNEL(min_##SUFFIX, TYPE, b < a ? b : a)                                               \
    NUMBER_KERNEL(max_##SUFFIX, TYPE, b > a ? b : a)                                               \
    LOGICAL_KERNELS(SUFFIX, TYPE)                                                                  \
    BITWISE_KERNELS(SUFFIX, TYPE)

/* IEEE 754-2019 minimum and maximum. A comparison that fails both ways is of zeros, whose signs
 * JOIN joins, of equal numbers, or with a NaN. There is no branch, so that it can be vectorised.
 * WORD is an unsigned type of the number's width. */
#define EXTREME_KERNEL(NAME, TYPE, WORD, NAN_BITS, BEFORE, JOIN)                                   \
    static inline TYPE NAME##_of(TYPE a, TYPE b)                                                   \
    {                                                                                              \
        const TYPE left = b BEFORE a ? b : a, right = a BEFORE b ? a : b;                          \
        TYPE result;                                                                               \
        WORD bits, others;                                                                         \
        memcpy(&bits, &left, sizeof(bits));                                                        \
        memcpy(&others, &right, sizeof(others));                                                   \
        const WORD is_nan = -(WORD)isunordered(a, b); /* all bits or none */                       \
        bits = ((bits JOIN others) & ~is_nan) | (NAN_BITS & is_nan);                               \
        memcpy(&result, &bits, sizeof(result));                                                    \
        return result;                                                                             \
    }                                                                                              \
    KERNEL(NAME, TYPE, NAME##_of(a, b))

#define FLOATING_KERNELS(SUFFIX, TYPE, WORD, NAN_BITS)                                             \
    NUMBER_KERNEL(sum_##SUFFIX, TYPE, a + b)                                                       \
    NUMBER_KERNEL(product_##SUFFIX, TYPE, a *b)                                                    \
    EXTREME_KERNEL(min_##SUFFIX, TYPE, WORD, NAN_BITS, <, |)                                       \
    EXTREME_KERNEL(max_##SUFFIX, TYPE, WORD, NAN_BITS, >, &)                                       \
    LOGICAL_KERNELS(SUFFIX, TYPE)

INTEGER_KERNELS(int8, int8_t, uint32_t)
INTEGER_KERNELS(int16, int16_t, uint32_t)
INTEGER_KERNELS(int32, int32_t, uint32_t)
INTEGER_KERNELS(int64, int64_t, uint64_t)
INTEGER_KERNELS(uint8, uint8_t, uint32_t)
INTEGER_KERNELS(uint16, uint16_t, uint32_t)
INTEGER_KERNELS(uint32, uint32_t, uint32_t)
INTEGER_KERNELS(uint64, uint64_t, uint64_t)
FLOATING_KERNELS(float, float, uint32_t, UINT32_C(0x7fc00000))
FLOATING_KERNELS(double, double, uint64_t, UINT64_C(0x7ff8000000000000))

/* The sum of complex elements is that of twice as many parts. Their product is written out: C's own
 * one calls a function that looks for infinite parts. */
#define COMPLEX_SUM(NAME, PART)                                                                    \
    static void sum_##NAME(void *result, const void *left, const void *right, size_t count)        \
    {                                                                                              \
        sum_##PART(result, left, right, 2 * count);                                                \
    }                                                                                              \
    static void sum_##NAME##_streamed(void *result, const void *left, const void *right,           \
                                      size_t count)                                                \
    {                                                                                              \
        sum_##PART##_streamed(result, left, right, 2 * count);                                     \
    }

struct float_complex {
    float real, imaginary;
};

struct double_complex {
    double real, imaginary;
};

#define COMPLEX_PRODUCT(NAME)                                                                      \
    KERNEL(product_##NAME, struct NAME,                                                            \
           ((struct NAME){a.real * b.real - a.imaginary * b.imaginary,                             \
                          a.real * b.imaginary + a.imaginary * b.real}))

COMPLEX_SUM(float_complex, float)
COMPLEX_SUM(double_complex, double)
COMPLEX_PRODUCT(float_complex)
COMPLEX_PRODUCT(double_complex)

#define NOT_OF_INTEGERS(VALUE) false

/* op.h says which of two elements it is. WORD is an unsigned type of the value's width. */
#define INDEXED_KERNELS(SUFFIX, WORD, IS_NAN, IS_MINUS)                                            \
    static inline bool is_lower_##SUFFIX(struct SUFFIX a, struct SUFFIX b)                         \
    {                                                                                              \
        WORD bits_a, bits_b;                                                                       \
        memcpy(&bits_a, &a.value, sizeof(bits_a));                                                 \
        memcpy(&bits_b, &b.value, sizeof(bits_b));                                                 \
        return b.index < a.index || (b.index == a.index && bits_b < bits_a);                       \
    }                                                                                              \
    /* LOW and HIGH are a and b, or b and a. */                                                    \
    static inline struct SUFFIX choose_##SUFFIX(struct SUFFIX a, struct SUFFIX b,                  \
                                                struct SUFFIX low, struct SUFFIX high) {           \
        bool is_nan = IS_NAN(a.value), is_other_nan = IS_NAN(b.value);                             \
        bool is_equal = a.value == b.value, is_minus = IS_MINUS(low.value);                        \
        bool is_other_minus = IS_MINUS(high.value), is_same = is_minus == is_other_minus;          \
        bool is_tie = is_nan == is_other_nan && (is_nan || (is_equal && is_same));                 \
        bool is_beaten = high.value < low.value || (is_equal && is_other_minus && !is_minus);      \
        bool is_b = is_nan != is_other_nan ? is_other_nan : is_beaten;                             \
        return (is_tie ? is_lower_##SUFFIX(a, b) : is_b) ? b : a;                                  \
    } KERNEL(minloc_##SUFFIX, struct SUFFIX, choose_##SUFFIX(a, b, a, b))                          \
        KERNEL(maxloc_##SUFFIX, struct SUFFIX, choose_##SUFFIX(a, b, b, a))

INDEXED_KERNELS(cohort_int32_indexed, uint32_t, NOT_OF_INTEGERS, NOT_OF_INTEGERS)
INDEXED_KERNELS(cohort_int64_indexed, uint64_t, NOT_OF_INTEGERS, NOT_OF_INTEGERS)
INDEXED_KERNELS(cohort_float_indexed, uint32_t, isnan, signbit)
INDEXED_KERNELS(cohort_double_indexed, uint64_t, isnan, signbit)

#define ENTRY(NAME)                                                                                \
    {                                                                                              \
        NAME, NAME##_streamed                                                                      \
    }

#define COMPARING_ROW(SUFFIX)                                                                      \
    [COHORT__KERNEL_SUM] = ENTRY(sum_##SUFFIX),                                                    \
    [COHORT__KERNEL_PRODUCT] = ENTRY(product_##SUFFIX),                                            \
    [COHORT__KERNEL_MIN] = ENTRY(min_##SUFFIX), [COHORT__KERNEL_MAX] = ENTRY(max_##SUFFIX),        \
    [COHORT__KERNEL_LOGICAL_AND] = ENTRY(logical_and_##SUFFIX),                                    \
    [COHORT__KERNEL_LOGICAL_OR] = ENTRY(logical_or_##SUFFIX),                                      \
    [COHORT__KERNEL_LOGICAL_XOR] = ENTRY(logical_xor_##SUFFIX)

#define BITWISE_ROW(SUFFIX)                                                                        \
    [COHORT__KERNEL_BITWISE_AND] = ENTRY(bitwise_and_##SUFFIX),                                    \
    [COHORT__KERNEL_BITWISE_OR] = ENTRY(bitwise_or_##SUFFIX),                                      \
    [COHORT__KERNEL_BITWISE_XOR] = ENTRY(bitwise_xor_##SUFFIX)

#define COMPLEX_ROW(SUFFIX)                                                                        \
    [COHORT__KERNEL_SUM] = ENTRY(sum_##SUFFIX), [COHORT__KERNEL_PRODUCT] = ENTRY(product_##SUFFIX)

#define INDEXED_ROW(SUFFIX)                                                                        \
    [COHORT__KERNEL_MINLOC] = ENTRY(minloc_##SUFFIX), [COHORT__KERNEL_MAXLOC] =                    \
                                                          ENTRY(maxloc_##SUFFIX)

cohort__kernel_row COHORT__KERNELS[COHORT__NUM_DATATYPES] = {
    [COHORT__DATATYPE_NUMBER(COHORT_BYTE)] = {BITWISE_ROW(uint8)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT8)] = {COMPARING_ROW(int8), BITWISE_ROW(int8)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT16)] = {COMPARING_ROW(int16), BITWISE_ROW(int16)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT32)] = {COMPARING_ROW(int32), BITWISE_ROW(int32)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT64)] = {COMPARING_ROW(int64), BITWISE_ROW(int64)},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT8)] = {COMPARING_ROW(uint8), BITWISE_ROW(uint8)},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT16)] = {COMPARING_ROW(uint16), BITWISE_ROW(uint16)},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT32)] = {COMPARING_ROW(uint32), BITWISE_ROW(uint32)},
    [COHORT__DATATYPE_NUMBER(COHORT_UINT64)] = {COMPARING_ROW(uint64), BITWISE_ROW(uint64)},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT)] = {COMPARING_ROW(float)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE)] = {COMPARING_ROW(double)},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT_COMPLEX)] = {COMPLEX_ROW(float_complex)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE_COMPLEX)] = {COMPLEX_ROW(double_complex)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT32_INDEXED)] = {INDEXED_ROW(cohort_int32_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_INT64_INDEXED)] = {INDEXED_ROW(cohort_int64_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_FLOAT_INDEXED)] = {INDEXED_ROW(cohort_float_indexed)},
    [COHORT__DATATYPE_NUMBER(COHORT_DOUBLE_INDEXED)] = {INDEXED_ROW(cohort_double_indexed)},
};
