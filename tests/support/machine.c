/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/machine.h"

#include "tests/support/test.h"

struct cohort__machine *test_machine_create(void)
{
    const uint32_t host_of[] = {0, 0, 1, 1};
    const struct cohort__machine_level outer[] = {{"host", host_of}};
    uint32_t locality_of[TEST_MACHINE_SITES];
    struct cohort__machine *machine = NULL;
    for (uint32_t site = 0; site < TEST_MACHINE_SITES; site++)
        locality_of[site] = site / 4;
    CHECK_OK(cohort__machine_create(&machine, locality_of, TEST_MACHINE_SITES, 4, outer, 1));
    return machine;
}
