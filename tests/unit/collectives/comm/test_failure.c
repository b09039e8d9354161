/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "collectives/comm/early.h"
#include "collectives/comm/endpoint.h"
#include "collectives/comm/endpoint_life.h"
#include "collectives/comm/inbox.h"
#include "runtime/wire/pack.h"
#include "tests/support/test.h"
#include "tests/unit/collectives/comm/new_membership.h"
#include "tests/unit/runtime/proc/fake_net.h"

/* The failure of a whole call is reported to locality 0. It has the sites 0 and 3 of a
 * communicator, which has one site in each other locality as well. The failure applies to that call
 * only: neither to another instance of the same name, nor to a site that is through with the
 * generation. */
enum { NUM_SITES = FAKE_SIZE + 1, GENERATION = 3, HOME = 1, FIRST = 5, SECOND = 6 };

static struct fake_net fake;
static struct cohort__inbox *inbox;

static void inbox_open(void)
{
    fake_net_open(&fake, 0);
    CHECK_OK(cohort__inbox_get(fake.process, &inbox));
}

static struct cohort__group *group_open(uint64_t number)
{
    struct cohort__group *group;
    struct cohort__membership *membership = new_membership(NUM_SITES, NULL);
    membership->instance = cohort__instance_of(HOME, number);
    for (uint32_t site = 0; site < NUM_SITES; site++)
        membership->locality_of[site] = site % FAKE_SIZE;
    CHECK_OK(cohort__inbox_group(inbox, "told", membership, &group));
    return group;
}

static struct cohort_comm *endpoint_open(struct cohort__group *group, uint32_t site)
{
    struct cohort_comm *comm;
    CHECK_OK(cohort__endpoint_create(&comm, group, site));
    cohort__inbox_add(inbox, comm);
    cohort__group_add(group, comm->this_site, &comm->actor);
    return comm;
}

/* Reports that the call of site 1 has failed. */
static void tell(uint64_t number, uint64_t generation)
{
    const struct cohort__error error = {COHORT_ERR_FAILED, NULL};
    struct cohort__packer packer = {0};
    cohort__message_pack_error(&packer, &error);
    CHECK(!packer.status);
    fake_net_deliver(&fake, 1,
                     (struct cohort__envelope){.kind = COHORT__KIND_ERROR,
                                               .instance = cohort__instance_of(HOME, number),
                                               .generation = generation,
                                               .source_site = 1,
                                               .dest_site = COHORT__NO_SITE,
                                               .tag = COHORT__TAG_CALL},
                     packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

/* Checks for how many generations COMM keeps a failure, and whether GENERATION is one of them. */
static void check_told(const struct cohort_comm *comm, uint32_t num, bool is_told)
{
    CHECK_INT(comm->early.num_failures, num);
    CHECK_INT(cohort__early_is_told(comm, GENERATION), is_told);
}

#define TEST_INBOX(name) TEST_BETWEEN(name, inbox_open(), fake_net_close(&fake))

TEST_INBOX(both_sites)
{
    struct cohort__group *group = group_open(FIRST);
    struct cohort_comm *near = endpoint_open(group, 0);
    tell(FIRST, GENERATION); /* site 3's failure is kept until its endpoint exists */
    struct cohort_comm *later = endpoint_open(group, 3);
    check_told(near, 1, true);
    check_told(later, 1, true);
    tell(FIRST, GENERATION); /* a second report changes nothing */
    tell(FIRST, GENERATION + COHORT__WINDOW);
    check_told(near, 2, true);
    check_told(later, 2, true);
}

TEST_INBOX(another_instance)
{
    struct cohort_comm *first = endpoint_open(group_open(FIRST), 0);
    struct cohort__group *group = group_open(SECOND);
    struct cohort_comm *second = endpoint_open(group, 0);
    tell(FIRST, GENERATION);
    check_told(first, 1, true);
    check_told(second, 0, false);
    check_told(endpoint_open(group, 3), 0, false); /* not kept for that site either */
    tell(SECOND, GENERATION + 1);
    check_told(first, 1, true);
    check_told(second, 1, false);
}

/* The report arrives when its instance has ended, or is not known yet, and the next one is being
 * made. */
TEST_INBOX(late_and_early)
{
    cohort__inbox_creation_begin(inbox);
    tell(FIRST, GENERATION);
    tell(SECOND, GENERATION + 1);
    struct cohort_comm *second = endpoint_open(group_open(SECOND), 0);
    check_told(second, 1, false);
    cohort__inbox_creation_end(inbox); /* drops what was kept for FIRST */
    cohort__inbox_creation_begin(inbox);
    struct cohort_comm *first = endpoint_open(group_open(FIRST), 0);
    cohort__inbox_creation_end(inbox);
    check_told(first, 0, false);
    tell(FIRST + 10, GENERATION); /* an unknown instance */
    check_told(first, 0, false);
    check_told(second, 1, false);
}

/* One site has called the generation and is through with it. The other one has left it out. */
TEST_INBOX(through)
{
    struct cohort__group *group = group_open(FIRST);
    struct cohort_comm *through = endpoint_open(group, 0), *beyond = endpoint_open(group, 3);
    for (uint64_t generation = 1; generation <= GENERATION; generation++)
        cohort__history_call(&through->history, generation);
    cohort__history_call(&beyond->history, GENERATION - 1);
    cohort__history_call(&beyond->history, GENERATION + 1);
    tell(FIRST, GENERATION);
    check_told(through, 0, false);
    check_told(beyond, 0, false);
    tell(FIRST, GENERATION + COHORT__WINDOW); /* the same slot */
    check_told(through, 1, false);
    check_told(beyond, 1, false);
}

/* A failure that is kept for a generation is dropped when the site leaves that generation out. */
TEST_INBOX(left_out)
{
    struct cohort_comm *comm = endpoint_open(group_open(FIRST), 0);
    tell(FIRST, GENERATION);
    tell(FIRST, GENERATION + 2);
    check_told(comm, 2, true);
    cohort__history_call(&comm->history, GENERATION + 1);
    cohort__early_sweep(comm, 1, GENERATION + 1);
    check_told(comm, 1, false);
}

/* At most as many failures are kept as calls may be in flight. A site that is told of another one
 * has to ask. */
TEST_INBOX(many)
{
    struct cohort_comm *comm = endpoint_open(group_open(FIRST), 0);
    for (uint64_t i = 1; i <= COHORT__FAILURES + 1; i++)
        tell(FIRST, GENERATION + i);
    check_told(comm, COHORT__FAILURES, false);
}
