/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_MESSAGE_H
#define COHORT_COLLECTIVES_COMM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/batch_queue.h"
#include "runtime/proc/arrival.h"

struct cohort_comm;

/* Something for an endpoint to do; it runs as soon as the endpoint gets to it, on any thread. */
struct cohort__item {
    struct cohort__batch_queue_node node;
    void (*run)(struct cohort_comm *comm, struct cohort__item *item);
};

/* Memory of a site that another site of the same locality may read, instead of having it copied
 * into a message; `returned` is posted to the owner when nobody reads any more. */
struct cohort__loan {
    struct cohort__item returned;
    struct cohort_comm *owner;
    const void *pieces; /* the memory, as its lender and its reader describe it */
    bool taken;         /* set by a reader that has read it, where the lender wants to know */
};

/* Memory that goes along with a message within a locality; begins whatever it is part of. */
struct cohort__attachment {
    void (*release)(struct cohort__attachment *attachment);
};

/* What a stalled site is told. */
enum cohort__answer {
    COHORT__ANSWER_NONE,
    COHORT__ANSWER_NOT_CALLED,
    COHORT__ANSWER_IN_FLIGHT,
    COHORT__ANSWER_COMPLETED, /* so its data is on its way */
    COHORT__ANSWER_MOVED_PAST,
    COHORT__ANSWER_GONE,
    COHORT__ANSWER_FAILED,
    COHORT__ANSWER_MISMATCH,
    COHORT__ANSWER_END,
};

/* One message from a site to a site, in one locality or between two. A line of payload is inside:
 * to copy it costs less than to lend it, which takes a second message to give it back. More would
 * make every message larger. Not measured. */
enum { COHORT__MESSAGE_INLINE_BYTES = 64 };
struct cohort__message {
    struct cohort__item item;
    struct cohort__list parked; /* until its call, or its endpoint, is there */
    enum cohort__kind kind;     /* DATA, ANNOUNCE, ERROR, ASK or ANSWER */
    uint32_t source_site;
    uint32_t tag;       /* of DATA, ANNOUNCE, ERROR, ASK: cohort__message_tag, with generation 0 the
                           channels' sequence number; ANSWER: which one */
    uint32_t dest_site; /* while its endpoint isn't made yet */
    uint64_t generation;             /* 0: it belongs to a channel */
    uint64_t fingerprint;            /* of the source; generation 0: the channel's tag */
    uint64_t last_called;            /* ANSWER: by its source */
    size_t bytes;                    /* DATA, ANNOUNCE */
    struct cohort__error error;      /* ERROR, ANSWER_FAILED; ASK, ANSWER_MISMATCH: with
                                        COHORT_ERR_MISMATCH, in words what was called */
    struct cohort__arrival *arrival; /* where the data is, if it came from another locality; */
    bool taken_up;                   /* ANNOUNCE: somebody fetches it, and will answer it */
    struct cohort__loan *loan;       /* if it is lent; */
    struct cohort__attachment *attachment;                   /* if it came along; */
    unsigned char inline_data[COHORT__MESSAGE_INLINE_BYTES]; /* otherwise */
};

/* The key of a step within a generation and a source: phase and the plan's tag. */
enum { COHORT__TAG_BITS = 24 };
static inline uint32_t cohort__message_tag(unsigned phase, uint32_t tag)
{
    return (uint32_t)phase << COHORT__TAG_BITS | tag;
}

/* In place of it: an ERROR that is about the call as a whole. Sent to another locality it is for
 * all sites there: no site is its destination. */
#define COHORT__TAG_CALL UINT32_MAX
#define COHORT__NO_SITE UINT32_MAX

static inline unsigned cohort__message_phase(uint32_t tag)
{
    return tag >> COHORT__TAG_BITS;
}

/* With the fields up to fingerprint set and all others empty; NULL where memory ran out. */
struct cohort__message *cohort__message_create(enum cohort__kind kind, uint32_t source_site,
                                               uint64_t generation, uint64_t fingerprint,
                                               uint32_t tag);

/* From another locality; takes ARRIVAL, on failure too, and keeps it. NULL: it made no sense, or no
 * memory; the message is set. */
struct cohort__message *cohort__message_from_arrival(struct cohort__arrival *arrival);

/* The payload of what carries ERROR. */
struct cohort__packer;
void cohort__message_pack_error(struct cohort__packer *packer, const struct cohort__error *error);

/* Frees MESSAGE and gives back what it holds: the loan to its owner, the budget to the sender, an
 * announced block that nobody has fetched. NULL is fine. */
void cohort__message_release(struct cohort__message *message);

/* Sends MESSAGE to SITE of COMM's group, which may sit here or in another locality. For small ones:
 * what goes to another locality is ERROR, ASK or ANSWER. Takes MESSAGE. HANDLE: of the announcement
 * that an ERROR replaces, or 0. */
void cohort__message_send(struct cohort_comm *comm, uint32_t site, struct cohort__message *message,
                          uint64_t handle);

#endif
