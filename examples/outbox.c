/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/outbox.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_ITEMS = 2048 };

cohort_status outbox_begin(struct outbox *outbox)
{
    outbox->sent = NULL;
    outbox->open = calloc(cohort_num_localities(), sizeof(struct outbox_batch *));
    return outbox->open ? COHORT_OK
                        : cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory", outbox->function);
}

/* The batch belongs to the call until its future is complete. */
static void send(struct outbox *outbox, struct outbox_batch *batch)
{
    const cohort_object in = {batch->items, batch->num_items * outbox->item_bytes};
    batch->future = cohort_async_at(batch->locality, outbox->function, &in, &batch->out);
    batch->next = outbox->sent;
    outbox->sent = batch;
}

cohort_status outbox_put(struct outbox *outbox, uint32_t locality, const void *item)
{
    struct outbox_batch *batch = outbox->open[locality];
    if (!batch) {
        batch = malloc(sizeof(*batch) + BATCH_ITEMS * outbox->item_bytes);
        if (!batch)
            return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory for a batch", outbox->function);
        *batch = (struct outbox_batch){.locality = locality};
        outbox->open[locality] = batch;
    }
    memcpy(batch->items + batch->num_items * outbox->item_bytes, item, outbox->item_bytes);
    if (++batch->num_items == BATCH_ITEMS) {
        outbox->open[locality] = NULL;
        send(outbox, batch);
    }
    return COHORT_OK;
}

cohort_status outbox_end(struct outbox *outbox, cohort_status status)
{
    for (uint32_t i = 0; outbox->open && i < cohort_num_localities(); i++)
        if (outbox->open[i])
            send(outbox, outbox->open[i]);
    free(outbox->open);
    while (outbox->sent) {
        struct outbox_batch *batch = outbox->sent;
        outbox->sent = batch->next;
        cohort_status ended = cohort_await(batch->future);
        if (!status && !ended && outbox->take)
            ended = outbox->take(outbox->context, batch);
        status = status ? status : ended;
        cohort_object_fini(&batch->out);
        free(batch);
    }
    return status;
}
