/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_COPY_H
#define COHORT_RUNTIME_BASE_COPY_H

#include <stddef.h>

/* memcpy by plain loads and stores, for data that another core may have written just now. From some
 * KiB on, the C library uses the processor's string instruction, which is slow for such data: see
 * docs/measurements.md, "Whose cache a line is in". */
void cohort__copy(void *to, const void *from, size_t bytes);

/* The same, but past the caches where the machine can do that: TO is neither read into a cache
 * before nor kept in one. For much more data than the caches hold, and for a copier. */
void cohort__copy_past(void *to, const void *from, size_t bytes);

#endif
