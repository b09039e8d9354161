/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_CHANNEL_QUEUE_H
#define COHORT_COLLECTIVES_COMM_CHANNEL_QUEUE_H

#include "collectives/comm/channels.h"

/* Of channels: what a site remembers of each site that it gets from, and of each such site and tag.
 * In the endpoint's turn. */

struct cohort__channel_queue;

/* A site that this one gets messages from. */
struct cohort__channel_source {
    struct cohort__map_node node; /* by site; the hash is the key */
    uint32_t site;
    uint32_t expected; /* the next sequence number; they wrap around */
    uint32_t num_gets; /* gets that wait for a message from it */
    bool has_left;     /* the communicator, after `num_set` messages for this site */
    uint32_t num_set;
    struct cohort__list doomed;         /* in `doomed_sources`, or in no list */
    struct cohort__list overtaking;     /* messages that came before their turn, in order */
    struct cohort__list queues;         /* of it, by `of_source` */
    struct cohort__channel_queue *last; /* used last; it stays even if nothing waits in it */
};

/* What waits for one source and tag: messages that no get has asked for, or gets without a
 * message. */
struct cohort__channel_queue {
    struct cohort__map_node node;
    struct cohort__channel_source *source;
    struct cohort__list of_source;
    uint64_t tag;
    struct cohort__list messages;
    struct cohort__list gets;
};

struct cohort__channel_key {
    uint32_t site;
    uint64_t tag;
};

/* The record of SITE. NULL: out of memory. */
struct cohort__channel_source *cohort__channel_source_of(struct cohort__channels *channels,
                                                         uint32_t site);

/* The queue of SOURCE and TAG, which is then the one used last. NULL: out of memory. */
struct cohort__channel_queue *cohort__channel_queue_of(struct cohort__channels *channels,
                                                       struct cohort__channel_source *source,
                                                       uint64_t tag);

/* The same if there is one, or NULL. */
struct cohort__channel_queue *cohort__channel_queue_find(const struct cohort__channels *channels,
                                                         struct cohort__channel_key key);

/* Frees it if it is empty, and not the one used last. */
void cohort__channel_queue_tidy(struct cohort__channels *channels,
                                struct cohort__channel_queue *queue);

void cohort__channel_queues_fini(struct cohort__channels *channels);

#endif
