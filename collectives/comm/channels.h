/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNELS_H
#define COHORT_COLLECTIVES_COMM_CHANNELS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collectives/comm/questions.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"

/* The channels of an endpoint: what it has of them. Only channel*.c know what is in it. Their
 * messages have generation 0, which no collective has. The transport may reorder messages, so each
 * site numbers the messages that it sets for another one. The getter puts them in order, and
 * matches them with gets by source and tag. An endpoint keeps one record for each site that it
 * talks to, and one for each source and tag for which a message or a get waits. */
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
    struct cohort__map any;                     /* by tag: see channel_private.h */
    struct cohort__list unsorted;               /* messages in queues that are not in `any` */
    /* Messages that are kept here, and whose setters may want their data back, by their numbers. */
    struct cohort__map lent;
    uint64_t num_asked;                   /* gets that have ever waited */
    uint32_t num_from_site, num_from_any; /* gets that wait */
    /* How many sites behind this one, in a circle, are known to be gone; and how many of them the
     * gets from any site need not ask in this round. */
    uint32_t num_gone, num_passed;
    /* As cohort__process_death_news was when all deaths here were acknowledged, and 0 before. */
    uint32_t news_known;
    /* Gets that are to fail, some in each turn of the event loop: all of these sources, and those
     * from any site, for that reason. */
    struct cohort__list doomed_sources, doomed_any;
    struct cohort__error why_any;
    struct cohort__list sets;         /* sets that are not over, except: */
    struct cohort__list revoked_sets; /* to be taken back, some in each turn likewise */
    struct cohort__list unread;       /* messages, once the site has left: to be given back so */
    struct cohort__list under_way;    /* gets that have their message, and read it */
    uint64_t asked_at;                /* as in struct cohort__operation */
    unsigned backoff;
    struct cohort__questions questions;
    bool has_lost;                 /* a message, since there was no memory to keep it */
    _Atomic uint32_t num_not_over; /* sets and gets; written only in the endpoint's turn */
};

/* No set or get is under way. Any thread. */
static inline bool cohort__channels_are_idle(const struct cohort__channels *channels)
{
    return atomic_load_explicit(&channels->num_not_over, memory_order_relaxed) == 0;
}

#endif
