/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/proc/guest.h"

#include <stdio.h>

#include "runtime/base/container.h"
#include "tests/support/test.h"

static void on_done(struct cohort__join *join, cohort_status status,
                    struct cohort__membership *membership)
{
    struct guest *guest = COHORT_CONTAINER_OF(join, struct guest, join);
    guest->num_done++;
    guest->status = status;
    guest->membership = membership;
    CHECK(!status == !!membership);
    snprintf(guest->text, sizeof(guest->text), "%s", status ? cohort_error_message() : "");
}

void guest_enter(struct guest *guest, struct cohort__process *process, struct cohort__join join)
{
    *guest =
        (struct guest){.join = join, .process = process, .rank = cohort__process_rank(process)};
    guest->join.done = on_done;
    cohort__registry_join(cohort__process_registry(process), &guest->join);
}

void guest_check(const struct guest *guest, cohort_status status, const char *text)
{
    CHECK_INT(guest->num_done, 1);
    CHECK_INT(guest->status, status);
    CHECK_CONTAINS(guest->text, text);
}

uint64_t guest_leave(struct guest *guest)
{
    guest_check(guest, COHORT_OK, "");
    uint64_t instance = guest->membership->instance;
    cohort__registry_leave(cohort__process_registry(guest->process), guest->membership,
                           guest->join.site);
    cohort__membership_unref(guest->membership);
    return instance;
}
