/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "runtime/base/fault.h"

/* What the linker calls instead of the C library's functions in libcohort.so (--wrap), where alone
 * this file is. Nothing is asked while nothing is counted. */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t num, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t num, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static __attribute__((constructor)) void is_linked(void)
{
    cohort__alloc_can_fail = true;
}

static inline bool fails(void)
{
    return __builtin_expect(atomic_load_explicit(&cohort__alloc_is_counted, memory_order_relaxed),
                            0) &&
           cohort__alloc_fails();
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t num, size_t bytes)
{
    return fails() ? NULL : __real_calloc(num, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}
