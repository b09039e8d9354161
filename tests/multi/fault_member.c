/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cohort/cohort.h>

/* A program that COHORT_FAULT disturbs. With `last` locality 0 sends messages for which nobody
 * waits, and all programs return without an error; with `stuck` it sends many more, and locality 1
 * stops itself before. With `remote` it calls a function in locality 1 several times. Else, in each
 * of as many rounds as its argument says, all localities pass a number around a ring, by a channel,
 * and add up numbers. It checks all that it gets, and prints each round that is over. Its sites
 * never ask what the others are waiting for, and the row is forced, so how many messages there are
 * does not depend on time, nor on what copying costs here. */

static uint64_t num_rounds;
static bool is_last, is_stuck, is_remote;

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

static void set_last(cohort_comm *comm)
{
    static const uint64_t number = 1;
    const uint64_t num_messages = is_stuck ? 30000 : 30;
    if (is_stuck && cohort_locality() == 1) {
        printf("pid %d\n", (int)getpid());
        fflush(stdout);
        raise(SIGSTOP);
    }
    for (uint64_t i = 0; cohort_locality() == 0 && i < num_messages; i++)
        cohort_future_unref(cohort_channel_set(comm, 1, i, &number, sizeof(number)));
    if (cohort_locality() == 0)
        printf("set\n");
}

/* Gives back what it is given, and a byte more. */
static cohort_status grow(const cohort_object *in, cohort_object *out, void *context)
{
    out->data = malloc(in->bytes + 1);
    if (!out->data)
        return COHORT_ERR_NO_MEMORY;
    out->bytes = in->bytes + 1;
    memset(out->data, 1, out->bytes);
    return COHORT_OK;
}

/* What fails for want of memory is no error of this program. */
static cohort_status call_remote(void)
{
    static char bytes[100000];
    cohort_status status = COHORT_OK;
    for (size_t num = 1; cohort_locality() == 0 && !status && num <= sizeof(bytes); num *= 10) {
        cohort_object out = {0};
        status = cohort_await(cohort_async_at(1, "grow", &(cohort_object){bytes, num}, &out));
        if (!status && out.bytes != num + 1)
            status = cohort_fail(COHORT_ERR_FAILED, "%zu bytes of %zu", out.bytes, num + 1);
        cohort_object_fini(&out);
        status = status == COHORT_ERR_NO_MEMORY ? COHORT_OK : status;
    }
    return status;
}

static cohort_status program(void *arg)
{
    cohort_comm *comm = NULL;
    cohort_comm_options options = {.num_sites = cohort_num_localities(),
                                   .this_site = cohort_locality(),
                                   .algorithms = "all_reduce=linear",
                                   .stall_after = UINT64_C(3600000000000)};
    if (is_remote)
        return call_remote();
    cohort_status status = cohort_await(cohort_comm_create(&comm, "fault", &options));
    if (!status && is_last)
        set_last(comm);
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
    is_stuck = argc > 1 && strcmp(argv[1], "stuck") == 0;
    is_last = is_stuck || (argc > 1 && strcmp(argv[1], "last") == 0);
    is_remote = argc > 1 && strcmp(argv[1], "remote") == 0;
    num_rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (cohort_remote_register("grow", grow, NULL))
        return 1;
    return cohort_main(argc, argv, program, NULL);
}
