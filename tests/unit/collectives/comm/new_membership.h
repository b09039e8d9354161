/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_UNIT_COLLECTIVES_COMM_NEW_MEMBERSHIP_H
#define COHORT_TESTS_UNIT_COLLECTIVES_COMM_NEW_MEMBERSHIP_H

#include <string.h>

#include "collectives/comm/settings.h"
#include "tests/support/test.h"

/* What the home of names would say of a communicator, number 1, of NUM_SITES sites with the default
 * settings. LOCALITY_OF: by site; NULL: all are in locality 0. */
static inline struct cohort__membership *new_membership(uint32_t num_sites,
                                                        const uint32_t *locality_of)
{
    const struct cohort__comm_settings settings = {0};
    struct cohort__packer packer = {0};
    struct cohort__membership *membership =
        test_calloc(1, sizeof(*membership) + num_sites * sizeof(*locality_of));
    cohort__comm_settings_pack(&settings, &packer);
    CHECK_OK(packer.status);
    membership->settings = test_malloc(packer.bytes);
    memcpy(membership->settings, packer.data, packer.bytes);
    membership->settings_bytes = packer.bytes;
    membership->instance = 1;
    membership->num_sites = num_sites;
    membership->refs = 1;
    for (uint32_t site = 0; locality_of && site < num_sites; site++)
        membership->locality_of[site] = locality_of[site];
    cohort__packer_fini(&packer);
    return membership;
}

#endif
