/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/assembly.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/proc/peer.h"

struct assembly {
    struct cohort__list link; /* in the peer's list */
    uint64_t handle;
    size_t bytes;
    size_t arrived;
    unsigned char *data;
};

static void destroy(struct assembly *assembly)
{
    cohort__list_remove(&assembly->link);
    free(assembly->data);
    free(assembly);
}

static struct assembly *find(const struct cohort__peer *peer, uint64_t handle)
{
    for (struct cohort__list *link = peer->assemblies.next; link != &peer->assemblies;
         link = link->next) {
        struct assembly *assembly = COHORT_CONTAINER_OF(link, struct assembly, link);
        if (assembly->handle == handle)
            return assembly;
    }
    return NULL;
}

/* NULL: out of memory. */
static struct assembly *create(struct cohort__peer *peer, const struct cohort__envelope *envelope)
{
    struct assembly *assembly = malloc(sizeof(*assembly));
    unsigned char *data = assembly ? malloc(envelope->total_bytes) : NULL;
    if (!data) {
        free(assembly);
        return NULL;
    }
    *assembly =
        (struct assembly){.handle = envelope->handle, .bytes = envelope->total_bytes, .data = data};
    cohort__list_push_back(&peer->assemblies, &assembly->link);
    peer->assembly_bytes += assembly->bytes;
    return assembly;
}

/* NULL: with the reason in WHY, which is empty where there is no memory. */
static struct assembly *find_or_create(struct cohort__peer *peer,
                                       const struct cohort__envelope *envelope, char *why,
                                       size_t why_bytes)
{
    struct assembly *assembly = find(peer, envelope->handle);
    if (!assembly && envelope->total_bytes > COHORT__ASSEMBLY_BYTES_MAX - peer->assembly_bytes) {
        snprintf(why, why_bytes, "sent parts of more than %d bytes at once",
                 COHORT__ASSEMBLY_BYTES_MAX);
        return NULL;
    }
    if (assembly && (assembly->bytes != envelope->total_bytes ||
                     envelope->payload_bytes > assembly->bytes - assembly->arrived)) {
        snprintf(why, why_bytes, "sent parts of %zu bytes that don't fit together",
                 assembly->bytes);
        return NULL;
    }
    *why = '\0';
    return assembly ? assembly : create(peer, envelope);
}

/* ASSEMBLY is complete: gives its data to ARRIVAL. */
static void hand_over(struct cohort__peer *peer, struct assembly *assembly,
                      struct cohort__arrival *arrival)
{
    cohort__net_release(arrival->message);
    arrival->message = NULL;
    arrival->copy = assembly->data;
    arrival->data = assembly->data;
    arrival->envelope.kind = COHORT__KIND_DATA;
    arrival->envelope.payload_bytes = (uint32_t)assembly->bytes;
    arrival->envelope.total_bytes = 0;
    arrival->envelope.offset = 0;
    peer->assembly_bytes -= assembly->bytes;
    assembly->data = NULL;
    destroy(assembly);
}

bool cohort__assembly_take(struct cohort__peer *peer, struct cohort__arrival *arrival)
{
    char why[120];
    const struct cohort__envelope *envelope = &arrival->envelope;
    struct assembly *assembly = find_or_create(peer, envelope, why, sizeof(why));
    if (assembly) {
        memcpy(assembly->data + envelope->offset, arrival->data, envelope->payload_bytes);
        assembly->arrived += envelope->payload_bytes;
        if (assembly->arrived == assembly->bytes) {
            hand_over(peer, assembly, arrival);
            return true;
        }
    }
    struct cohort__process *process = arrival->process;
    cohort__arrival_release(arrival);
    if (!assembly && *why)
        cohort__process_blame(process, peer->rank, why);
    else if (!assembly)
        cohort__process_give_up(process, peer->rank,
                                "was given up: no memory for parts of a message from it");
    return false;
}

void cohort__assemblies_fini(struct cohort__list *assemblies)
{
    while (!cohort__list_is_empty(assemblies))
        destroy(COHORT_CONTAINER_OF(assemblies->next, struct assembly, link));
}
