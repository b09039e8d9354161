/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_MEMORY_FILE_H
#define COHORT_RUNTIME_BASE_MEMORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that processes share, as a file without a name in any directory: nothing is left over,
 * whichever process is killed. Pages that nobody has written take no memory. */

/* A new one of BYTES, closed on exec, that begins with the HEAD_BYTES at HEAD. It is sealed:
 * nobody can change its size, so nobody can cut off what others have mapped. NAME is for those who
 * look at /proc. Returns its descriptor; or -1 with errno, and *ret_what is what has failed. */
int cohort__memory_file_create(const char *name, uint64_t bytes, const void *head,
                               size_t head_bytes, const char **ret_what);

/* Whether MEMORY is such a file, of at least BYTES. */
bool cohort__memory_file_holds(int memory, uint64_t bytes);

#endif
