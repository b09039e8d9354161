/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_INPROC_END_H
#define COHORT_TESTS_SUPPORT_INPROC_END_H

#include <pthread.h>
#include <stdbool.h>

#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/random.h"
#include "tests/support/inproc.h"

/* Shared by the inproc_*.c. One lock for each hub guards all of its ends. It is not held while
 * handlers run. */
enum {
    COHORT__INPROC_MAX_MESSAGE = 16384,
    COHORT__INPROC_MAX_FETCH = 1 << 20,
    COHORT__INPROC_MAX_DELAY = 8,
    COHORT__INPROC_AGAIN_ONCE_IN = 8,
    COHORT__INPROC_NAME_BYTES = 7, /* "inproc", with its NUL */
};

struct cohort__inproc_end;

struct cohort__inproc_hub {
    pthread_mutex_t lock;
    pthread_cond_t unread; /* a region's last reader has left */
    uint64_t seed;
    uint64_t next_region;
    struct cohort__map regions;
    uint32_t num_ends;
    struct cohort__inproc_end *ends[];
};

/* Something that an end is going to be told. */
enum cohort__inproc_kind {
    COHORT__INPROC_MESSAGE,
    COHORT__INPROC_FETCHED,
    COHORT__INPROC_WRITABLE,
    COHORT__INPROC_UNREACHABLE
};
struct cohort__inproc_event {
    struct cohort__list link;
    enum cohort__inproc_kind kind;
    uint64_t due;  /* in the receiving end's calls of progress */
    uint32_t peer; /* its number at the receiving end */
    struct cohort__net_token token;
    size_t offset;
    size_t bytes; /* bytes of the fetch */
    void *destination;
    void *cookie;
    struct cohort__net_message message;
    unsigned char data[];
};

struct cohort__inproc_peer {
    struct cohort__map_node node;
    uint32_t number;
    uint32_t rank;
    bool is_lost;
};

struct cohort__inproc_end {
    struct cohort__net net;
    struct cohort__inproc_hub *hub;
    uint32_t rank;
    bool is_cut;
    uint64_t sends_left; /* after which it, and those in dies_with, are cut; 0: never */
    uint64_t dies_with;  /* a bit for each rank */
    bool is_armed;
    uint64_t num_progress;
    struct cohort__random random;
    struct cohort__map peers;
    struct cohort__list events;
    struct cohort__list held; /* messages that their receiver has not released */
};

/* An exposed block, by its id in the hub's map. */
struct cohort__inproc_region {
    struct cohort__map_node node;
    uint64_t id;
    uint32_t rank;
    const unsigned char *base;
    size_t bytes;
    unsigned num_readers;
};

/* Never used outside this process. */
struct cohort__inproc_address {
    char transport[COHORT__INPROC_NAME_BYTES];
    const struct cohort__inproc_hub *hub;
    uint32_t rank;
};

/* With the hub's lock held. */

void cohort__inproc_cut_locked(struct cohort__inproc_hub *hub, uint32_t rank);

/* NULL if there is no memory. BYTES bytes of data follow the event. */
struct cohort__inproc_event *cohort__inproc_event_create(enum cohort__inproc_kind kind,
                                                         uint32_t peer, size_t bytes);
/* Queues EVENT at END, with a delay of its own, and wakes a thread that is blocked there. */
void cohort__inproc_event_push(struct cohort__inproc_end *end, struct cohort__inproc_event *event);
/* Drops all queued events about PEER, except fetches under way. */
void cohort__inproc_events_drop(struct cohort__inproc_end *end, uint32_t peer);
struct cohort__inproc_peer *cohort__inproc_peer_find(const struct cohort__inproc_end *end,
                                                     uint32_t number);
/* END notices that PEER no longer exists. */
void cohort__inproc_peer_lose(struct cohort__inproc_end *end, struct cohort__inproc_peer *peer);
/* The end of PEER. NULL if one of the two no longer exists, or never existed. */
struct cohort__inproc_end *cohort__inproc_peer_end(const struct cohort__inproc_end *end,
                                                   const struct cohort__inproc_peer *peer);
/* Whether the seed wants the answer AGAIN. `writable` follows then. */
bool cohort__inproc_refuse(struct cohort__inproc_end *end, uint32_t peer);
/* Withdraws all blocks of END. */
void cohort__inproc_regions_close(struct cohort__inproc_end *end);

/* Without the hub's lock. */

/* Copies the bytes of the fetch, and reports its end. */
void cohort__inproc_fetch_end(struct cohort__inproc_end *end,
                              const struct cohort__inproc_event *event);
/* Reports the fetches as cancelled, and frees all EVENTS. */
void cohort__inproc_events_fini(struct cohort__inproc_end *end, struct cohort__list *events);

/* The operations of the transport and its poller. */
bool cohort__inproc_progress(void *context);
bool cohort__inproc_arm(void *context);
void cohort__inproc_disarm(void *context);
enum cohort__net_sent cohort__inproc_send(struct cohort__net *net, uint32_t number,
                                          const struct iovec *parts, int num_parts);
void cohort__inproc_release(struct cohort__net *net, struct cohort__net_message *message);
cohort_status cohort__inproc_add_peer(struct cohort__net *net, uint32_t number, const void *address,
                                      size_t bytes);
void cohort__inproc_remove_peer(struct cohort__net *net, uint32_t number);
cohort_status cohort__inproc_expose(struct cohort__net *net, uint32_t number, const void *base,
                                    size_t bytes, void **ret_region,
                                    struct cohort__net_token *ret_token);
void cohort__inproc_withdraw(struct cohort__net *net, uint32_t number, void *region);
enum cohort__net_sent cohort__inproc_fetch(struct cohort__net *net, uint32_t number,
                                           const struct cohort__net_token *token, size_t offset,
                                           void *destination, size_t bytes, void *cookie);

extern const char cohort__inproc_name[COHORT__INPROC_NAME_BYTES];

#endif
