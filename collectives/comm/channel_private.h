/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_PRIVATE_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_PRIVATE_H

#include <stdalign.h>

#include "cohort/channel.h"
#include "cohort/layout.h"
#include "collectives/comm/channels.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "collectives/comm/remote.h"
#include "collectives/plan/layout.h"
#include "runtime/task/future.h"
#include "runtime/task/scheduler.h"

/* In the endpoint's turn: a set or a get has begun, or is over. After the last one the endpoint may
 * be idle. */
void cohort__channels_begun(struct cohort_comm *comm);

/* A set or a get, the *owner*, of a task in a scope: tells it when the scope is cancelled. That
 * happens on any thread, so it is an item of the endpoint that tells; and the endpoint, which stays
 * while a set or a get is not over, stays for that item, too. */
struct cohort__channel_watch;

/* CANCEL is called with OWNER at most once, in the turn of COMM, before the owner is over; perhaps
 * before it has begun. Sets *RET_WATCH to NULL if the calling task is in no scope. Returns false if
 * there is no memory. CANCEL is not called before _start. */
bool cohort__channel_watch_create(struct cohort_comm *comm, void (*cancel)(void *owner),
                                  void *owner, struct cohort__channel_watch **ret_watch);

/* In the call of the owner, before its own item is posted, so that it can't be over yet. NULL is
 * fine. */
void cohort__channel_watch_start(struct cohort__channel_watch *watch);

/* In the turn: the owner is over. Takes WATCH. Calls cohort__channels_over, now or later. NULL is
 * fine. */
void cohort__channel_watch_over(struct cohort__channel_watch *watch, struct cohort_comm *comm);

/* Between channel.c (order and matching), channel_get.c and channel_set.c. Unless said otherwise,
 * functions are called in the endpoint's turn. */

/* Data that travels with a message within the locality. */
struct cohort__channel_copy {
    struct cohort__attachment attachment; /* first */
    _Atomic size_t *charged;              /* the setter's count of such bytes */
    size_t bytes;
    alignas(16) unsigned char data[];
};

/* Lives as long as its future. */
struct cohort__channel_get {
    struct cohort_future future; /* first */
    struct cohort__item item;
    struct cohort__list link; /* where gets wait, or in `under_way` */
    struct cohort_comm *comm;
    struct cohort__channel_watch *watch; /* of a task in a scope; else NULL */
    uint32_t site;                       /* COHORT_ANY_SITE until it has a message */
    uint64_t tag;
    uint64_t number; /* while it waits: who has asked before it has a lower one */
    bool is_waiting;
    bool is_cancelled; /* its scope was: it must not wait */
    bool is_probe;     /* leaves the message where it is */
    void *buffer;
    size_t capacity;
    size_t *ret_bytes;          /* or NULL */
    uint32_t *ret_site;         /* or NULL */
    cohort_object *ret_object;  /* NULL: a get into `buffer` */
    cohort_layout *layout;      /* how the elements lie there, a reference; NULL: bytes in a row */
    size_t element;             /* bytes of one of them */
    void *fetched;              /* what has been fetched, and is to be unpacked; or NULL */
    size_t bytes;               /* of the message */
    struct cohort__error error; /* what has gone wrong */
    struct cohort__message *message;
    bool is_fetching;
    union {
        struct cohort__fetch fetch;
        struct cohort__work work;
    };
};

/* GET takes the first message for it that has arrived, or waits for one. Fails if there is no
 * memory to wait. Then GET is still the caller's. _cancel: GET waits no more, and fails. Does
 * nothing if it has a message. */
cohort_status cohort__channels_get(struct cohort_comm *comm, struct cohort__channel_get *get);
void cohort__channels_cancel(struct cohort_comm *comm, struct cohort__channel_get *get);

/* channel_get.c. GET must not be in a list. _read: its message is BYTES at DATA, few enough to be
 * read on the spot. _take: its message is MESSAGE. Takes GET and MESSAGE. _tell, of a probe: its
 * message has BYTES. _fail: it fails with ERROR. _stop: what it is fetching is not wanted any
 * more. */
void cohort__channel_get_read(struct cohort__channel_get *get, const void *data, size_t bytes);
void cohort__channel_get_tell(struct cohort__channel_get *get, size_t bytes);
void cohort__channel_get_take(struct cohort__channel_get *get, struct cohort__message *message);
void cohort__channel_get_fail(struct cohort__channel_get *get, const struct cohort__error *error);
void cohort__channel_get_stop(struct cohort__channel_get *get);

/* channel_set.c. _count: how many messages have been set for SITE in all. _take_back: this
 * site has left, or the communicator is revoked. _describe: what is not over, as
 * cohort__channels_describe. _fini: frees the caller's side. */
uint32_t cohort__channel_sets_count(const struct cohort__channels *channels, uint32_t site);
/* Makes the getter of the first one of revoked_sets give back what it has. */
void cohort__channel_set_take_back(struct cohort__channels *channels);
size_t cohort__channel_sets_describe(const struct cohort_comm *comm, char *text, size_t used,
                                     size_t capacity);
void cohort__channel_sets_fini(struct cohort__channels *channels);

/* Why elements of DATATYPE can't lie in ARRAY as LAYOUT says, or NULL: they can. */
const char *cohort__layout_refuses(const cohort_layout *layout, cohort_datatype datatype,
                                   const void *array);

#endif
