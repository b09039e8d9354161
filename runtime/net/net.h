/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_NET_H
#define COHORT_RUNTIME_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "cohort/status.h"
#include "runtime/loop/loop.h"

/* A transport: it carries bytes between localities. A message has at most `max_message` bytes. It
 * arrives whole and once, or its peer is reported dead. Messages to one peer may overtake each
 * other. Long blocks of memory are exposed by their owner, and fetched by the peer that was told
 * the token.
 *
 * send, expose, withdraw, fetch and release: any thread. progress, arm, disarm (the poller): one
 * thread at a time. Handlers are called from progress only, without any lock held. They may call
 * everything except progress and destroy. There is no flow control here: the sender has to do
 * it. */
struct cohort__net;

/* A received message. It and its `data` belong to the receiver until it calls cohort__net_release.
 * A message with `is_passing` belongs to it only while the handler runs, so what has to stay must
 * be copied. */
struct cohort__net_message {
    struct cohort__net *net;
    const unsigned char *data;
    size_t bytes;
    size_t capacity; /* how much memory is occupied while this message is kept */
    bool is_passing;
};

/* What a peer needs to fetch from an exposed block; travels in an announcement. */
enum { COHORT__NET_TOKEN_BYTES = 40 };
struct cohort__net_token {
    unsigned char bytes[COHORT__NET_TOKEN_BYTES];
};

struct cohort__net_handlers {
    void *context;
    void (*message)(void *context, struct cohort__net_message *message);
    /* A message did not come whole, and later ones of its sender may be lost; AT_FAULT: the sender
     * has sent it so. DATA, which stays the transport's, is what its memory has from its beginning
     * on: 0 where nothing has come. */
    void (*broken)(void *context, const unsigned char *data, size_t bytes, bool at_fault,
                   const char *why);
    /* The fetch that was started with COOKIE has ended. Its destination belongs to the caller
     * again. */
    void (*fetched)(void *context, void *cookie, cohort_status status);
    /* A send to PEER that was refused with AGAIN may go now. */
    void (*writable)(void *context, uint32_t peer);
    /* Where memory is shared with peers: looks for what they may have written into it without
     * sending a message, see cohort__shm_alert. True if there was something. May be NULL. */
    bool (*look)(void *context);
    /* The transport found out that PEER can't be reached any more; WHY NULL: since there is no
     * memory here for a connection to it. Reported once. */
    void (*unreachable)(void *context, uint32_t peer, const char *why);
};

enum cohort__net_sent {
    COHORT__NET_SENT,  /* copied or sent: the parts belong to the caller again */
    COHORT__NET_AGAIN, /* nothing was done; `writable` says when to try again */
    COHORT__NET_DEAD,  /* the peer is unreachable, or was never added, or the message is too long */
    COHORT__NET_NO_MEMORY, /* for what is known here of the peer */
};

struct cohort__net_operations {
    const char *name;
    void (*destroy)(struct cohort__net *net);
    cohort_status (*add_peer)(struct cohort__net *net, uint32_t peer, const void *address,
                              size_t bytes);
    void (*remove_peer)(struct cohort__net *net, uint32_t peer);
    enum cohort__net_sent (*send)(struct cohort__net *net, uint32_t peer, const struct iovec *parts,
                                  int num_parts);
    void (*release)(struct cohort__net *net, struct cohort__net_message *message); /* not
                                                                                    * is_passing */
    cohort_status (*expose)(struct cohort__net *net, uint32_t peer, const void *base, size_t bytes,
                            void **ret_region, struct cohort__net_token *ret_token);
    void (*withdraw)(struct cohort__net *net, uint32_t peer, void *region);
    enum cohort__net_sent (*fetch)(struct cohort__net *net, uint32_t peer,
                                   const struct cohort__net_token *token, size_t offset,
                                   void *destination, size_t bytes, void *cookie);
    bool (*may_lose)(const struct cohort__net *net, uint32_t peer); /* NULL: nothing */
    /* The half that carries to PEER; NULL: PEER was never added. Where there are no halves, the
     * operation itself is NULL; where there are, it is the halves that know remove_peer, expose,
     * withdraw, fetch and may_lose. */
    struct cohort__net *(*half_to)(const struct cohort__net *net, uint32_t peer);
};

/* The first member of every transport's own struct. */
struct cohort__net {
    const struct cohort__net_operations *operations;
    struct cohort__net_handlers handlers;
    struct cohort__poller poller;
    size_t max_message;         /* header and payload together; to each peer: see below */
    size_t max_in_fragments;    /* what is no longer comes sooner in several messages than by a
                                 * fetch; 0: only what fits into one */
    size_t max_fetch;           /* bytes that one fetch may ask for, at most 1 MiB */
    unsigned max_fetches;       /* of one block, to be under way at the same time: enough to keep
                                 * the link busy, and not more than the caches hold */
    unsigned char address[128]; /* of this end, for peers */
    size_t address_bytes;
    struct cohort__net *near; /* the transport of shm.h in it, or itself; NULL: none */
};

/* Ends everything: exposed blocks are withdrawn, and fetches under way report COHORT_ERR_CANCELLED.
 * Received messages have to be released before the call. NULL is fine. */
void cohort__net_destroy(struct cohort__net *net);

/* PEER is a number that the caller chooses (the rank). ADDRESS is the `address` of the other end.
 * No connection is made before the first send. COHORT_ERR_BAD_PARAMETER for an address of another
 * transport, provider or version, with a message that names both. */
cohort_status cohort__net_add_peer(struct cohort__net *net, uint32_t peer, const void *address,
                                   size_t bytes);

/* From now on nothing goes to PEER: sends to it return DEAD, and fetches from it end with an
 * error. */
void cohort__net_remove_peer(struct cohort__net *net, uint32_t peer);

/* Whether messages to PEER can be lost without any error, because the transport reconnects by
 * itself. */
bool cohort__net_may_lose(const struct cohort__net *net, uint32_t peer);

/* What carries to PEER, with its limits. NULL: it was never added. */
struct cohort__net *cohort__net_half_to(const struct cohort__net *net, uint32_t peer);

/* The max_message towards PEER. 0: never added. */
size_t cohort__net_max_message(const struct cohort__net *net, uint32_t peer);

/* Sends the parts as one message. */
enum cohort__net_sent cohort__net_send(struct cohort__net *net, uint32_t peer,
                                       const struct iovec *parts, int num_parts);

void cohort__net_release(struct cohort__net_message *message);

/* Lets PEER fetch from BASE until cohort__net_withdraw. Withdraw returns only when no access is
 * under way any more, and none can start. */
cohort_status cohort__net_expose(struct cohort__net *net, uint32_t peer, const void *base,
                                 size_t bytes, void **ret_region,
                                 struct cohort__net_token *ret_token);
void cohort__net_withdraw(struct cohort__net *net, uint32_t peer, void *region);

/* Copies BYTES (at most max_fetch) from OFFSET of the block that TOKEN names to DESTINATION, which
 * belongs to the transport until `fetched` is called. */
enum cohort__net_sent cohort__net_fetch(struct cohort__net *net, uint32_t peer,
                                        const struct cohort__net_token *token, size_t offset,
                                        void *destination, size_t bytes, void *cookie);

#endif
