/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/comm/endpoint_misuse.h"
#include "runtime/base/misuse.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* So many endpoints that are gone keep their memory, some 15 KiB each. */
enum { NUM_KEPT = 64 };

static struct {
    pthread_mutex_t lock;
    struct cohort_comm *kept[NUM_KEPT];
    unsigned oldest;
} buried = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cohort__endpoint_shut(struct cohort_comm *comm)
{
    comm->gate.next = UINT64_MAX;
    snprintf(comm->gone_name, sizeof(comm->gone_name), "%.63s", comm->group->name);
}

void cohort__endpoint_bury(struct cohort_comm *comm)
{
    comm->group = NULL;
    atomic_store(&comm->refs, 0);
    pthread_mutex_lock(&buried.lock);
    struct cohort_comm *oldest = buried.kept[buried.oldest];
    buried.kept[buried.oldest] = comm;
    buried.oldest = (buried.oldest + 1) % NUM_KEPT;
    pthread_mutex_unlock(&buried.lock);
    free(oldest);
}

void cohort__endpoint_misuse(const struct cohort_comm *comm, const char *function,
                             const void *caller)
{
    char about[128];
    snprintf(about, sizeof(about), ": site %u of communicator \"%.60s\"", comm->this_site,
             comm->gone_name);
    cohort__misuse_of("endpoint", comm, about, COHORT__MISUSE_UNREF, function, caller);
}
