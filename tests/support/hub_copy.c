/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/hub_copy.h"

#include <fcntl.h>

#include "tests/support/test.h"

struct cohort__hub *hub_copy(const struct cohort__hub *hub)
{
    struct cohort__hub *copy = NULL;
    int doorbells[COHORT__HUB_MAX_SLOTS];
    int memory = fcntl(hub->memory, F_DUPFD_CLOEXEC, 0);
    CHECK(memory >= 0);
    for (uint32_t slot = 0; slot < hub->size; slot++)
        CHECK((doorbells[slot] = fcntl(hub->doorbells[slot], F_DUPFD_CLOEXEC, 0)) >= 0);
    CHECK_OK(cohort__hub_adopt(&copy, memory, doorbells, hub->size));
    return copy;
}
