/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/transport.h"

#include <stdio.h>

#include "runtime/net/hub.h"
#include "runtime/launch/bootstrap_private.h"
#include "tests/support/test.h"

/* Which transport results from a setting, from the number of hosts, and from whether the launcher
 * has passed shared memory. This is locality 0 of two. */

static cohort_status create(enum cohort__transport transport, uint32_t num_hosts, bool has_hub,
                            struct cohort__net **ret_net)
{
    const struct cohort__settings settings = {.transport = transport};
    const struct cohort__net_handlers handlers = {0}; /* nothing is sent */
    struct cohort__bootstrap bootstrap = {.job = {.size = 2, .num_hosts = num_hosts}};
    snprintf(bootstrap.job.host_address, sizeof(bootstrap.job.host_address), "127.0.0.1");
    if (has_hub)
        CHECK_OK(cohort__hub_create(&bootstrap.hub, 2 / num_hosts));
    cohort_status status =
        cohort__transport_create(ret_net, &bootstrap, &settings, false, &handlers);
    CHECK(!bootstrap.hub);
    return status;
}

static void check_created(enum cohort__transport transport, uint32_t num_hosts, bool has_hub,
                          const char *name)
{
    struct cohort__net *net = NULL;
    if (create(transport, num_hosts, has_hub, &net))
        FAIL("%s: %s", name, cohort_error_message());
    CHECK_TEXT(net->operations->name, name);
    cohort__net_destroy(net);
}

TEST(any)
{
    check_created(COHORT__TRANSPORT_ANY, 1, true, "shm");
    check_created(COHORT__TRANSPORT_ANY, 2, true, "mixed");
    check_created(COHORT__TRANSPORT_ANY, 1, false, "ofi");
    check_created(COHORT__TRANSPORT_ANY, 2, false, "ofi");
}

TEST_CALL(shm, check_created(COHORT__TRANSPORT_SHM, 1, true, "shm"))

/* Memory is not shared, although the launcher has passed some. */
TEST(ofi)
{
    for (uint32_t num_hosts = 1; num_hosts <= 2; num_hosts++) {
        check_created(COHORT__TRANSPORT_OFI, num_hosts, true, "ofi");
        check_created(COHORT__TRANSPORT_OFI, num_hosts, false, "ofi");
    }
}

TEST(refused)
{
    struct cohort__net *net = NULL;
    int num_before = test_num_entries("/proc/self/fd");
    CHECK_FAILS(create(COHORT__TRANSPORT_SHM, 2, true, &net), COHORT_ERR_BAD_PARAMETER,
                "the job has 2 hosts, which share no memory");
    CHECK_FAILS(create(COHORT__TRANSPORT_SHM, 1, false, &net), COHORT_ERR_NETWORK,
                "locality 0 was given no shared memory");
    CHECK(!net);
    CHECK_INT(test_num_entries("/proc/self/fd"), num_before);
}
