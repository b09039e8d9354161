/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/copier.h"

#include <string.h>

#include "runtime/base/clock.h"
#include "runtime/base/copy.h"

static bool is_past(const struct cohort__pace *pace)
{
    return atomic_load_explicit(&pace->is_past, memory_order_relaxed);
}

bool cohort__pace_is_due(struct cohort__pace *pace, size_t bytes)
{
    uint32_t since = atomic_load_explicit(&pace->since, memory_order_relaxed);
    bool is_due = atomic_load_explicit(&pace->dissent, memory_order_relaxed) > 0 ||
                  since + bytes >= COHORT__PACE_EVERY;
    atomic_store_explicit(&pace->since, is_due ? 0 : since + (uint32_t)bytes, memory_order_relaxed);
    return is_due;
}

/* What is written past the caches takes longer to read, where the reader is near: twice what it
 * takes to write, about. So it has to be faster by that, and to stay so, by less. */
void cohort__pace_judge(struct cohort__pace *pace, uint64_t plain, uint64_t past)
{
    bool was_past = is_past(pace);
    bool dissents = was_past ? plain < past + past / 2 : plain > 2 * past;
    uint32_t dissent = atomic_load_explicit(&pace->dissent, memory_order_relaxed);
    dissent = dissents ? dissent + 1 : 0;
    if (dissent >= COHORT__PACE_TRIALS) {
        atomic_store_explicit(&pace->is_past, !was_past, memory_order_relaxed);
        dissent = 0;
    }
    atomic_store_explicit(&pace->dissent, dissent, memory_order_relaxed);
}

/* Stores are over when the time is taken. */
static uint64_t now(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    return cohort__clock_now();
}

static void try(struct cohort__pace *pace, unsigned char *to, const unsigned char *from)
{
    uint64_t begin = now();
    cohort__copy_past(to, from, COHORT__PACE_SAMPLE);
    uint64_t middle = now();
    memcpy(to + COHORT__PACE_SAMPLE, from + COHORT__PACE_SAMPLE, COHORT__PACE_SAMPLE);
    uint64_t end = now();
    cohort__pace_judge(pace, end - middle, middle - begin);
}

void cohort__pace_copy(struct cohort__pace *pace, void *to, const void *from, size_t bytes)
{
    size_t at = 0;
    if (bytes >= COHORT__PACE_LEAST && cohort__pace_is_due(pace, bytes)) {
        try(pace, to, from);
        at = (size_t)2 * COHORT__PACE_SAMPLE;
    }
    if (bytes >= COHORT__PACE_LEAST && is_past(pace))
        cohort__copy_past((char *)to + at, (const char *)from + at, bytes - at);
    else
        memcpy((char *)to + at, (const char *)from + at, bytes - at);
}
