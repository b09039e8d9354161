/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_END_H
#define COHORT_RUNTIME_NET_SHM_END_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/copier.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/net/heap.h"
#include "runtime/net/ring.h"
#include "runtime/net/shm.h"
#include "runtime/net/shm_memory.h"
#include "runtime/wire/envelope.h"

/* One end of shared memory, shared by the shm_*.c.
 *
 * `lock` guards everything unless a comment says otherwise. It is held while something is written
 * into a ring. Handlers are called without it. Incoming records are read without it, since only
 * progress reads them. If something can't be done at once, the peer is put into the list
 * `deferred`, and progress does it later. */
enum {
    COHORT__SHM_MAX_MESSAGE = 8192 + 128, /* longer payload is fetched */
    COHORT__SHM_HEAD_WORDS = COHORT__ENVELOPE_BYTES / 8,
    COHORT__SHM_MAX_FETCH = 1 << 20,
    COHORT__SHM_MAX_FETCHES = 4,
    COHORT__SHM_CHUNK = 16384 - sizeof(struct cohort__ring_record), /* one piece of a fetch */
    COHORT__SHM_TURN_BYTES = 128 * 1024,   /* of pieces that progress writes or reads in one turn */
    COHORT__SHM_DIRECT_SLICE = 256 * 1024, /* bytes that process_vm_readv reads at a time */
};

/* The kinds of records. The first three are in the rings for messages, the others in the bulk
 * rings. */
enum cohort__shm_kind {
    COHORT__SHM_MESSAGE,
    COHORT__SHM_ABRIDGED, /* a message: those words of its head that differ from the last message's
                           * head (each has a bit in `word`), and what follows the head */
    COHORT__SHM_REQUEST,  /* its data is a struct cohort__shm_request */
    COHORT__SHM_PIECE,    /* the next bytes of the oldest fetch that was requested */
    COHORT__SHM_REFUSAL,  /* this fetch can't be served: no such block */
};

struct cohort__shm_request {
    uint64_t region;
    uint64_t offset;
    uint64_t bytes;
};

/* A block that peers may fetch from. */
struct cohort__shm_region {
    struct cohort__map_node node; /* by id */
    uint64_t id;
    const unsigned char *base;
    size_t bytes;
    uint32_t num_streams;
};

/* Something that this end fetches. */
struct cohort__shm_fetch {
    struct cohort__list link;
    struct cohort__shm_request request;
    uint64_t address;          /* of its first byte in the owner's memory */
    const unsigned char *lent; /* the same, where this end can read it; NULL: it can't */
    unsigned char *destination;
    size_t done;
    void *cookie;
    cohort_status status; /* not COHORT_OK: it has only to be reported */
    bool is_requested;    /* counted in `num_requested` */
};

/* Something that a peer fetches here. */
struct cohort__shm_stream {
    struct cohort__list link;
    struct cohort__shm_region *region; /* NULL: to be refused */
    const unsigned char *next;
    size_t left;
};

struct cohort__shm_peer {
    struct cohort__shm *shm;
    uint32_t number;
    uint32_t slot;
    _Atomic bool is_dead;              /* removed or lost: nothing is sent to it or read from it */
    const char *why;                   /* for the call of `unreachable`; NULL: none is due */
    bool is_blocked;                   /* a sender waits for `writable` */
    bool may_read;                     /* process_vm_readv works, as far as we know */
    struct cohort__ring_writer writer; /* ring NULL: not mapped yet */
    uint64_t head_written[COHORT__SHM_HEAD_WORDS]; /* of the last message; at first all zero */
    struct cohort__list deferred;                  /* in `deferred` */
    struct cohort__list reads;                     /* fetches without the owner's help */
    struct cohort__list unasked;                   /* fetches whose request had no room */
    struct cohort__list fetches;                   /* requested, in this order */
    struct cohort__list streams;                   /* blocks to be written for it, in this order */
    struct cohort__ring_reader reader;             /* progress only, like head_read */
    uint64_t head_read[COHORT__SHM_HEAD_WORDS];
    /* Bulk rings. The first request maps them. The reader writes the request, so it makes the ring
     * empty before that. bulk_reader: once it is mapped, only progress uses it. */
    struct cohort__ring_writer bulk_writer;
    struct cohort__copier copier; /* for what is written there */
    struct cohort__ring_reader bulk_reader;
};

/* The beginning of a peer's heap, mapped to be read, or also to be written. What is behind it is
 * mapped by another one, of twice the size or more, since somebody may be reading here. */
struct cohort__shm_window {
    unsigned char *base;
    size_t bytes;
    struct cohort__shm_window *before; /* a smaller one of the same peer and kind, or NULL */
};

enum { COHORT__SHM_NONE = UINT32_MAX };

