/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_PRIVATE_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_PRIVATE_H

#include <stdalign.h>

#include "cohort/channel.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/remote.h"
#include "runtime/task/future.h"
#include "runtime/task/work.h"

/* Between channel.c (order and matching), channel_get.c and channel_set.c. Unless said otherwise,
 * in the endpoint's turn. */

/* Data that came along with a message within the locality. */
struct cohort__channel_copy {
    struct cohort__attachment attachment; /* first */
    _Atomic size_t *charged;              /* its setter's count of such bytes */
    size_t bytes;
    alignas(16) unsigned char data[];
};

/* More is copied by a worker, so that the endpoint's turn stays short. */
enum { COHORT__CHANNEL_ON_THE_SPOT_BYTES = 4096 };

/* Lives as long as its future. */
struct cohort__channel_get {
    struct cohort_future future; /* first */
    struct cohort__item item;
    struct cohort__list link; /* in a queue, or under way */
    struct cohort_comm *comm;
    uint32_t site;
    uint64_t tag;
    void *buffer;
    size_t capacity;
    size_t *ret_bytes;          /* or NULL */
    cohort_object *ret_object;  /* NULL: there is a buffer */
    size_t bytes;               /* of the message */
    struct cohort__error error; /* what has gone wrong */
    struct cohort__message *message;
    bool is_fetching;
    union {
        struct cohort__fetch fetch;
        struct cohort__work work;
    };
};

/* GET takes the first message for it that has arrived, or waits for one. Fails where it can't wait;
 * then GET is still the caller's. */
cohort_status cohort__channels_get(struct cohort_comm *comm, struct cohort__channel_get *get);

/* A set or a get more, or less: then the endpoint may be idle. */
void cohort__channels_begun(struct cohort_comm *comm);
void cohort__channels_over(struct cohort_comm *comm);

/* channel_get.c: GET, in no list, has got BYTES at DATA, few enough to be read on the spot; has got
 * MESSAGE, and takes both; GET fails; nobody wants any more
 * what it is fetching. */
void cohort__channel_get_read(struct cohort__channel_get *get, const void *data, size_t bytes);
void cohort__channel_get_take(struct cohort__channel_get *get, struct cohort__message *message);
void cohort__channel_get_fail(struct cohort__channel_get *get, const struct cohort__error *error);
void cohort__channel_get_stop(struct cohort__channel_get *get);

/* channel_set.c: how many messages were set for SITE, when all have been; this site has left; what
 * is not over, as cohort__channels_describe; the caller's side is freed. */
uint32_t cohort__channel_sets_count(const struct cohort__channels *channels, uint32_t site);
void cohort__channel_sets_leave(struct cohort_comm *comm);
size_t cohort__channel_sets_describe(const struct cohort_comm *comm, char *text, size_t used,
                                     size_t capacity);
void cohort__channel_sets_fini(struct cohort__channels *channels);

#endif
