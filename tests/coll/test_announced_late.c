/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include <cohort/cohort.h>

#include "runtime/proc/arrival.h"
#include "runtime/proc/process.h"
#include "runtime/proc/registry.h"
#include "tests/support/cluster.h"

/* Site 1 has announced a block to site 0, and both leave. The announcement, and the error of that
 * call, come to site 0's locality when the communicator has ended and site 0 is creating it again.
 * Site 1 gets its block back, ends its call, and only then joins. The linker redirects what comes
 * in to this test (--wrap). */

enum { LOCALITIES = 2, BYTES = 1000, BUDGET = 64, MOST_HELD = 4 };

static const uint64_t patience = 20000000000; /* ns */

static void (*take)(void *context, struct cohort__arrival *arrival);
static void (*end)(void *context, uint64_t instance);
static struct cohort__arrival *held[MOST_HELD];
static void *context_of_held;
static atomic_uint num_held;
static atomic_uint num_ended; /* localities in which it has */

static void on_message(void *context, struct cohort__arrival *arrival)
{
    const enum cohort__kind kind = arrival->envelope.kind;
    unsigned num = atomic_load(&num_held);
    if (kind != COHORT__KIND_ANNOUNCE && (kind != COHORT__KIND_ERROR || num == 0)) {
        take(context, arrival);
        return;
    }
    CHECK(num < MOST_HELD && (held[num] = cohort__arrival_keep(arrival)));
    context_of_held = context;
    atomic_store(&num_held, num + 1);
}

static void let_go(void)
{
    for (unsigned i = 0; i < atomic_load(&num_held); i++)
        take(context_of_held, held[i]);
}

static void on_ended(void *context, uint64_t instance)
{
    end(context, instance);
    atomic_fetch_add(&num_ended, 1);
}

void __real_cohort__process_set_handlers(struct cohort__process *process,
                                         const struct cohort__process_handlers *handlers);
void __real_cohort__registry_set_ended(struct cohort__registry *registry,
                                       void (*ended)(void *context, uint64_t instance),
                                       void *context);

void __wrap_cohort__process_set_handlers(struct cohort__process *process,
                                         const struct cohort__process_handlers *handlers)
{
    struct cohort__process_handlers ours = *handlers;
    take = handlers->message;
    ours.message = on_message;
    __real_cohort__process_set_handlers(process, &ours);
}

void __wrap_cohort__registry_set_ended(struct cohort__registry *registry,
                                       void (*ended)(void *context, uint64_t instance),
                                       void *context)
{
    end = ended;
    __real_cohort__registry_set_ended(registry, on_ended, context);
}

static cohort_future *create(struct cluster *cluster, uint32_t site, cohort_comm **ret_comm)
{
    return cluster_create_comm(cluster, ret_comm, "announced late",
                               &(cohort_comm_options){.num_sites = LOCALITIES,
                                                      .this_site = site,
                                                      .create_deadline = patience});
}

/* Calls nothing. */
static cohort_status run_receiver(void *cluster)
{
    cohort_comm *comm;
    CHECK_OK(cohort_await(create(cluster, 0, &comm)));
    YIELD_WHILE(atomic_load(&num_held) == 0);
    cohort_comm_unref(comm);
    cohort_future *again = create(cluster, 0, &comm);
    YIELD_WHILE(atomic_load(&num_ended) < LOCALITIES);
    let_go();
    CHECK_OK(cohort_await(again));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

static cohort_status run_sender(void *cluster)
{
    static const unsigned char block[BYTES];
    cohort_comm *comm;
    CHECK_OK(cohort_await(create(cluster, 1, &comm)));
    cohort_future *call = cohort_gather_there(comm, block, BYTES, COHORT_BYTE, 1);
    YIELD_WHILE(atomic_load(&num_held) == 0);
    cohort_comm_unref(comm);
    CHECK_INT(cohort_await(call), COHORT_ERR_CANCELLED);
    CHECK_OK(cohort_await(create(cluster, 1, &comm)));
    cohort_comm_unref(comm);
    return COHORT_OK;
}

TEST(announced_late)
{
    struct cluster *cluster = cluster_create(0, LOCALITIES, BUDGET);
    cohort_future *sites[] = {cohort_async(run_receiver, cluster),
                              cohort_async(run_sender, cluster)};
    CHECK_OK(cohort_await(cohort_when_all(sites, 2)));
    cluster_destroy(cluster);
}
