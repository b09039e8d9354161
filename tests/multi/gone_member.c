/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <cohort/cohort.h>

/* Uses an endpoint that it has given back, in the way that the argument names; with "late" in front
 * of it, when the endpoint has gone. */

static cohort_status use(cohort_comm *comm, const char *how)
{
    double in = 1, out;
    if (strcmp(how, "all_reduce") == 0)
        return cohort_await(cohort_all_reduce(comm, &in, &out, 1, COHORT_DOUBLE, COHORT_SUM, 2));
    if (strcmp(how, "set") == 0)
        return cohort_await(cohort_channel_set(comm, 0, 1, &in, sizeof(in)));
    if (strcmp(how, "get") == 0)
        return cohort_await(cohort_channel_get(comm, 0, 1, &in, sizeof(in), NULL));
    if (strcmp(how, "dup") == 0)
        return cohort_await(cohort_comm_dup(&comm, comm, 3));
    if (strcmp(how, "idle") == 0)
        return cohort_await(cohort_comm_idle(comm));
    if (strcmp(how, "num_sites") == 0)
        printf("%u\n", cohort_comm_num_sites(comm));
    if (strcmp(how, "unref") == 0)
        cohort_comm_unref(comm);
    return COHORT_OK;
}

/* A communicator with the same name can be made again when the endpoint of before has gone. */
static cohort_status program(void *arg)
{
    const char *how = arg;
    cohort_comm_options options = {.num_sites = 1};
    cohort_comm *comm, *next;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "gone", &options));
    if (status)
        return status;
    cohort_comm_unref(comm);
    if (strncmp(how, "late ", 5) != 0)
        return use(comm, how);
    for (int i = 0; !status && i < 3; i++) {
        status = cohort_await(cohort_comm_create(&next, "gone", &options));
        cohort_comm_unref(status ? NULL : next);
    }
    return status ? status : use(comm, how + 5);
}

int main(int argc, char **argv)
{
    return cohort_main(argc, argv, program, argc > 1 ? argv[1] : "");
}
