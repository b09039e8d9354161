/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_SHM_END_H
#define COHORT_RUNTIME_NET_SHM_END_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/copier.h"
#include "runtime/net/ring.h"
#include "runtime/net/shm.h"
#include "runtime/net/shm_memory.h"
#include "runtime/wire/envelope.h"

/* One end of shared memory, shared by the shm_*.c.
 *
 * `lock` guards everything that is not said to be otherwise, and is held while something is written
 * into a ring; handlers are called without it. What comes in is read without it: only progress
 * does. Where something can't be done at once the peer is put into `deferred`, and progress does
 * it. */
enum {
    COHORT__SHM_MAX_MESSAGE = 8192 + 128, /* taken out of the ring at once; more is fetched */
    COHORT__SHM_HEAD_WORDS = COHORT__ENVELOPE_BYTES / 8,
    COHORT__SHM_MAX_FETCH = 1 << 20,
    COHORT__SHM_CHUNK = 16384 - sizeof(struct cohort__ring_record), /* of a fetch: a piece */
    COHORT__SHM_TURN_BYTES = 128 * 1024,   /* of pieces, that progress writes or reads at a time */
    COHORT__SHM_DIRECT_SLICE = 256 * 1024, /* read at a time */
};

/* Records: the first three are in the rings for messages, the others in those for bulk. */
enum cohort__shm_kind {
    COHORT__SHM_MESSAGE,
    COHORT__SHM_ABRIDGED, /* a message: those words of its head that differ from the last one's,
                             each a bit in `word`, and what follows the head */
    COHORT__SHM_REQUEST,  /* data: a struct cohort__shm_request */
    COHORT__SHM_PIECE,    /* the next bytes of the oldest fetch that was requested */
    COHORT__SHM_REFUSAL,  /* that fetch can't be served: no such block */
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
    uint64_t address; /* of its first byte, at the owner */
    unsigned char *destination;
    size_t done;
    void *cookie;
    cohort_status status; /* not COHORT_OK: only to be reported */
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
    _Atomic bool is_dead;              /* removed or lost: nothing goes there, and nothing comes */
    const char *why;                   /* to be said with `unreachable`; NULL: nothing */
    bool is_blocked;                   /* a sender waits for `writable` */
    bool may_read;                     /* by process_vm_readv: as far as we know */
    struct cohort__ring_writer writer; /* ring NULL: not mapped yet */
    uint64_t head_written[COHORT__SHM_HEAD_WORDS]; /* the last one, at first all zero */
    struct cohort__list deferred;                  /* in `deferred` */
    struct cohort__list reads;                     /* fetches by process_vm_readv */
    struct cohort__list unasked;                   /* fetches whose request had no room */
    struct cohort__list fetches;                   /* requested, in this order */
    struct cohort__list streams;                   /* to be written, in this order */
    struct cohort__ring_reader reader; /* progress only, as the head that was read last */
    uint64_t head_read[COHORT__SHM_HEAD_WORDS];
    /* Bulk, mapped by the first request, which the reader writes and so empties the ring before.
     * The reader's: progress only once it is there. */
    struct cohort__ring_writer bulk_writer;
    struct cohort__copier copier; /* of what is written there */
    struct cohort__ring_reader bulk_reader;
};

enum { COHORT__SHM_NONE = UINT32_MAX };

struct cohort__shm {
    struct cohort__net net;
    struct cohort__hub *hub;
    uint32_t slot;
    enum cohort__shm_copy copy;
    unsigned char *common; /* head and slots */
    struct cohort__shm_slot *own;
    uint64_t pid_space;
    _Atomic bool has_deferred;
    pthread_mutex_t lock;
    uint64_t next_region;
    struct cohort__map regions;
    struct cohort__list deferred;
    /* Who was added. Of thousands a locality talks with a few, so a peer is made when one of the
     * two calls the other. */
    uint32_t num_numbers;
    uint32_t *slots;                     /* by number; COHORT__SHM_NONE: not added, or removed */
    uint32_t *numbers;                   /* by slot; COHORT__SHM_NONE: not added */
    struct cohort__shm_peer **by_number; /* NULL: not made, or removed */
    struct cohort__shm_peer **by_slot;   /* NULL: not made */
    /* Progress only: those whose rings to here have begun. */
    uint32_t num_callers;
    struct cohort__shm_peer **callers;
    unsigned char incoming[COHORT__SHM_MAX_MESSAGE]; /* an abridged message, while it passes */
    /* Those with a bulk ring to here, which progress looks at while anything is to come there. It
     * reads them without the lock; they only become more. */
    _Atomic uint32_t num_sources;
    struct cohort__shm_peer **sources;
    _Atomic uint32_t num_requested; /* fetches that were requested and have not ended */
};

struct cohort__shm_slot *cohort__shm_slot(const struct cohort__shm *shm, uint32_t slot);

