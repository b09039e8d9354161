/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_MESSAGE_H
#define COHORT_COLLECTIVES_COMM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/comm/actor.h"
#include "collectives/plan/tag.h"
#include "runtime/base/error.h"
#include "runtime/base/list.h"
#include "runtime/base/map.h"
#include "runtime/base/tree.h"
#include "runtime/proc/arrival.h"

/* What a site says to another one, and what travels with it. A message has one owner at a time, who
 * may be any thread: who makes it, then the actor that it is posted to. */

/* Memory of a site that another site of the same locality may read, so that it need not be copied
 * into a message. `returned` is posted to the owner when it is not read any more. */
struct cohort__loan {
    struct cohort__item returned;
    struct cohort__actor *owner;
    const void *pieces; /* the memory, in a form that owner and reader know */
    bool taken;         /* set by a reader that has read it, if the owner wants to know */
};

/* Memory that travels with a message inside a locality. It is the first field of a larger
 * struct. */
struct cohort__attachment {
    void (*release)(struct cohort__attachment *attachment);
};

/* How the site that was asked stands with a call. */
enum cohort__answer {
    COHORT__ANSWER_NONE,
    COHORT__ANSWER_NOT_CALLED,
    COHORT__ANSWER_IN_FLIGHT,
    COHORT__ANSWER_COMPLETED, /* so its data is on its way */
    COHORT__ANSWER_MOVED_PAST,
    COHORT__ANSWER_GONE,
    COHORT__ANSWER_FAILED,
    COHORT__ANSWER_MISMATCH,
    COHORT__ANSWER_LEFT_OUT, /* it has called, with fewer messages than the asker waits for */
    COHORT__ANSWER_END,
};

/* One message from a site to a site, in one locality or between two. A line of payload is inside:
 * to copy it costs less than to lend it, which takes a second message to give it back. More would
 * make every message larger. Not measured. */
enum { COHORT__MESSAGE_INLINE_BYTES = 64 };
struct cohort__message {
    struct cohort__item item;   /* its function is set when it is delivered */
    struct cohort__list parked; /* in a list of a channel, until a get is there */
    union {                     /* while it waits: */
        struct {
            struct cohort__list of_tag;   /* a channel's: see channel_private.h */
            struct cohort__map_node lent; /* the same, if its data is still its setter's */
        };
        struct {
            struct cohort__tree_node in_order; /* by generation, see early.c; by site, group.c */
            struct cohort__map_node of_place;  /* see early.c */
        };
    };
    enum cohort__kind kind; /* DATA, ANNOUNCE, ERROR, ASK or ANSWER */
    uint32_t source_site;
    /* DATA, ANNOUNCE, ERROR: cohort__message_tag. ASK: the same, of the phase and of how many
     * messages its source gets in all from who is asked. With generation 0: the channel's sequence
     * number. ANSWER: enum cohort__answer. */
    uint32_t tag;
    uint64_t generation; /* 0: it belongs to a channel */
    /* Of the source; with generation 0: the channel's tag. ANSWER_IN_FLIGHT: the number + 1 of a
     * site that it waits for and that has not called, or 0. ANSWER_GONE: the number + 1 of the site
     * that has revoked the communicator, or 0. ANSWER_LEFT_OUT: how many messages there are too few
     * for who has asked. */
    uint64_t fingerprint;
    uint64_t last_called; /* ANSWER: the last generation that its source has called */
    size_t bytes;         /* DATA, ANNOUNCE */
    /* ERROR, ANSWER_FAILED: the error. ASK, ANSWER_MISMATCH: COHORT_ERR_MISMATCH, and what was
     * called, in words. */
    struct cohort__error error;
    struct cohort__arrival *arrival; /* from another locality: where the data is */
    bool taken_up;                   /* ANNOUNCE: a fetch of it has begun, and will answer it */
    struct cohort__loan *loan;       /* if the data is lent */
    struct cohort__attachment *attachment;                   /* if the data came along */
    unsigned char inline_data[COHORT__MESSAGE_INLINE_BYTES]; /* else the data */
};

/* The key of a step within a generation and a source: its phase, and its tag in the plan. */
static inline uint32_t cohort__message_tag(unsigned phase, uint32_t tag)
{
    return (uint32_t)phase << COHORT__TAG_BITS | tag;
}

/* The tag of an ERROR about a call as a whole. If that is sent to another locality, it is for all
 * sites there, and no site is its destination. */
#define COHORT__TAG_CALL UINT32_MAX
#define COHORT__NO_SITE UINT32_MAX

static inline unsigned cohort__message_phase(uint32_t tag)
{
    return tag >> COHORT__TAG_BITS;
}

/* Sets the fields up to fingerprint. All others are empty. NULL: out of memory. */
struct cohort__message *cohort__message_create(enum cohort__kind kind, uint32_t source_site,
                                               uint64_t generation, uint64_t fingerprint,
                                               uint32_t tag);

/* MESSAGE, which has come to SITE and is not parked, becomes what SITE answers to its source. What
 * it held is given back. This needs no memory, so each question can be answered: one that is not
 * would never be asked again (questions.h). */
void cohort__message_answer(struct cohort__message *message, uint32_t site, uint64_t number,
                            enum cohort__answer answer);

/* A message from another locality. Takes ARRIVAL, on failure too. NULL: it made no sense, or there
 * is no memory. The error message is set. */
struct cohort__message *cohort__message_from_arrival(struct cohort__arrival *arrival);

/* Packs ERROR as a payload; and sets *ERROR, which is empty, to the one in a payload, which is not
 * COHORT_OK. COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY. */
struct cohort__packer;
void cohort__message_pack_error(struct cohort__packer *packer, const struct cohort__error *error);
cohort_status cohort__message_unpack_error(const void *data, size_t bytes,
                                           struct cohort__error *error);

/* Packs what MESSAGE carries to another locality as its payload: an error; or DEATH, the first that
 * its site knows of, if it knows one and has to say so. */
struct cohort__death;
void cohort__message_pack(const struct cohort__message *message, const struct cohort__death *death,
                          struct cohort__packer *packer);

/* Whether it has to say so: a site that has left does. */
bool cohort__message_carries_death(const struct cohort__message *message);

/* Frees MESSAGE and gives back what it holds: a loan to its owner, credit to the sender, an
 * announced block that has not been fetched. NULL is fine. */
void cohort__message_release(struct cohort__message *message);

#endif
