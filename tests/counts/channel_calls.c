/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/channel.h"
#include "tests/counts/two.h"
#include "tests/support/test.h"

/* usage: channel_calls CALLS: a message of 8 bytes goes to and fro between two localities that
 * share memory. instructions.py counts what one message takes. */

static cohort_status bounce(cohort_comm *comm, void *arg)
{
    uint32_t other = !cohort_comm_this_site(comm);
    uint64_t number = 0;
    cohort_status status = COHORT_OK;
    const uint64_t num_calls = two_num_calls();
    for (uint64_t call = 0; !status && call < num_calls; call++) {
        if (call % 2 == other) {
            number++;
            status = cohort_await(cohort_channel_set(comm, other, 1, &number, sizeof(number)));
        } else {
            status =
                cohort_await(cohort_channel_get(comm, other, 1, &number, sizeof(number), NULL));
        }
    }
    CHECK_INT((long long)number, (long long)num_calls);
    return status;
}

int main(int argc, char **argv)
{
    return two_main(argc, argv, bounce);
}
