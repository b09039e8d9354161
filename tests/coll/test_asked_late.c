/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include <cohort/cohort.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/message.h"
#include "tests/support/cluster.h"
#include "tests/support/sites.h"

/* Two sites do not agree. What site 1 says of it comes so late to site 0 that site 0 asks site 1,
 * whose call has failed by then. Site 0 still finds by itself why, and in its own words. The linker
 * redirects what comes in to this test (--wrap). */

enum { GENERATION = 1, LATE = 0, ASKED = 1 };

static struct cohort__message *held; /* in the turn of the late site */
static atomic_bool has_failed;       /* the call of the site that is asked */
static atomic_bool is_answered;      /* after that */

void __real_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message);

void __wrap_cohort__endpoint_receive(struct cohort_comm *comm, struct cohort__message *message)
{
    bool is_late = comm->this_site == LATE && message->generation == GENERATION;
    if (is_late && !held && message->kind == COHORT__KIND_DATA) {
        held = message;
        return;
    }
    bool is_answer = message->kind == COHORT__KIND_ANSWER && atomic_load(&has_failed);
    __real_cohort__endpoint_receive(comm, message);
    if (is_late && is_answer && !atomic_exchange(&is_answered, true))
        __real_cohort__endpoint_receive(comm, held);
}

static cohort_status disagree(cohort_comm *comm, void *arg)
{
    bool is_late = cohort_comm_this_site(comm) == LATE;
    cohort_datatype type = is_late ? COHORT_INT32 : COHORT_DOUBLE;
    CHECK_FAILS(cohort_await(cohort_check_rooted(comm, type, GENERATION)), COHORT_ERR_BAD_PARAMETER,
                is_late ? "site 0, " : "site 1, ");
    CHECK_CONTAINS(cohort_error_message(), is_late ? "this site int32" : "this site double");
    if (!is_late)
        atomic_store(&has_failed, true);
    return cohort_await(cohort_barrier(comm, GENERATION + 1));
}

TEST(asked_late)
{
    struct cluster *cluster = cluster_create(1, 2, 0);
    CHECK_OK(cluster_sites(cluster, (struct sites){.name = "asked-late",
                                                   .options = {.num_sites = 2, .stall_after = 1000},
                                                   .run = disagree}));
    CHECK(atomic_load(&is_answered));
    cluster_destroy(cluster);
}
