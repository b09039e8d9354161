/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_OFI_END_H
#define COHORT_RUNTIME_NET_OFI_END_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/net/net.h"
#include "runtime/net/ofi_library.h"
#include "runtime/net/packet.h"

/* One end over libfabric, shared by the ofi_*.c.
 *
 * `lock` guards everything unless a comment says otherwise. It is held across the calls that start
 * something (send, read, address vector), so nothing is started towards a peer that is just being
 * removed. Completions are read, and handlers are called, without it. */
enum {
    COHORT__OFI_MAX_PACKET = 16384,         /* ofi_rxm's buffer size: longer ones would be split */
    COHORT__OFI_MAX_IN_FRAGMENTS = 1 << 15, /* beyond, copying costs more than a fetch */
    COHORT__OFI_MAX_FETCH = 1 << 18,
    COHORT__OFI_MAX_FETCHES = 2,    /* with 4 of 1 MiB a block takes twice as long: what is on its
                                     * way no longer stays in the caches */
    COHORT__OFI_NUM_LANDINGS = 8,   /* kept at most: 2 MiB */
    COHORT__OFI_NUM_RECEIVES = 64,  /* posted at all times */
    COHORT__OFI_NUM_SENDS = 256,    /* at most under way */
    COHORT__OFI_NUM_BATCHES = 128,  /* of these, for peers that may never take theirs */
    COHORT__OFI_NUM_DIRECT = 4,     /* to one peer, see ofi_send.c */
    COHORT__OFI_MAX_BATCHED = 4096, /* longer messages go at once: they gain little */
};

/* What a completion's context points to. */
enum cohort__ofi_kind { COHORT__OFI_RECEIVE, COHORT__OFI_SEND, COHORT__OFI_FETCH };
struct cohort__ofi_operation {
    struct fi_context2 context; /* for the provider; has to be first */
    enum cohort__ofi_kind kind;
    struct cohort__list link;
};

struct cohort__ofi_peer {
    struct cohort__map_node node;   /* in `peers`, by number, until it is removed */
    struct cohort__list link;       /* in `all_peers`, until the end is destroyed */
    struct cohort__list blocked;    /* in `blocked` while a sender waits for `writable` */
    struct cohort__list lost;       /* in `lost` until `unreachable` is called */
    struct cohort__ofi_send *batch; /* messages that wait for others; NULL: none */
    unsigned num_sending;           /* packets under way */
    uint32_t number;
    bool is_dead;  /* lost or removed */
    bool is_known; /* address is valid */
    bool is_here;  /* on this host, where the kernel ends its connections when it dies */
    bool is_met;   /* it has answered, see ofi_peer.c: messages may go to it */
    fi_addr_t address;
    const char *why;
    uint64_t refused_since; /* every attempt has got EAGAIN since then; 0: not so */
    uint64_t probe_after;
    uint64_t ask_after; /* when to ask again whether it is there; 0: not asked */
    uint64_t ask_delay;
    unsigned num_failed; /* what the provider could not send of asking and answering */
    int probe_fd;        /* our own connection attempt, to see if anything listens; -1: none */
    size_t raw_bytes;
    unsigned char raw[];
};

struct cohort__ofi_send {
    struct cohort__ofi_operation operation;
    struct cohort__ofi_peer *peer;
    struct fid_mr *mr;
    struct cohort__packet packet;
    uint64_t since; /* when it became a batch */
    bool is_hello;
    _Alignas(64) unsigned char data[COHORT__OFI_MAX_PACKET];
};

struct cohort__ofi_receive {
    struct cohort__ofi_operation operation;
    struct cohort__net_message message;
    struct cohort__list all;
    struct fid_mr *mr;
    _Alignas(64) unsigned char data[COHORT__OFI_MAX_PACKET];
};

/* Memory for the bytes of a fetch. It is used again, since the system would have to give each page
 * of it anew. */
struct cohort__ofi_landing {
    struct cohort__list link; /* in `landings`, if it is free */
    struct fid_mr *mr;
    _Alignas(64) unsigned char data[COHORT__OFI_MAX_FETCH];
};

struct cohort__ofi_fetch {
    struct cohort__ofi_operation operation;
    struct cohort__ofi_peer *peer;
    struct cohort__list failed; /* in `failed` until it is reported */
    struct fid_mr *mr;
    void *cookie;
    cohort_status status;
    bool is_reported; /* or is about to be: the caller has nothing to do with it any more */
    size_t bytes;
    void *destination;
    struct cohort__ofi_landing *landing; /* where the bytes arrive, if not at `destination` */
};

