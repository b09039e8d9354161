/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/job/contact.h"

#include "runtime/base/cores.h"
#include "runtime/launch/bootstrap_private.h"
#include "runtime/launch/domain.h"
#include "tests/support/test.h"

/* 7 localities: 4 on host 0, and 3 on host 1. */
static struct cohort__bootstrap locality(uint32_t rank)
{
    return (struct cohort__bootstrap){.job = {.rank = rank,
                                              .size = 7,
                                              .num_hosts = 2,
                                              .host = rank / 4,
                                              .slot = rank % 4,
                                              .sharing = rank < 4 ? 4 : 3}};
}

static cohort_status find(uint32_t rank, struct cohort__topology topology,
                          struct cohort__position *ret_position)
{
    struct cohort__bootstrap bootstrap = locality(rank);
    return cohort__position_find(&bootstrap, &topology, ret_position);
}

TEST(real)
{
    for (uint32_t rank = 0; rank < 7; rank++) {
        struct cohort__position position;
        CHECK_OK(find(rank, (struct cohort__topology){0}, &position));
        CHECK_INT(position.host, rank / 4);
        CHECK_INT(position.domain, cohort__domain_find());
        CHECK(position.cores != 0 && position.cores == cohort__cores_identify());
    }
}

/* The last host and its last domain may have fewer localities than the others. */
TEST(played)
{
    for (uint32_t rank = 0; rank < 7; rank++) {
        struct cohort__position position;
        CHECK_OK(find(rank, (struct cohort__topology){4, 1, 2}, &position));
        CHECK_INT(position.host, rank / 2);
        CHECK(position.cores == cohort__cores_identify());
        CHECK_OK(find(rank, (struct cohort__topology){2, 2, 2}, &position));
        CHECK_INT(position.host, rank / 4);
        CHECK_INT(position.domain, rank / 2);
    }
}

TEST(impossible)
{
    for (uint32_t rank = 0; rank < 7; rank++) {
        struct cohort__position position = {7, 7, 7};
        CHECK_FAILS(find(rank, (struct cohort__topology){3, 1, 2}, &position),
                    COHORT_ERR_BAD_PARAMETER, "COHORT_TOPOLOGY is 3x1x2, but the job has 7 ");
        CHECK_FAILS(find(rank, (struct cohort__topology){1, 2, 4}, &position),
                    COHORT_ERR_BAD_PARAMETER,
                    "COHORT_TOPOLOGY is 1x2x4: localities 0 to 6 are to be one host, but are on "
                    "several");
        cohort_status status = find(rank, (struct cohort__topology){3, 3, 1}, &position);
        CHECK_INT(status, rank / 3 == 1 ? COHORT_ERR_BAD_PARAMETER : COHORT_OK);
        CHECK_INT(position.host, rank / 3 == 1 ? 7 : rank / 3);
    }
}
