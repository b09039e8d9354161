/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/arrival.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/slab.h"
#include "runtime/proc/peer.h"

void cohort__arrival_release(struct cohort__arrival *arrival)
{
    if (!arrival)
        return;
    struct cohort__process *process = arrival->process;
    if (arrival->copy)
        free(arrival->copy);
    else
        cohort__net_release(arrival->message);
    if (arrival->envelope.kind == COHORT__KIND_DATA && arrival->envelope.payload_bytes > 0) {
        struct cohort__peer *peer = cohort__peer_get(process, arrival->envelope.source_locality);
        if (peer)
            cohort__send_give_back(process, peer, arrival->envelope.payload_bytes);
    }
    cohort__slab_free(arrival);
}

void cohort__arrival_park(struct cohort__arrival *arrival)
{
    size_t bytes = arrival->envelope.payload_bytes;
    if (arrival->copy || arrival->message->capacity < 2 * bytes + 256)
        return;
    void *copy = malloc(bytes + 1); /* never of no bytes: NULL is for 'not copied' */
    if (!copy)
        return; /* it stays where it is */
    memcpy(copy, arrival->data, bytes);
    arrival->copy = copy;
    arrival->data = copy;
    cohort__net_release(arrival->message);
}
