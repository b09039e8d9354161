/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_OUTBOX_H
#define COHORT_EXAMPLES_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* Collects small items for other localities, and gives them to a remote task there in batches: the
 * message is a row of items. One task at a time. */
struct outbox_batch {
    struct outbox_batch *next;
    uint32_t locality;
    size_t num_items;
    cohort_future *future;
    cohort_object out; /* what the task has given back, at `take` */
    unsigned char items[];
};

struct outbox {
    const char *function;
    size_t item_bytes;
    /* Called for each batch when its task has succeeded, by outbox_end. May be NULL. */
    cohort_status (*take)(void *context, const struct outbox_batch *batch);
    void *context;

    /* Private. */
    struct outbox_batch **open; /* by locality, or NULL */
    struct outbox_batch *sent;
};

/* The first part is the caller's to fill in. */
cohort_status outbox_begin(struct outbox *outbox);

/* Puts a copy of ITEM into the batch for LOCALITY. */
cohort_status outbox_put(struct outbox *outbox, uint32_t locality, const void *item);

/* Sends what is left, waits for all, and frees them. STATUS is what happened so far: if it is an
 * error, or one of the batches fails, that is the result. Suspends. */
cohort_status outbox_end(struct outbox *outbox, cohort_status status);

#endif
