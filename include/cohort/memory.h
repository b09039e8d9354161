/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_MEMORY_H
#define COHORT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory that the other localities of this host can read where it is. Collectives take any memory;
 * a large block from here they need not copy into memory that the localities share, but others read
 * it out of this one: one copy instead of two, from some 32 KiB on. The results are the same. How
 * much time that saves depends on the machine, and on what is written between calls: a line that
 * another core has read is slower to write again (docs/performance.md has both). Measure it.
 *
 * What is different: a call whose input is lent like that ends when the others have read it; so a
 * root waits for them, as it does where localities are on several hosts. As in any call, an input
 * belongs to the call until it ends. Where localities take turns on their cores, inputs are copied
 * as before.
 *
 * It is ordinary memory where there is nobody to share it with: in a job of one locality, where
 * COHORT_NET is ofi, and where the size of address space is limited (ulimit -v). The same functions
 * do there. */

/* BYTES bytes of memory, whatever they hold, to read and to write, which begin at a multiple of 64,
 * and from 2 MiB on at one of 2 MiB, where the kernel may use huge pages. What is shared takes
 * whole pages. It takes no memory before it is first written, from the NUMA node of who does. It
 * costs system calls: allocate once what is used often. The caller owns it until it gives it back,
 * which is to be done before the runtime ends: what is left then is gone.
 *
 * Any thread, also outside of tasks. Does not suspend.
 *
 * COHORT_ERR_BAD_PARAMETER: RET_MEMORY is NULL, BYTES is 0. COHORT_ERR_STATE: the runtime is not
 * up, or this is a child that was forked while it was. COHORT_ERR_NO_MEMORY: also if it would be
 * more than COHORT_MEMORY_MIB says in all; by default the localities of a host may have half of its
 * memory together, in equal parts. *RET_MEMORY is untouched on failure. */
COHORT_API cohort_status cohort_memory_alloc(void **ret_memory, size_t bytes) COHORT_MUST_USE;

/* Gives MEMORY back, which cohort_memory_alloc has returned; the system gets its pages. No call may
 * be using it. NULL is fine. An address within the memory of these functions at which none begins,
 * as of what was given back before, ends the program, with a line that says so. A child that was
 * forked shares such memory with its parent, and gives nothing back.
 *
 * Any thread. Does not suspend. */
COHORT_API void cohort_memory_free(void *memory);

/* Memory of a locality that others read and write by themselves (MPI: one-sided access). The owner
 * shares it, sends the handle to whom it likes, and need do nothing more: within a host others read
 * and write it where it is. From another host, and where there is only ordinary memory (see above),
 * a worker of the owner is asked, as for a remote task (cohort/remote.h): there an owner whose
 * tasks compute without a pause is late. The same functions do everywhere. */

/* Names memory of a locality. It is data: send it in any way, as it is. To be read: whose memory it
 * is, and how many bytes it has. The rest is the library's. */
typedef struct cohort_memory_handle {
    uint32_t locality;
    uint32_t reserved;
    uint64_t bytes;
    uint64_t of_the_library[5];
} cohort_memory_handle;

/* Writes a handle of BYTES bytes from MEMORY on to *ret_handle: of a block that cohort_memory_alloc
 * has returned in this locality, or of a part of one. It is good until the block is given back.
 * Then what is asked for with it is refused, also if the memory is another block's by then; but an
 * operation that is under way at that time is a mistake of the program, as any use is. A block may
 * be shared in any number of parts, and as often as one likes: only its first time costs something,
 * in a host the very first one 64 KiB of the memory that a locality may have.
 *
 * Any thread, also outside of tasks. Does not suspend.
 *
 * COHORT_ERR_BAD_PARAMETER: ret_handle is NULL, or MEMORY is not BYTES bytes of one block.
 * COHORT_ERR_STATE: the runtime is not up, or this is a child that was forked while it was. */
COHORT_API cohort_status cohort_memory_share(cohort_memory_handle *ret_handle, const void *memory,
                                             size_t bytes) COHORT_MUST_USE;

/* Get copies BYTES bytes at OFFSET of HANDLE's memory to TO; put copies as many from FROM there;
 * add adds VALUE to the 64-bit number at OFFSET, whose address has to be a multiple of 8, modulo
 * 2^64, and writes what it was before to *ret_before, unless that is NULL.
 *
 * *HANDLE is read by the call. TO, FROM and ret_before, any memory, belong to the operation until
 * the future completes, whoever drops it. Up to 64 KiB within a host, or in this locality, all is
 * done by the call itself, and the future is complete. All else is done by a task, as of
 * cohort_async: it begins when a worker comes to it, and counts in the scope of the calling task
 * (cohort/scope.h). If that is cancelled, what has not begun is not done, and a long copy ends
 * early. Any number may be under way. The job does not end before.
 *
 * What is seen when: a put, and an add, is done when its future is complete. From then on whoever
 * has heard of that in any way of this library (a message, a collective, a future) sees it: with
 * get, or the owner with plain reads. So does a get see what the owner has written before the
 * caller has heard of it. Operations in flight have no order, not even two of one task: await what
 * has to come before. Adds are atomic, with all others and with atomic operations of the owner, and
 * sequentially consistent; so are gets and puts of 8 bytes at a multiple of 8. In all others each
 * byte is by itself: if somebody writes while another one reads or writes the same bytes, it is not
 * said what is read, or is there then. After an error, part of a put may be there, and an add may
 * have been done or not.
 *
 * The future holds COHORT_ERR_BAD_PARAMETER (a handle that none has made in this job; bytes that
 * HANDLE does not have; no TO or FROM for bytes; an add that is not at a multiple of 8),
 * COHORT_ERR_GONE (the block was given back), COHORT_ERR_PEER_DIED (the owner has died; its memory
 * is refused from the time on when that is known here, also where this host still has it),
 * COHORT_ERR_CANCELLED (the scope, or the end of the runtime), COHORT_ERR_NO_MEMORY,
 * COHORT_ERR_NETWORK, COHORT_ERR_PROTOCOL or COHORT_ERR_STATE, as of cohort_async_at. The message
 * names the locality. Any thread; never suspends. */
COHORT_API cohort_future *cohort_memory_get(const cohort_memory_handle *handle, size_t offset,
                                            void *to, size_t bytes) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_memory_put(const cohort_memory_handle *handle, size_t offset,
                                            const void *from, size_t bytes) COHORT_MUST_USE;
COHORT_API cohort_future *cohort_memory_add(const cohort_memory_handle *handle, size_t offset,
                                            uint64_t value, uint64_t *ret_before) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
