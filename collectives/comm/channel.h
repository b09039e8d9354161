/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/message.h"
#include "runtime/base/map.h"

/* The channels of an endpoint. Their messages have generation 0, which no collective has. The
 * transport may reorder messages, so each site numbers the messages that it sets for another one.
 * The getter puts them in order, and matches them with gets by source and tag. An endpoint keeps
 * one record for each site that it talks to, and one for each source and tag for which a message or
 * a get waits. */
struct cohort__channel_target;
struct cohort__channel_source;
struct cohort__channels {
    /* The caller's side: the sites that this one sets messages for, and the last of them used. */
    struct cohort__map targets;
    struct cohort__channel_target *last_target;

    /* The actor's side. */
    struct cohort__map sources;
    struct cohort__channel_source *last_source; /* the last one looked for, or NULL */
    struct cohort__map queues;                  /* by source and tag */
    struct cohort__list sets;                   /* sets that are not over */
    struct cohort__list under_way;              /* gets that have their message, and read it */
    uint64_t asked_at;                          /* as in struct cohort__operation */
    unsigned patience;
    bool has_lost;                 /* a message, since there was no memory to keep it */
    _Atomic uint32_t num_not_over; /* sets and gets; written only in the endpoint's turn */
};

void cohort__channels_init(struct cohort__channels *channels);
void cohort__channels_fini(struct cohort__channels *channels);

static inline bool cohort__channels_are_idle(const struct cohort__channels *channels)
{
    return atomic_load_explicit(&channels->num_not_over, memory_order_relaxed) == 0;
}

/* All of the following in the endpoint's turn. A message with generation 0 has come in. Takes
 * it. */
void cohort__channels_receive(struct cohort_comm *comm, struct cohort__message *message);

/* The same for a message from another locality, if a get waits for it, and can read it directly
 * from ARRIVAL. False: ARRIVAL is still the caller's. */
bool cohort__channels_take(struct cohort_comm *comm, struct cohort__arrival *arrival);

/* Asks the sites that gets have waited for a long time whether they have left. */
void cohort__channels_tick(struct cohort_comm *comm, uint64_t now);

/* A locality has died: ends what waits for its sites. This site has left: ends everything. */
void cohort__channels_peer_died(struct cohort_comm *comm);
void cohort__channels_leave(struct cohort_comm *comm);

/* Appends to TEXT, of CAPACITY bytes, at USED, what is not over. Returns the new length. */
size_t cohort__channels_describe(const struct cohort_comm *comm, char *text, size_t used,
                                 size_t capacity);

#endif
