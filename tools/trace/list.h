/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: lists that grow. */
#ifndef COHORT_TOOLS_TRACE_LIST_H
#define COHORT_TOOLS_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for one more in *LIST, a pointer to the first of NUM elements of BYTES. False: no
 * memory. */
static inline bool list_grow(void *list, size_t num, size_t bytes)
{
    void *old;
    if (num & (num - 1))
        return true;
    memcpy(&old, list, sizeof(old));
    void *larger = realloc(old, (num ? 2 * num : 1) * bytes);
    if (larger)
        memcpy(list, &larger, sizeof(larger));
    return larger != NULL;
}

#endif
