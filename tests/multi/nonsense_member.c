/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cohort/cohort.h"
#include "runtime/proc/letter.h"
#include "runtime/proc/process.h"

/* The first locality sends the last one a message of the registry that makes no sense, and all wait
 * for what nobody sets, until somebody is dead. */
static cohort_status program(void *arg)
{
    const uint32_t me = cohort_locality(), num = cohort_num_localities();
    const cohort_comm_options options = {.num_sites = num, .this_site = me};
    cohort_comm *comm = NULL;
    int64_t value;
    (void)arg;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "nonsense", &options));
    if (!status)
        status = cohort_await(cohort_barrier(comm, 1));
    if (!status && me == 0)
        cohort__letter_send(cohort__process_current(), num - 1, "x", 1);
    if (!status)
        status = cohort_await(
            cohort_channel_get(comm, me == 0 ? num - 1 : 0, 1, &value, sizeof(value), NULL));
    printf("%u ends with %s: %s\n", (unsigned)me, cohort_status_name(status),
           cohort_error_message());
    cohort_comm_unref(comm);
    return status == COHORT_ERR_PEER_DIED ? COHORT_OK : status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, NULL);
}
