/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_COPY_H
#define COHORT_RUNTIME_BASE_COPY_H

#include <stddef.h>

/* memcpy by plain loads and stores, for what another core may have written just now. The C library
 * takes the processor's instruction for copying strings from some KiB on, which is slow at that:
 * docs/performance.md, "Whose cache a line is in". */
void cohort__copy(void *to, const void *from, size_t bytes);

/* The same past the caches, where the machine can do that: TO is neither read first nor kept there.
 * For much more than the caches hold. */
void cohort__copy_past(void *to, const void *from, size_t bytes);

#endif
