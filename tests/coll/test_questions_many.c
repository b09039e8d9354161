/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>

#include "cohort/ragged.h"
#include "collectives/comm/operation.h"
#include "collectives/exec/note_steps.h"
#include "runtime/base/container.h"
#include "tests/support/cluster.h"
#include "tests/support/test.h"

/* Half of the sites wait for each of the others, ask them, and get their answers. A site looks at
 * its steps once to ask, and for an answer only at those that have to do with that site. Whom a
 * step waits for is asked of a function that the linker redirects to this test (--wrap), which
 * counts. */

enum { SITES = 64, HALF = SITES / 2 };
static const uint64_t never = UINT64_C(1000000000000); /* ns */

static _Atomic uint32_t num_looks;

uint32_t __real_cohort__note_awaited(const struct cohort__execution *execution, uint32_t step);

uint32_t __wrap_cohort__note_awaited(const struct cohort__execution *execution, uint32_t step)
{
    atomic_fetch_add(&num_looks, 1);
    return __real_cohort__note_awaited(execution, step);
}

struct turn {
    struct cohort__item item;
    atomic_bool is_over;
};

static void look(struct cohort__actor *actor, struct cohort__item *item)
{
    struct cohort__operation *operation = cohort__endpoint_find(cohort__endpoint_of(actor), 1);
    operation->handlers->stalled(operation);
    atomic_store(&COHORT_CONTAINER_OF(item, struct turn, item)->is_over, true);
}

static cohort_future *call(cohort_comm *comm, char *out)
{
    static const char in[SITES];
    size_t counts[SITES];
    for (uint32_t site = 0; site < SITES; site++)
        counts[site] = 1;
    return cohort_all_to_allv(comm, in, counts, NULL, out, counts, NULL, COHORT_INT8, 1);
}

TEST(answers)
{
    struct cluster *cluster = cluster_create(0, 1, 0);
    cohort_comm *comms[SITES];
    cohort_future *done[SITES];
    static char out[SITES][SITES];
    cluster_create_comms(cluster, comms, "many",
                         (cohort_comm_options){.num_sites = SITES,
                                               .stall_after = never,
                                               .algorithms = "all_to_all=linear"});
    for (uint32_t site = 0; site < HALF; site++)
        done[site] = call(comms[site], out[site]);
    for (uint32_t site = 0; site < HALF; site++) {
        struct turn turn = {.item.run = look};
        cohort__endpoint_post(comms[site], &turn.item);
        YIELD_WHILE(!atomic_load(&turn.is_over));
    }
    CHECK(num_looks >= 2 * HALF * HALF); /* to ask, and to be answered */
    CHECK(num_looks <= 3 * HALF * HALF);
    for (uint32_t site = HALF; site < SITES; site++)
        done[site] = call(comms[site], out[site]);
    CHECK_OK(cohort_await(cohort_when_all(done, SITES)));
    for (uint32_t site = 0; site < SITES; site++)
        cohort_comm_unref(comms[site]);
    cluster_destroy(cluster);
}
