/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_COPIER_H
#define COHORT_RUNTIME_BASE_COPIER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies to where another core will read, in the way that is faster now: plainly or past the
 * caches.
 *
 * A plain store first has the line taken from whichever cache holds what was there, so that of the
 * core which has read it. Where that core is near, this costs little, and what is written is read
 * from a cache again. Where it is far (the host of a virtual machine may put its cores
 * apart) it costs ten times as much as to write past the caches, while it takes as
 * long to read either. So it is the writer that can tell: now and then it writes a sample of what
 * it copies in each way, and takes the time. Several trials in a row for the other way change it.
 *
 * All zero: plainly. Several threads may use it at a time: each word is whole, and a trial too many
 * or too few does no harm. */
struct cohort__copier {
    _Atomic bool is_past;         /* past the caches */
    _Atomic uint32_t num_against; /* trials in a row that were for the other way */
    _Atomic uint32_t since;       /* bytes that were written since the last trial */
};

enum {
    COHORT__COPIER_SAMPLE = 4096,
    COHORT__COPIER_LEAST = 2 * COHORT__COPIER_SAMPLE, /* less is always written plainly */
    COHORT__COPIER_EVERY = 4 << 20,                   /* bytes between two trials */
    COHORT__COPIER_TRIALS = 3,                        /* in a row, for the way to change */
};

/* memcpy, in the way that COPIER has come to. */
void cohort__copier_copy(struct cohort__copier *copier, void *to, const void *from, size_t bytes);

/* Whether there is to be a trial with the next BYTES, which are counted. */
bool cohort__copier_is_due(struct cohort__copier *copier, size_t bytes);

/* A trial: what a sample has taken in each way, in any unit. */
void cohort__copier_judge(struct cohort__copier *copier, uint64_t plain, uint64_t past);

#endif
