/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/positions.h"

#include <stdlib.h>

#include "runtime/proc/peer.h"

struct entry {
    struct cohort__position position;
    uint32_t rank;
};

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->position.host != b->position.host)
        return a->position.host < b->position.host ? -1 : 1;
    if (a->position.domain != b->position.domain)
        return a->position.domain < b->position.domain ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

cohort_status cohort__positions_set(struct cohort__process *process,
                                    const struct cohort__position *positions)
{
    uint32_t size = process->options.size;
    struct entry *entries = malloc(size * sizeof(*entries));
    if (!entries)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the positions of %u localities",
                           (unsigned)size);
    for (uint32_t rank = 0; rank < size; rank++)
        entries[rank] = (struct entry){positions[rank], rank};
    qsort(entries, size, sizeof(*entries), compare);
    uint32_t host = 0, domain = 0; /* the first entries of this host, and of this domain */
    for (uint32_t i = 0; i < size; i++) {
        bool is_same_host = entries[i].position.host == entries[host].position.host;
        if (!is_same_host)
            host = i;
        if (!is_same_host || entries[i].position.domain != entries[domain].position.domain)
            domain = i;
        process->hosts[entries[i].rank] = entries[host].rank;
        process->domains[entries[i].rank] = entries[domain].rank;
    }
    free(entries);
    return COHORT_OK;
}

const uint32_t *cohort__positions_hosts(const struct cohort__process *process)
{
    return process->hosts;
}

const uint32_t *cohort__positions_domains(const struct cohort__process *process)
{
    return process->domains;
}
