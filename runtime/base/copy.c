/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copy.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = 64 };

void cohort__copy(void *to, const void *from, size_t bytes)
{
    typedef uint64_t part __attribute__((vector_size(16), aligned(1), may_alias));
    enum { PARTS = 4 };
    size_t at;
    for (at = 0; bytes - at >= PARTS * sizeof(part); at += PARTS * sizeof(part)) {
        const part *source = (const part *)(const void *)((const char *)from + at);
        part *target = (part *)(void *)((char *)to + at);
        part a = source[0], b = source[1], c = source[2], d = source[3];
        target[0] = a;
        target[1] = b;
        target[2] = c;
        target[3] = d;
    }
    memcpy((char *)to + at, (const char *)from + at, bytes - at);
}

#ifdef __SSE2__
/* TO is the beginning of a cache line. */
static void write_line(char *to, const char *from)
{
    __m128i parts[LINE / sizeof(__m128i)];
    for (size_t i = 0; i < LINE / sizeof(__m128i); i++)
        parts[i] = _mm_loadu_si128((const __m128i *)(const void *)from + i);
    for (size_t i = 0; i < LINE / sizeof(__m128i); i++)
        _mm_stream_si128((__m128i *)(void *)to + i, parts[i]);
}

void cohort__copy_past(void *to, const void *from, size_t bytes)
{
    size_t at = -(uintptr_t)to % LINE;
    if (at > bytes)
        at = bytes;
    memcpy(to, from, at);
    for (; bytes - at >= LINE; at += LINE)
        write_line((char *)to + at, (const char *)from + at);
    memcpy((char *)to + at, (const char *)from + at, bytes - at);
    _mm_sfence(); /* as with plain stores: a thread that sees a later store sees these, too */
}
#else
void cohort__copy_past(void *to, const void *from, size_t bytes)
{
    cohort__copy(to, from, bytes);
}
#endif
