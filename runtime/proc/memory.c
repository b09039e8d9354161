/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/base/error.h"
#include "runtime/base/misuse.h"
#include "runtime/net/shm.h"
#include "runtime/proc/peer.h"
#include "runtime/task/fork.h"

/* Where address space is limited, the memory of others could not be mapped, nor much be reserved.
 */
static bool is_space_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* NULL: there is nobody to share it with. */
static struct cohort__heap *heap_of(const struct cohort__process *process)
{
    struct cohort__net *near = process && process->net ? process->net->near : NULL;
    return near ? cohort__shm_heap(near) : NULL;
}

static cohort_status alloc_ordinary(void **ret_memory, size_t bytes)
{
    const bool is_large = bytes >= COHORT__HEAP_HUGE;
    if (posix_memalign(ret_memory, is_large ? COHORT__HEAP_HUGE : 64, bytes))
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_memory_alloc: no memory for %zu bytes",
                           bytes);
    if (is_large)
        (void)madvise(*ret_memory, bytes, MADV_HUGEPAGE);
    return COHORT_OK;
}

cohort_status cohort__memory_alloc_for(struct cohort__process *process, void **ret_memory,
                                       size_t bytes)
{
    struct cohort__heap *heap = heap_of(process);
    if (!heap || is_space_limited())
        return alloc_ordinary(ret_memory, bytes);
    cohort_status status = cohort__heap_alloc(heap, ret_memory, bytes);
    return status ? cohort_fail(status, "cohort_memory_alloc: %s", cohort_error_message()) : status;
}

cohort_status cohort_memory_alloc(void **ret_memory, size_t bytes)
{
    struct cohort__process *process = cohort__process_current();
    if (!ret_memory || bytes == 0)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_memory_alloc: %s",
                           ret_memory ? "0 bytes" : "ret_memory is NULL");
    if (cohort__fork_is_child())
        return cohort__fork_refuse("cohort_memory_alloc");
    if (!process)
        return cohort_fail(COHORT_ERR_STATE, "cohort_memory_alloc: the runtime is not up");
    return cohort__memory_alloc_for(process, ret_memory, bytes);
}

void cohort__memory_free_for(struct cohort__process *process, void *memory)
{
    struct cohort__heap *heap = heap_of(process);
    uint64_t offset;
    if (!heap || !cohort__heap_has(heap, memory, &offset))
        free(memory);
    else if (!cohort__heap_free(heap, memory))
        cohort__misuse_of("memory", memory, "",
                          "no block begins there, or it was given back before",
                          "cohort_memory_free", NULL);
}

void cohort_memory_free(void *memory)
{
    if (!cohort__fork_is_child())
        cohort__memory_free_for(cohort__process_current(), memory);
}
