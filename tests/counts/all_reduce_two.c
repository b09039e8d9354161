/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/collectives.h"
#include "tests/counts/two.h"
#include "tests/support/test.h"

/* usage: all_reduce_two CALLS: all_reduces of 8 bytes, one after the other, of one site in each of
 * two localities that share memory, so over a board. instructions.py counts what one call of one
 * site takes. */

static cohort_status repeat(cohort_comm *comm, void *arg)
{
    double in = cohort_comm_this_site(comm) + 1, out = 0;
    cohort_status status = COHORT_OK;
    const uint64_t num_calls = two_num_calls();
    for (uint64_t generation = 1; !status && generation <= num_calls; generation++)
        status = cohort_await(
            cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, generation));
    CHECK(out == 3);
    return status;
}

int main(int argc, char **argv)
{
    return two_main(argc, argv, repeat);
}