struct cohort__shm {
    struct cohort__net net;
    struct cohort__hub *hub;
    uint32_t slot;
    enum cohort__shm_copy copy;
    unsigned char *common; /* the mapped head and slots */
    struct cohort__shm_slot *own;
    struct cohort__heap heap; /* this end's */
    /* The heaps of others, as far as they were read, and behind these as far as they were written.
     * By slot; NULL: not yet. */
    _Atomic(struct cohort__shm_window *) *windows;
    uint64_t pid_space;
    _Atomic bool has_deferred;
    pthread_mutex_t lock;
    uint64_t next_region;
    struct cohort__map regions;
    struct cohort__list deferred;
    /* The peers that were added. A locality talks with only a few of thousands of peers. So the
     * struct of a peer is made when one of the two first calls the other. */
    uint32_t num_numbers;
    uint32_t *slots;                     /* by number; COHORT__SHM_NONE: not added, or removed */
    uint32_t *numbers;                   /* by slot; COHORT__SHM_NONE: not added */
    _Atomic uint32_t *peers;             /* the same, and not removed; read without the lock */
    struct cohort__shm_peer **by_number; /* NULL: not made, or removed */
    struct cohort__shm_peer **by_slot;   /* NULL: not made */
    _Atomic bool *has_died;              /* by slot: told so by cohort__shm_died */
    /* Progress only: the peers that have begun a ring to this locality. */
    uint32_t num_callers;
    struct cohort__shm_peer **callers;
    unsigned char incoming[COHORT__SHM_MAX_MESSAGE]; /* an abridged message, in full */
    /* The peers with a bulk ring to this locality. Progress looks at these rings while something is
     * still to come. It reads this array without the lock: entries are only added. */
    _Atomic uint32_t num_sources;
    struct cohort__shm_peer **sources;
    _Atomic uint32_t num_requested; /* fetches that were requested and have not ended yet */
};

struct cohort__shm_slot *cohort__shm_slot(const struct cohort__shm *shm, uint32_t slot);

/* Map the rings FROM -> TO: for messages, and for bulk. NULL with the error set. */
void *cohort__shm_ring_map(const struct cohort__shm *shm, uint32_t from, uint32_t to);
void *cohort__shm_bulk_map(const struct cohort__shm *shm, uint32_t from, uint32_t to);

/* Wakes the locality in SLOT if it sleeps. To be called after something was put where it looks. */
void cohort__shm_ring_bell(const struct cohort__shm *shm, uint32_t slot);
/* Wakes this locality, whatever `sleeping` says: the process that has cleared it may have died
 * before it rang the bell. */
void cohort__shm_wake(const struct cohort__shm *shm);
/* The same as ring_bell, for a caller that has just made a fence. */
void cohort__shm_rouse(const struct cohort__shm *shm, uint32_t slot);

/* The peer, with a ring to it. NULL: it is dead, or was never added, or there is no memory for
 * it. */
struct cohort__shm_peer *cohort__shm_peer_get(struct cohort__shm *shm, uint32_t number);

/* What is said of a message to NUMBER, for which that was NULL. With the lock held. */
enum cohort__net_sent cohort__shm_peer_missing(const struct cohort__shm *shm, uint32_t number);
/* The peer in SLOT, which is made if necessary. NULL: not added, removed before it was made, or no
 * memory. */
struct cohort__shm_peer *cohort__shm_peer_at(struct cohort__shm *shm, uint32_t slot);
void cohort__shm_peer_lose(struct cohort__shm_peer *peer, const char *why);
/* Gives the memory of the rings to and from PEER back to the system, which has died. Progress only.
 */
void cohort__shm_peer_free_rings(struct cohort__shm_peer *peer);
/* Puts PEER into `deferred`, for progress to look at. Outside of progress the caller has to wake
 * progress, too. */
void cohort__shm_defer(struct cohort__shm_peer *peer);

bool cohort__shm_write_message(struct cohort__shm_peer *peer, const struct iovec *parts,
                               int num_parts);

/* Where a block is, as its token says. */
struct cohort__shm_place {
    uint64_t region;
    uint64_t address;
    uint64_t bytes;
    uint64_t lent; /* 1 more than the offset in the owner's heap; 0: it is not there */
};

/* Fetching from peers. */
enum cohort__net_sent cohort__shm_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie);
/* Reports all fetches from PEER as ended with STATUS. With the lock held, but released in
 * between. */
void cohort__shm_fetches_end(struct cohort__shm_peer *peer, cohort_status status);

/* Being fetched from. */
cohort_status cohort__shm_expose(struct cohort__net *net, uint32_t number, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token);
void cohort__shm_withdraw(struct cohort__net *net, uint32_t number, void *region);
void cohort__shm_regions_fini(struct cohort__shm *shm);
void cohort__shm_streams_end(struct cohort__shm_peer *peer);

/* The poller. */
bool cohort__shm_progress(void *context);
bool cohort__shm_look(void *context);
bool cohort__shm_arm(void *context);
void cohort__shm_disarm(void *context);

#endif
