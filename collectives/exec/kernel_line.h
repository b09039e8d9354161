/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_EXEC_KERNEL_LINE_H
#define COHORT_COLLECTIVES_EXEC_KERNEL_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#endif
