/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copier.h"

#include <stdint.h>
#include <string.h>

#include "runtime/base/clock.h"

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

static bool is_past(const struct cohort__copier *copier)
{
    return atomic_load_explicit(&copier->is_past, memory_order_relaxed);
}

bool cohort__copier_is_due(struct cohort__copier *copier, size_t bytes)
{
    uint32_t since = atomic_load_explicit(&copier->since, memory_order_relaxed);
    bool is_due = atomic_load_explicit(&copier->num_against, memory_order_relaxed) > 0 ||
                  since + bytes >= COHORT__COPIER_EVERY;
    atomic_store_explicit(&copier->since, is_due ? 0 : since + (uint32_t)bytes,
                          memory_order_relaxed);
    return is_due;
}

/* If the reader's core is near, data that was written past the caches takes longer to read: about
 * twice as long as to write. So writing past the caches is chosen only if it is twice as fast, and
 * is kept as long as it is 1.5 times as fast. */
void cohort__copier_judge(struct cohort__copier *copier, uint64_t plain, uint64_t past)
{
    bool was_past = is_past(copier);
    bool dissents = was_past ? plain < past + past / 2 : plain > 2 * past;
    uint32_t num_against = atomic_load_explicit(&copier->num_against, memory_order_relaxed);
    num_against = dissents ? num_against + 1 : 0;
    if (num_against >= COHORT__COPIER_TRIALS) {
        atomic_store_explicit(&copier->is_past, !was_past, memory_order_relaxed);
        num_against = 0;
    }
    atomic_store_explicit(&copier->num_against, num_against, memory_order_relaxed);
}

/* The fence makes sure that all stores are done before the time is taken. */
static uint64_t now(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return cohort__clock_now();
}

static void try(struct cohort__copier *copier, unsigned char *to, const unsigned char *from)
{
    uint64_t begin = now();
    cohort__copy_past(to, from, COHORT__COPIER_SAMPLE);
    uint64_t middle = now();
    memcpy(to + COHORT__COPIER_SAMPLE, from + COHORT__COPIER_SAMPLE, COHORT__COPIER_SAMPLE);
    uint64_t end = now();
    cohort__copier_judge(copier, end - middle, middle - begin);
}

void cohort__copier_copy(struct cohort__copier *copier, void *to, const void *from, size_t bytes)
{
    size_t at = 0;
    if (bytes >= COHORT__COPIER_LEAST && cohort__copier_is_due(copier, bytes)) {
        try(copier, to, from);
        at = (size_t)2 * COHORT__COPIER_SAMPLE;
    }
    if (bytes >= COHORT__COPIER_LEAST && is_past(copier))
        cohort__copy_past((char *)to + at, (const char *)from + at, bytes - at);
    else
        memcpy((char *)to + at, (const char *)from + at, bytes - at);
}