struct cohort__ofi {
    struct cohort__net net;
    uint32_t number; /* by which peers know us */
    const struct cohort__ofi_library *library;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_wait *wait; /* to sleep until the queue has something; NULL: the queue's own */
    struct fid_cq *cq;
    struct fid_ep *ep;
    bool is_serial;           /* the queue, too, is only read with the lock held */
    char local_address[64];   /* the address that we are bound to, as text */
    const unsigned char *raw; /* the same as fi_getname gives it; points into net.address */
    int wake_fd;              /* an eventfd for work of progress that no completion reports */
    int retry_fd;             /* a timer for trying again what was refused */
    _Atomic bool has_work;    /* progress has to look at the lists below, or has to post receives */
    _Atomic bool is_armed;
    _Atomic bool is_handling; /* progress calls handlers now */
    bool is_closing;          /* for handlers, there are no peers any more */
    pthread_mutex_t lock;
    struct cohort__map peers;
    struct cohort__list all_peers;
    struct cohort__list blocked;
    struct cohort__list lost;
    bool lacks_send;  /* a blocked sender waits for one of `sends`, not for the provider */
    bool was_refused; /* a blocked sender waits for the provider */
    uint64_t retry_delay;
    uint64_t retry_at;
    struct cohort__list sends;        /* free */
    struct cohort__list sending;      /* under way */
    struct cohort__list batches;      /* to be sent by the next progress */
    uint64_t direct_until;            /* no batches of tasks until then */
    unsigned num_sends;               /* free, under way, and batches of peers */
    unsigned num_batches;             /* also those that were refused */
    struct cohort__list receives;     /* free */
    struct cohort__list all_receives; /* free, posted and delivered */
    unsigned num_free_receives;
    unsigned num_posted;
    _Atomic unsigned num_blocks;    /* exposed, or being fetched */
    _Atomic uint64_t expects_until; /* when they should have come, if all goes well */
    struct cohort__list fetches;    /* under way */
    struct cohort__list failed;     /* fetches to report without a completion */
    struct cohort__list landings;   /* free */
    unsigned num_landings;          /* free */
    struct cohort__list regions;
    uint64_t next_key;
};

/* Sets an error that names the provider, the address, CALL and the reason. The status is
 * COHORT_ERR_NETWORK, or COHORT_ERR_NO_MEMORY if libfabric says so. ERROR is libfabric's,
 * negative. */
cohort_status cohort__ofi_fail(const struct cohort__ofi *ofi, const char *call, int error);

/* Tells progress that there is something to look at. The caller holds the lock. */
void cohort__ofi_wake(struct cohort__ofi *ofi);

/* Registers memory for local access where the provider wants that; else *ret_mr is NULL. */
int cohort__ofi_register(struct cohort__ofi *ofi, const void *base, size_t bytes, uint64_t access,
                         struct fid_mr **ret_mr);

/* Peers. All except add and remove are called with the lock held. */
cohort_status cohort__ofi_peer_add(struct cohort__net *net, uint32_t number, const void *address,
                                   size_t bytes);
void cohort__ofi_peer_remove(struct cohort__net *net, uint32_t number);
/* The peer, ready to be sent to; NULL if it is dead or was never added. */
struct cohort__ofi_peer *cohort__ofi_peer_get(struct cohort__ofi *ofi, uint32_t number);
/* The same, also while we are closing. */
struct cohort__ofi_peer *cohort__ofi_peer_living(struct cohort__ofi *ofi, uint32_t number);
/* The answer to a sender where peer_get gives NULL: AGAIN while the peer's loss is still to be
 * reported, so that a waiting sender learns the reason, and DEAD after that. */
enum cohort__net_sent cohort__ofi_peer_missing(const struct cohort__ofi *ofi, uint32_t number);
/* An operation on the peer failed for good. WHY is static. */
void cohort__ofi_peer_lose(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer, const char *why);
/* The answer to a call that the provider has refused with ERROR: AGAIN, until the peer is writable
 * or lost. */
enum cohort__net_sent cohort__ofi_peer_refused(struct cohort__ofi *ofi,
                                               struct cohort__ofi_peer *peer, int error);
/* A sender to PEER has to wait until one of our own send operations is free. */
enum cohort__net_sent cohort__ofi_peer_wait(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer);
/* The provider has accepted something for PEER. */
void cohort__ofi_peer_accepted(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer);
void cohort__ofi_peers_fini(struct cohort__ofi *ofi);
/* The peers' part of progress: calls `unreachable` and `writable` where they are due. The lock is
 * held, but not while handlers run. */
bool cohort__ofi_peers_progress(struct cohort__ofi *ofi, bool had_completions);
/* Whether that would call a handler now. If not, *ret_when is the time to try again; UINT64_MAX:
 * never. */
bool cohort__ofi_peers_ready(const struct cohort__ofi *ofi, uint64_t *ret_when);

enum cohort__net_sent cohort__ofi_send(struct cohort__net *net, uint32_t number,
                                       const struct iovec *parts, int num_parts);
void cohort__ofi_send_done(struct cohort__ofi *ofi, struct cohort__ofi_send *send,
                           const char *error);
/* Sends the bytes at once, by a copy. Returns libfabric's error. With the lock held. */
int cohort__ofi_send_hello(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                           const void *hello, size_t bytes);
/* Sends the batch of PEER, if it has one. If that is refused, it is tried again when PEER's senders
 * are. With the lock held, as the next two. */
enum cohort__net_sent cohort__ofi_batch_send(struct cohort__ofi *ofi,
                                             struct cohort__ofi_peer *peer);
