/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CACHE_H
#define COHORT_RUNTIME_BASE_CACHE_H

#include <stddef.h>

/* The size in bytes of the largest cache of this host's first processor, whether that cache is
 * shared or not. If the kernel doesn't tell, a common size. Any thread. */
size_t cohort__cache_bytes(void);

/* A size as the kernel writes it, such as "32768K" or "1M", in bytes. Returns 0 if TEXT has another
 * form. */
size_t cohort__cache_read_size(const char *text);

#endif
