/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/operation.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* All sites but one have come to a meeting, and wait for long. One of them asks the missing site
 * for all, and all of them know the answer. The linker redirects the questions to this test
 * (--wrap). */

enum { NUM_SITES = 8, MISSING = 6, QUESTIONS = 3 };

static _Atomic uint32_t num_asked[NUM_SITES]; /* by the site that asks */
static cohort_promise *missing_may_come;
static cohort_future *missing_comes;

void __real_cohort__operation_ask(struct cohort__operation *operation, uint32_t site, uint32_t tag);

void __wrap_cohort__operation_ask(struct cohort__operation *operation, uint32_t site, uint32_t tag)
{
    atomic_fetch_add(&num_asked[operation->comm->this_site], 1);
    __real_cohort__operation_ask(operation, site, tag);
}

/* How many sites have asked. *RET_MOST: how often the one did that has most often. */
static uint32_t count_askers(uint32_t *ret_most)
{
    uint32_t num_askers = 0;
    *ret_most = 0;
    for (uint32_t site = 0; site < NUM_SITES; site++) {
        uint32_t num = atomic_load(&num_asked[site]);
        num_askers += num > 0;
        *ret_most = num > *ret_most ? num : *ret_most;
    }
    return num_askers;
}

static bool is_answered(cohort_comm *comm)
{
    void *text;
    CHECK_OK(cohort_await_value(cohort_comm_roll_call(comm), &text));
    bool is_answered = strstr(text, "waits for site 6 (locality 0), not called yet") != NULL;
    free(text);
    return is_answered;
}

static cohort_status wait_for_missing(cohort_comm *comm, void *arg)
{
    uint32_t me = cohort_comm_this_site(comm);
    uint32_t most = 0;
    if (me == MISSING)
        CHECK_OK(cohort_await(cohort_future_ref(missing_comes)));
    cohort_future *barrier = cohort_barrier(comm, 1);
    if (me == NUM_SITES - 1) {
        while (!is_answered(comm) || (count_askers(&most), most < QUESTIONS))
            CHECK_OK(cohort_await(cohort_sleep(10000000)));
        CHECK_INT(count_askers(&most), 1);
        cohort_promise_fulfil(missing_may_come, NULL);
    }
    return cohort_await(barrier);
}

TEST(one_asks)
{
    struct cluster *cluster = cluster_create(1, 1, 0);
    missing_may_come = new_promise(&missing_comes);
    CHECK_OK(cluster_sites(cluster,
                           (struct sites){.name = "one-asks",
                                          .options = {.num_sites = NUM_SITES, .stall_after = 1000},
                                          .run = wait_for_missing}));
    cohort_future_unref(missing_comes);
    cluster_destroy(cluster);
}