/* Nothing goes to PEER any more. */
void cohort__ofi_batch_drop(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer);
/* The batches' part of progress. */
bool cohort__ofi_batches_progress(struct cohort__ofi *ofi);
/* Before the end: tries all batches, also refused ones. True: none is left. */
bool cohort__ofi_batches_end(struct cohort__ofi *ofi);
void cohort__ofi_sends_fini(struct cohort__ofi *ofi);

/* Asks PEER, which has not answered yet, whether it is there, unless that was done a moment ago.
 * Returns -FI_EAGAIN, or why PEER can't be asked. With the lock held, as the next. */
int cohort__ofi_hello_ask(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer);
/* What was said to PEER has not left. */
void cohort__ofi_hello_failed(struct cohort__ofi *ofi, struct cohort__ofi_peer *peer,
                              const char *why);
/* What came may be a peer that asks or answers; then it is dealt with. False: it is not. */
bool cohort__ofi_hello_take(struct cohort__ofi *ofi, const unsigned char *data, size_t bytes);

/* Posts receives until the fixed number is posted again. If memory runs out or the provider is
 * full, it posts fewer, and progress tries again. With the lock held. */
int cohort__ofi_receives_post(struct cohort__ofi *ofi);
void cohort__ofi_release(struct cohort__net *net, struct cohort__net_message *message);
void cohort__ofi_receives_fini(struct cohort__ofi *ofi);

cohort_status cohort__ofi_expose(struct cohort__net *net, uint32_t number, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token);
void cohort__ofi_withdraw(struct cohort__net *net, uint32_t number, void *region);
void cohort__ofi_regions_fini(struct cohort__ofi *ofi);

enum cohort__net_sent cohort__ofi_fetch(struct cohort__net *net, uint32_t number,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie);
void cohort__ofi_fetch_done(struct cohort__ofi *ofi, struct cohort__ofi_fetch *fetch,
                            const char *error);
/* PEER is gone: ends the fetches that the provider might never end. With the lock held. */
void cohort__ofi_fetches_fail(struct cohort__ofi *ofi, const struct cohort__ofi_peer *peer);
/* The fetches' part of progress, with the lock as for the peers: reports the failed ones. */
bool cohort__ofi_fetches_progress(struct cohort__ofi *ofi);
/* The endpoint is closed: reports all remaining fetches as cancelled. */
void cohort__ofi_fetches_cancel(struct cohort__ofi *ofi);
void cohort__ofi_landings_fini(struct cohort__ofi *ofi);

/* There is one more block, of BYTES bytes, that somebody waits for, or one less. With the lock
 * held, or with no other thread left. */
void cohort__ofi_expect(struct cohort__ofi *ofi, size_t bytes);
void cohort__ofi_expect_end(struct cohort__ofi *ofi);

/* The functions of the poller. */
bool cohort__ofi_expects(void *context);
bool cohort__ofi_progress(void *context);
bool cohort__ofi_arm(void *context);
void cohort__ofi_disarm(void *context);
/* Before the end: waits a moment for sends that are under way. */
void cohort__ofi_linger(struct cohort__ofi *ofi);

/* An address consists of the transport's name and the provider's name, each with its NUL, the
 * version of libfabric (u32, little-endian), and the raw address: what fi_getname gave. */
struct cohort__ofi_address {
    const char *transport;
    const char *provider;
    uint32_t version;
    const unsigned char *raw;
    size_t raw_bytes;
};

/* Writes our own address to net.address. */
cohort_status cohort__ofi_address_set(struct cohort__ofi *ofi);

/* Whether raw addresses are socket addresses of TCP. */
bool cohort__ofi_address_is_tcp(const struct fi_info *info);

/* Whether the raw address THEIRS is known to be on the same host as OURS: both are TCP, with the
 * same IP address. */
bool cohort__ofi_address_is_here(const struct fi_info *info, const void *ours, const void *theirs,
                                 size_t bytes);

/* What fi_wait_open and fi_wait do. Only the provider `net` of libfabric 1.17 needs wait sets. The
 * headers of libfabric 2 warn of them, and a build with these refuses libraries that are older. */
#if FI_MAJOR_VERSION == 1

static inline int cohort__ofi_wait_set_open(struct fid_fabric *fabric, struct fid_wait **ret_set)
{
    struct fi_wait_attr attr = {.wait_obj = FI_WAIT_FD};
    return fi_wait_open(fabric, &attr, ret_set);
}

/* Takes back the set's signal, and then looks. -FI_ETIMEDOUT: there is nothing. */
static inline int cohort__ofi_wait_set_look(struct fid_wait *set)
{
    return fi_wait(set, 0);
}

#else

static inline int cohort__ofi_wait_set_open(struct fid_fabric *fabric, struct fid_wait **ret_set)
{
    (void)fabric, (void)ret_set;
    return -FI_ENOSYS;
}

static inline int cohort__ofi_wait_set_look(struct fid_wait *set)
{
    (void)set;
    return -FI_ENOSYS;
}

#endif

#endif
