/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: all_reduces of many communicators at once. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/bench/operation.h"

/* Each communicator's calls are in a task of their own, and follow each other. */

enum { NUM_COMMS = 64, NUM_CALLS = 16 };

struct line {
    cohort_comm *comm;
    uint64_t generation;
    double in, out;
};

static struct line *lines; /* of this locality's only site */

static cohort_status call_often(void *arg)
{
    struct line *line = arg;
    cohort_status status = COHORT_OK;
    for (int i = 0; status == COHORT_OK && i < NUM_CALLS; i++)
        status = cohort_await(cohort_all_reduce(line->comm, &line->in, &line->out, 1, COHORT_DOUBLE,
                                                COHORT_SUM, ++line->generation));
    return status;
}

static void end_communicators(void)
{
    for (uint32_t i = 0; lines && i < NUM_COMMS; i++)
        cohort_comm_unref(lines[i].comm);
    free(lines);
    lines = NULL;
}

static cohort_status begin_communicators(const struct bench_call *call)
{
    cohort_status status = COHORT_OK;
    lines = calloc(NUM_COMMS, sizeof(*lines));
    if (!lines)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %d communicators", NUM_COMMS);
    for (uint32_t i = 0; status == COHORT_OK && i < NUM_COMMS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "communicators %u", (unsigned)i);
        lines[i].in = 1;
        status = cohort_await(cohort_comm_create(
            &lines[i].comm, name,
            &(cohort_comm_options){.num_sites = cohort_comm_num_sites(call->comm),
                                   .this_site = cohort_comm_this_site(call->comm)}));
    }
    return status;
}

static void fill(const struct bench_call *call)
{
    (void)call;
}

static cohort_future *start_communicators(const struct bench_call *call, uint64_t generation)
{
    cohort_future *futures[NUM_COMMS];
    (void)generation;
    cohort_status status = lines ? COHORT_OK : begin_communicators(call);
    if (status)
        return cohort_future_of_error(status, "%s", cohort_error_message());
    for (uint32_t i = 0; i < NUM_COMMS; i++)
        futures[i] = cohort_async(call_often, &lines[i]);
    return cohort_when_all(futures, NUM_COMMS);
}

static cohort_status check_communicators(const struct bench_call *call)
{
    for (uint32_t i = 0; i < NUM_COMMS; i++)
        if (lines[i].out != cohort_comm_num_sites(call->comm))
            return cohort_fail(COHORT_ERR_FAILED, "the sum of communicator %u is %g", (unsigned)i,
                               lines[i].out);
    return COHORT_OK;
}

const struct bench_operation bench_operation_communicators = {
    .name = "communicators",
    .num_in_call = NUM_COMMS * NUM_CALLS,
    .fill = fill,
    .start = start_communicators,
    .check = check_communicators,
    .end = end_communicators,
};
