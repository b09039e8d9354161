/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_CACHE_H
#define COHORT_RUNTIME_BASE_CACHE_H

#include <stddef.h>

/* The bytes of the largest cache that the first processor of this host has, alone or with others;
 * where the kernel doesn't tell, as many as are common. Any thread. */
size_t cohort__cache_bytes(void);

/* "32768K" or "1M", as the kernel puts it, in bytes; 0: TEXT is nothing like that. */
size_t cohort__cache_read_size(const char *text);

#endif
