/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cohort/cohort.h>

/* A program that COHORT_FAULT disturbs. In each of as many rounds as its argument says, all
 * localities pass a number around a ring, by a channel, and add up numbers. It checks all that it
 * gets, and prints each round that is over. Its sites never ask what the others are waiting for,
 * and the row is forced, so how many messages there are does not depend on time, nor on what
 * copying costs here. */

static uint64_t num_rounds;

static cohort_status pass(cohort_comm *comm, uint64_t round)
{
    uint32_t me = cohort_locality(), num = cohort_num_localities();
    uint64_t sent = 1000 * round + me, got = 0;
    uint32_t previous = (me + num - 1) % num;
    cohort_future *set = cohort_channel_set(comm, (me + 1) % num, round, &sent, sizeof(sent));
    cohort_status status =
        cohort_await(cohort_channel_get(comm, previous, round, &got, sizeof(got), NULL));
    cohort_status set_status = cohort_await(set);
    if (!status && got != 1000 * round + previous)
        status = cohort_fail(COHORT_ERR_FAILED, "the number in the ring is wrong");
    return status ? status : set_status;
}

static cohort_status add(cohort_comm *comm, uint64_t round)
{
    int64_t num = cohort_num_localities(), in[100], out[100];
    for (int i = 0; i < 100; i++)
        in[i] = (int64_t)round + i + cohort_locality();
    cohort_status status =
        cohort_await(cohort_all_reduce(comm, in, out, 100, COHORT_INT64, COHORT_SUM, round));
    for (int i = 0; !status && i < 100; i++)
        if (out[i] != num * ((int64_t)round + i) + num * (num - 1) / 2)
            status = cohort_fail(COHORT_ERR_FAILED, "the sum is wrong");
    return status;
}

static cohort_status program(void *arg)
{
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality(),
                                   .algorithms = "all_reduce=linear",
                                   .stall_after = UINT64_C(3600000000000)};
    (void)arg;
    cohort_status status = cohort_await(cohort_comm_create(&comm, "fault", &options));
    for (uint64_t round = 1; !status && round <= num_rounds; round++) {
        status = pass(comm, round);
        if (!status)
            status = add(comm, round);
        if (!status)
            printf("locality %u: round %llu\n", (unsigned)cohort_locality(),
                   (unsigned long long)round);
    }
    if (status)
        printf("locality %u: %s: %s\n", (unsigned)cohort_locality(), cohort_status_name(status),
               cohort_error_message());
    cohort_comm_unref(comm);
    return status;
}

int main(int argc, char **argv)
{
    num_rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    return cohort_main(argc, argv, program, NULL);
}
