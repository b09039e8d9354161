/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "collectives/comm/message.h"
#include "runtime/wire/pack.h"
#include "tests/support/await_within.h"
#include "tests/support/cluster.h"

/* A locality has no memory for the words of an error: the site that waits is told without them, and
 * does not wait for ever. */

static const uint64_t limit = UINT64_C(60000000000);
static uint32_t num_wordless;

void __wrap_cohort__message_pack(const struct cohort__message *message,
                                 const struct cohort__death *death, struct cohort__packer *packer);
void __real_cohort__message_pack(const struct cohort__message *message,
                                 const struct cohort__death *death, struct cohort__packer *packer);
void __wrap_cohort__message_pack_error(struct cohort__packer *packer,
                                       const struct cohort__error *error);

void __wrap_cohort__message_pack(const struct cohort__message *message,
                                 const struct cohort__death *death, struct cohort__packer *packer)
{
    if (message->error.status) {
        packer->status = COHORT_ERR_NO_MEMORY;
        num_wordless++;
    } else {
        __real_cohort__message_pack(message, death, packer);
    }
}

/* For all sites of a locality: these ask. */
void __wrap_cohort__message_pack_error(struct cohort__packer *packer,
                                       const struct cohort__error *error)
{
    (void)error;
    packer->status = COHORT_ERR_NO_MEMORY;
}

/* The call of site 0 is wrong. */
static void test_rejected(void)
{
    cohort_comm *comms[2];
    cohort_future *made[2];
    int32_t in = 1, out[2];
    struct cluster *cluster = cluster_create(1, 2, 0);
    for (uint32_t site = 0; site < 2; site++)
        made[site] = cluster_create_comm(
            cluster, &comms[site], "pair",
            &(cohort_comm_options){.num_sites = 2, .this_site = site, .stall_after = 2000000});
    CHECK_INT(cohort_await(cohort_when_all(made, 2)), COHORT_OK);
    cohort_future *other = cohort_all_gather(comms[1], &in, out, 1, COHORT_INT32, 1);
    CHECK_INT(cohort_await(cohort_all_gather(comms[0], NULL, out, 1, COHORT_INT32, 1)),
              COHORT_ERR_BAD_PARAMETER);
    CHECK_INT(await_within(other, limit), COHORT_ERR_NO_MEMORY);
    CHECK_CONTAINS(cohort_error_message(),
                   "site 0 tells of an error, and has no memory for its words");
    CHECK(num_wordless > 0);
    for (uint32_t site = 0; site < 2; site++)
        cohort_comm_unref(comms[site]);
    cluster_destroy(cluster);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"rejected", test_rejected}};
    return cluster_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]), 1);
}