/* A part of the memory; NULL with the error set. */
void *cohort__shm_map(const struct cohort__shm *shm, size_t offset, size_t bytes);

/* The memory of the rings FROM -> TO; NULL with the error set. */
void *cohort__shm_ring_map(const struct cohort__shm *shm, uint32_t from, uint32_t to);
void *cohort__shm_bulk_map(const struct cohort__shm *shm, uint32_t from, uint32_t to);

/* Tells PEER that there is room in the ring of READER, if it has asked: whoever asks clears what
 * was asked, so that has to be answered. */
void cohort__shm_tell_of_room(const struct cohort__shm_peer *peer,
                              struct cohort__ring_reader *reader);

/* Wakes the locality in SLOT if it sleeps, after something was put where it looks. */
void cohort__shm_ring_bell(const struct cohort__shm *shm, uint32_t slot);
/* Wakes this one whatever `sleeping` says: who has cleared it may have died before it rang. */
void cohort__shm_wake(const struct cohort__shm *shm);
/* The same behind a fence. */
void cohort__shm_rouse(const struct cohort__shm *shm, uint32_t slot);

/* Peers. With the lock held. */
void cohort__shm_address_set(struct cohort__shm *shm);
cohort_status cohort__shm_peer_add(struct cohort__net *net, uint32_t number, const void *address,
                                   size_t bytes);                       /* without it */
void cohort__shm_peer_remove(struct cohort__net *net, uint32_t number); /* without it */
/* Makes the ring to PEER if it is not there yet; false: PEER is lost. */
bool cohort__shm_peer_call(struct cohort__shm_peer *peer);
/* NULL: dead, or never added, or there is no memory for it. Its ring is there. */
struct cohort__shm_peer *cohort__shm_peer_get(struct cohort__shm *shm, uint32_t number);
/* The peer in SLOT, made if need be; NULL: not added, removed before it was made, or no memory. */
struct cohort__shm_peer *cohort__shm_peer_at(struct cohort__shm *shm, uint32_t slot);
void cohort__shm_peer_lose(struct cohort__shm_peer *peer, const char *why);
void cohort__shm_peer_destroy(struct cohort__shm_peer *peer);
/* Has progress look at PEER; from progress itself no wake-up is needed. */
void cohort__shm_defer(struct cohort__shm_peer *peer);
/* Write a record into the ring for messages, for which the bell is still to be rung; false: no
 * room. */
bool cohort__shm_write(struct cohort__shm_peer *peer, enum cohort__shm_kind kind,
                       const struct iovec *parts, int num_parts);

bool cohort__shm_write_message(struct cohort__shm_peer *peer, const struct iovec *parts,
                               int num_parts);
/* An abridged one, which passes; false: it makes no sense. Progress only. */
bool cohort__shm_read_message(struct cohort__shm_peer *peer, const struct cohort__ring_item *record,
                              struct cohort__net_message *ret_message);

/* Where a block is, as its token says. */
struct cohort__shm_place {
    uint64_t region;
    uint64_t address;
    uint64_t bytes;
};

/* Fetching from peers. */
enum cohort__net_sent cohort__shm_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie);
/* By progress, without the lock: takes pieces that have come; true if there were any. */
bool cohort__shm_pieces_progress(struct cohort__shm *shm);
/* Before it sleeps: whether there are any. */
bool cohort__shm_pieces_wait(struct cohort__shm *shm);
/* By progress, with the lock held, which is let go meanwhile: what of the fetches from PEER can go
 * on; true if anything did. */
bool cohort__shm_fetches_progress(struct cohort__shm_peer *peer);
/* The least data that the ring for messages has to have room for before any of them can go on; 0:
 * one can as it is; SIZE_MAX: nothing waits. With the lock held. */
size_t cohort__shm_fetches_room(const struct cohort__shm_peer *peer);
/* Reports all fetches from PEER as ended with STATUS. Likewise. */
void cohort__shm_fetches_end(struct cohort__shm_peer *peer, cohort_status status);

/* Being fetched from. */
cohort_status cohort__shm_expose(struct cohort__net *net, uint32_t number, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token);
void cohort__shm_withdraw(struct cohort__net *net, uint32_t number, void *region);
void cohort__shm_regions_fini(struct cohort__shm *shm);
/* By progress, without the lock. False: try again, out of memory. */
bool cohort__shm_request_arrived(struct cohort__shm_peer *peer,
                                 const struct cohort__ring_item *record);
/* By progress, with the lock held: writes what of PEER's streams has room; true if there was. */
bool cohort__shm_streams_progress(struct cohort__shm_peer *peer);
/* Whether they can go on; where they wait for room, they will be told of it. With the lock held. */
bool cohort__shm_streams_can_go_on(struct cohort__shm_peer *peer);
void cohort__shm_streams_end(struct cohort__shm_peer *peer);

/* The poller. */
bool cohort__shm_progress(void *context);
bool cohort__shm_arm(void *context);
void cohort__shm_disarm(void *context);

#endif
