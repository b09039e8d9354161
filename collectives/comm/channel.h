/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/message.h"
#include "runtime/base/map.h"

/* The channels of an endpoint: messages with generation 0, which no collective has. The transport
 * lets messages overtake each other, so each site numbers what it sets for another one; the getter
 * puts them in order, and matches them with gets by source and tag. An endpoint keeps one record
 * for each site that it talks with, and one for each source and tag for which a message or a get
 * waits. */
struct cohort__channel_target;
struct cohort__channel_source;
struct cohort__channels {
    /* The caller's side: whom this site sets for, and whom for last. */
    struct cohort__map targets;
    struct cohort__channel_target *last_target;

    /* The actor's side. */
    struct cohort__map sources;
    struct cohort__channel_source *last_source; /* that was looked for; or NULL */
    struct cohort__map queues;                  /* by source and tag */
    struct cohort__list sets;                   /* that are not over */
    struct cohort__list under_way;              /* gets that have their message, and read it */
    uint64_t asked_at;                          /* as in struct cohort__operation */
    unsigned patience;
    bool has_lost;                 /* a message: there was no memory to keep it */
    _Atomic uint32_t num_not_over; /* sets and gets; written by the actor */
};

void cohort__channels_init(struct cohort__channels *channels);
void cohort__channels_fini(struct cohort__channels *channels);

static inline bool cohort__channels_are_idle(const struct cohort__channels *channels)
{
    return atomic_load_explicit(&channels->num_not_over, memory_order_relaxed) == 0;
}

/* All of the following in the endpoint's turn. A message with generation 0; takes it. */
void cohort__channels_receive(struct cohort_comm *comm, struct cohort__message *message);

/* The same for one from another locality, if a get waits for it, and reads it as it lies. False: it
 * is still the caller's. */
bool cohort__channels_take(struct cohort_comm *comm, struct cohort__arrival *arrival);

/* Asks the sites that have been waited for for long whether they have left. */
void cohort__channels_tick(struct cohort_comm *comm, uint64_t now);

/* Ends what waits for a site that is dead; everything, since this site has left. */
void cohort__channels_peer_died(struct cohort_comm *comm);
void cohort__channels_leave(struct cohort_comm *comm);

/* Appends to TEXT, of CAPACITY bytes, what is not over; returns the new length. */
size_t cohort__channels_describe(const struct cohort_comm *comm, char *text, size_t used,
                                 size_t capacity);

#endif
