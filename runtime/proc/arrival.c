/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/arrival.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/proc/peer.h"
#include "runtime/proc/send.h"

/* The data of a message with is_passing is copied behind the arrival. */
struct cohort__arrival *cohort__arrival_keep(struct cohort__arrival *arrival)
{
    if (arrival->is_kept)
        return arrival;
    bool is_passing = arrival->message && arrival->message->is_passing;
    size_t bytes = is_passing ? arrival->envelope.payload_bytes : 0;
    struct cohort__arrival *kept = cohort__slab_alloc(sizeof(*kept) + bytes);
    if (!kept)
        return NULL;
    *kept = *arrival;
    kept->is_kept = true;
    if (is_passing) {
        memcpy(kept + 1, arrival->data, bytes);
        kept->data = (unsigned char *)(kept + 1);
        kept->message = NULL;
    }
    return kept;
}

void cohort__arrival_release(struct cohort__arrival *arrival)
{
    if (!arrival)
        return;
    struct cohort__process *process = arrival->process;
    const struct cohort__envelope *envelope = &arrival->envelope;
    if (arrival->copy)
        free(arrival->copy);
    if (arrival->message)
        cohort__net_release(arrival->message);
    const size_t eager = envelope->kind == COHORT__KIND_DATA
                             ? cohort__eager_bytes(envelope, envelope->payload_bytes)
                             : 0;
    if (eager > 0) {
        struct cohort__peer *peer = cohort__peer_get(process, envelope->source_locality);
        if (peer)
            cohort__send_give_back(process, peer, eager, arrival->is_kept);
    }
    if (arrival->is_kept)
        cohort__slab_free(arrival);
}

void cohort__arrival_park(struct cohort__arrival *arrival)
{
    size_t bytes = arrival->envelope.payload_bytes;
    if (!arrival->message || arrival->message->capacity < 2 * bytes + 256)
        return;
    void *copy = malloc(bytes + 1); /* not of 0 bytes: that may give NULL */
    if (!copy)
        return; /* it stays where it is */
    memcpy(copy, arrival->data, bytes);
    arrival->copy = copy;
    arrival->data = copy;
    cohort__net_release(arrival->message);
    arrival->message = NULL;
}
