/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_H
#define COHORT_RUNTIME_NET_SHM_H

#include "runtime/net/board.h"
#include "runtime/net/heap.h"
#include "runtime/net/hub.h"
#include "runtime/net/net.h"
#include "runtime/net/notes.h"

/* How fetches copy. */
enum cohort__shm_copy {
    COHORT__SHM_STREAM, /* through the ring, in pieces: both sides copy, at the same time */
    COHORT__SHM_DIRECT, /* by process_vm_readv where it is allowed, else through the ring; only the
                         * fetching side has to run */
};

/* A transport through the memory of HUB, as the locality in SLOT. HUB belongs to the transport,
 * also on failure. It has to be created before the others learn this end's address. SLOT may be
 * used again after all localities have destroyed their transports.
 *
 * The transport doesn't notice the death of a peer. Code that does notice it has to remove the
 * peer. */
cohort_status cohort__shm_create(const struct cohort__net_handlers *handlers,
                                 struct cohort__hub *hub, uint32_t slot, enum cohort__shm_copy copy,
                                 struct cohort__net **ret_net);

/* Whether ADDRESS belongs to an end that shares memory with NET, which was made by
 * cohort__shm_create. */
bool cohort__shm_shares(const struct cohort__net *net, const void *address, size_t bytes);

/* The functions below are for boards and heaps in the shared memory of NET, which was made by
 * cohort__shm_create. Any thread. */

/* The slots of this end and of a peer. False: the peer doesn't share the memory. */
uint32_t cohort__shm_own_slot(const struct cohort__net *net);
bool cohort__shm_slot_of(struct cohort__net *net, uint32_t peer, uint32_t *ret_slot);
/* Whether that slot is that peer's, at no more cost than two loads. */
bool cohort__shm_is_peer(const struct cohort__net *net, uint32_t slot, uint32_t peer);
/* Its slot, also of a peer that was removed. */
bool cohort__shm_slot_ever(struct cohort__net *net, uint32_t peer, uint32_t *ret_slot);

/* SLOT has died: the memory of its rings goes back to the system when the peer is removed. */
void cohort__shm_died(struct cohort__net *net, uint32_t slot);

/* Memory of this end's that others may read where it is. */
struct cohort__heap *cohort__shm_heap(struct cohort__net *net);

/* Whether each locality has cores of its own, so that it runs while others do. */
bool cohort__shm_has_cores(const struct cohort__net *net);

/* Before it is used: all its blocks together may have BYTES; else half of the memory of this host,
 * shared equally. */
void cohort__shm_limit_heap(struct cohort__net *net, uint64_t bytes);

/* What SLOT has OFFSET bytes behind the beginning of its heap: BYTES, which this end may only read.
 * It stays mapped, whatever becomes of SLOT. NULL, with the error set: COHORT_ERR_PROTOCOL, that
 * can't be in a heap; COHORT_ERR_NO_MEMORY, COHORT_ERR_SYSTEM. */
const unsigned char *cohort__shm_heap_read(struct cohort__net *net, uint32_t slot, uint64_t offset,
                                           size_t bytes);

/* The same to be written, too: a mapping of its own, for who does that. */
unsigned char *cohort__shm_heap_write(struct cohort__net *net, uint32_t slot, uint64_t offset,
                                      size_t bytes);

/* SLOT's process has ended, and the job goes on: gives the memory of its heap back to the system.
 */
void cohort__shm_heap_end(struct cohort__net *net, uint32_t slot);

/* Whether some locality has done that. Who has read there looks at it behind a fence: what was read
 * before is what was there. */
bool cohort__shm_heap_is_gone(const struct cohort__net *net, uint32_t slot);

/* The board of communicator NUMBER, below COHORT__SHM_NUM_COMMS. */
cohort_status cohort__shm_board_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__board *ret_board);
void cohort__shm_board_close(struct cohort__board *board);

/* Gives the memory of the first BYTES bytes of SLOT's arena back to the system,
 * except for pages that are shared with what is before and behind. They are zero after that. False:
 * the system does not take it. */
bool cohort__shm_board_free(const struct cohort__board *board, uint32_t slot, size_t bytes);

/* The notes of communicator NUMBER. */
cohort_status cohort__shm_notes_open(struct cohort__net *net, uint32_t number,
                                     struct cohort__notes *ret_notes);
void cohort__shm_notes_close(struct cohort__notes *notes);

/* Makes those of SLOT zero, and gives their memory back to the system if it takes it. */
void cohort__shm_notes_clear(const struct cohort__notes *notes, uint32_t slot);

/* Wakes those of the NUM slots that sleep, so that they look at what this thread has written before
 * the call. */
void cohort__shm_alert(struct cohort__net *net, const uint32_t *slots, uint32_t num);

#endif
