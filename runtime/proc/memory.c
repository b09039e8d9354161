/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/base/error.h"
#include "runtime/base/hash.h"
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

/* False: it is in HEAP, and no block begins there. */
static bool give_back(struct cohort__heap *heap, void *memory)
{
    uint64_t offset;
    if (heap && cohort__heap_has(heap, memory, &offset))
        return cohort__heap_free(heap, memory);
    free(memory);
    return true;
}

cohort_status cohort__memory_alloc_for(struct cohort__process *process, void **ret_memory,
                                       size_t bytes)
{
    struct cohort__heap *heap = is_space_limited() ? NULL : heap_of(process);
    void *memory = NULL;
    cohort_status status =
        heap ? cohort__heap_alloc(heap, &memory, bytes) : alloc_ordinary(&memory, bytes);
    if (status)
        return heap ? cohort_fail(status, "cohort_memory_alloc: %s", cohort_error_message())
                    : status;
    if (!cohort__blocks_add(&process->blocks, memory, bytes)) {
        give_back(heap, memory);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_memory_alloc: no memory for a block");
    }
    *ret_memory = memory;
    return COHORT_OK;
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
    const bool is_known = process && cohort__blocks_remove(&process->blocks, memory);
    uint64_t offset;
    const bool is_in_heap = heap && cohort__heap_has(heap, memory, &offset);
    if ((is_in_heap && !is_known) || !give_back(heap, memory))
        cohort__misuse_of("memory", memory, "",
                          "no block begins there, or it was given back before",
                          "cohort_memory_free", NULL);
}

void cohort_memory_free(void *memory)
{
    if (!cohort__fork_is_child())
        cohort__memory_free_for(cohort__process_current(), memory);
}

/* Behind the name in a handle: that it is one of the job, and nobody has changed it. */
enum { SEAL = sizeof(struct cohort__block_name) / sizeof(uint64_t) };
_Static_assert(sizeof(((cohort_memory_handle *)NULL)->of_the_library) / sizeof(uint64_t) ==
                   SEAL + 1,
               "it is all of it");

/* The same for all that a handle says, so that nothing of it can be taken for that of another. Each
 * operation computes it: so the products do not wait for each other. */
static uint64_t seal_of(const struct cohort__process *process, const cohort_memory_handle *handle,
                        const struct cohort__block_name *name)
{
    const uint64_t words[] = {process->options.job_key,
                              process->options.epoch,
                              handle->locality | (uint64_t)handle->reserved << 32,
                              handle->bytes,
                              name->id,
                              name->offset,
                              name->in_heap,
                              name->word};
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15); /* odd: a word that differs is seen */
    uint64_t sum = 0, factor = 1;
#pragma GCC unroll 8
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        factor *= step;
        sum += words[i] * factor;
    }
    return cohort__hash_u64(sum);
}

bool cohort__memory_name(const struct cohort__process *process, const cohort_memory_handle *handle,
                         struct cohort__block_name *ret_name)
{
    memcpy(ret_name, handle->of_the_library, sizeof(*ret_name));
    return handle->locality < process->options.size &&
           handle->of_the_library[SEAL] == seal_of(process, handle, ret_name);
}

/* In a handle's place that is reserved: where peers of this host look for the heap. */
static uint32_t own_slot(const struct cohort__process *process)
{
    struct cohort__net *near = process->net ? process->net->near : NULL;
    return near ? cohort__shm_own_slot(near) : 0;
}

cohort_status cohort__memory_share_for(struct cohort__process *process,
                                       cohort_memory_handle *ret_handle, const void *memory,
                                       size_t bytes)
{
    struct cohort__block_name name;
    if (!cohort__blocks_share(&process->blocks, heap_of(process), memory, bytes, &name))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_memory_share: %p is not %zu bytes of a block of "
                           "cohort_memory_alloc",
                           memory, bytes);
    *ret_handle = (cohort_memory_handle){
        .locality = process->options.rank, .reserved = own_slot(process), .bytes = bytes};
    memcpy(ret_handle->of_the_library, &name, sizeof(name));
    ret_handle->of_the_library[SEAL] = seal_of(process, ret_handle, &name);
    return COHORT_OK;
}

cohort_status cohort_memory_share(cohort_memory_handle *ret_handle, const void *memory,
                                  size_t bytes)
{
    struct cohort__process *process = cohort__process_current();
    if (!ret_handle)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_memory_share: ret_handle is NULL");
    if (cohort__fork_is_child())
        return cohort__fork_refuse("cohort_memory_share");
    if (!process)
        return cohort_fail(COHORT_ERR_STATE, "cohort_memory_share: the runtime is not up");
    return cohort__memory_share_for(process, ret_handle, memory, bytes);
}
