/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_COPIER_H
#define COHORT_RUNTIME_BASE_COPIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* memcpy by plain loads and stores, for data that another core may have written just now. From some
 * KiB on, the C library uses the processor's string instruction, which is slow for such data: see
 * docs/measurements.md, "Whose cache a line is in". */
void cohort__copy(void *to, const void *from, size_t bytes);

/* The same, but past the caches where the machine can do that: TO is neither read into a cache
 * before nor kept in one. For much more data than the caches hold, and for a copier. */
void cohort__copy_past(void *to, const void *from, size_t bytes);

/* Copies data that another core will read, in the way that is faster at the moment: with plain
 * stores, or past the caches.
 *
 * Before a plain store, the processor fetches the cache line from the cache that holds it, which is
 * that of the core that has read the old data. If that core is near, this costs little, and the
 * reader then finds the new data in a cache. If that core is far (the host of a virtual machine may
 * place its cores far from each other), a plain store costs ten times as much as writing past the
 * caches, while reading takes the same time for both. So only the writer can see which way is
 * better. Now and then it writes one sample in each way and measures the time. When several trials
 * in a row speak for the other way, the copier changes to it.
 *
 * All zero is valid and means plain stores. Several threads may use a copier at the same time: each
 * field is atomic by itself, and a trial too many or too few does no harm. */
struct cohort__copier {
    _Atomic bool is_past;         /* whether it writes past the caches */
    _Atomic uint32_t num_against; /* trials in a row that spoke for the other way */
    _Atomic uint32_t since;       /* bytes written since the last trial */
};

enum {
    COHORT__COPIER_SAMPLE = 4096,
    COHORT__COPIER_LEAST = 2 * COHORT__COPIER_SAMPLE, /* less is always copied by plain stores */
    COHORT__COPIER_EVERY = 4 << 20,                   /* bytes between two trials */
    COHORT__COPIER_TRIALS = 3,                        /* in a row, before the way changes */
};

/* memcpy, in the way that COPIER has chosen. */
void cohort__copier_copy(struct cohort__copier *copier, void *to, const void *from, size_t bytes);

/* Whether the next BYTES are to be used for a trial. Adds them to the count since the last
 * trial. */
bool cohort__copier_is_due(struct cohort__copier *copier, size_t bytes);

/* The result of a trial: how long a sample took in each way, in any unit. */
void cohort__copier_judge(struct cohort__copier *copier, uint64_t plain, uint64_t past);

#endif
