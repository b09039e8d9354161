/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/proc/peer.h"

#include <stdlib.h>

#include "runtime/proc/assembly.h"
#include "runtime/proc/letter.h"

struct cohort__peer *cohort__peer_make(struct cohort__process *process, uint32_t rank)
{
    struct cohort__peer *peer = NULL;
    struct cohort__peer *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    made->rank = rank;
    made->budget = process->options.eager_budget;
    pthread_mutex_init(&made->lock, NULL);
    cohort__list_init(&made->letters);
    cohort__list_init(&made->assemblies);
    cohort__list_init(&made->pending);
    cohort__list_init(&made->fetches);
    cohort__map_init(&made->announced);
    if (atomic_compare_exchange_strong(&process->peers[rank], &peer, made))
        return made;
    cohort__peer_destroy(made); /* another thread was faster */
    return peer;
}

void cohort__peer_destroy(struct cohort__peer *peer)
{
    if (!peer)
        return;
    cohort__letters_fini(&peer->letters);
    cohort__assemblies_fini(&peer->assemblies);
    cohort__map_fini(&peer->announced);
    pthread_mutex_destroy(&peer->lock);
    free(peer);
}
