/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

/* Two sites in each locality: site i is in locality i modulo their number. Each prints the
 * communicator's description in one line. */

static cohort_status join(void *arg)
{
    uint32_t num = cohort_num_localities();
    const cohort_comm_options options = {
        .num_sites = 2 * num,
        .this_site = cohort_locality() + (arg ? num : 0),
    };
    cohort_comm *comm = NULL;
    char *text = NULL;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "c", &options));
    if (!status)
        status = cohort_comm_describe(comm, &text);
    for (char *c = text; c && *c; c++)
        *c = *c == '\n' ? '|' : *c;
    if (!status)
        printf("%u %s\n", cohort_comm_this_site(comm), text);
    free(text);
    cohort_comm_unref(comm);
    return status;
}

static cohort_status run(void *arg)
{
    cohort_future *second = cohort_async(join, &arg);
    cohort_status status = join(NULL);
    cohort_status second_status = cohort_await(second);
    return status ? status : second_status;
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, run, NULL);
}
