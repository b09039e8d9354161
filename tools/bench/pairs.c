/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: operations of two sites: ping-pong, remote tasks, stream, overlap. */
#include "tools/bench/pairs.h"

#include <string.h>

#include "tools/bench/burden.h"
#include "tools/bench/operation.h"

enum { TAG = 1, NUM_TASKS = 10, NUM_REMOTE = 50 };

static bool is_first(const struct bench_call *call)
{
    return cohort_comm_this_site(call->comm) == 0;
}

static cohort_future *set(const struct bench_call *call, const double *data, size_t count)
{
    return cohort_channel_set(call->comm, is_first(call), TAG, data, count * sizeof(double));
}

static cohort_future *get(const struct bench_call *call, double *buffer, size_t count)
{
    return cohort_channel_get(call->comm, is_first(call), TAG, buffer, count * sizeof(double),
                              NULL);
}

/* A future that has failed with STATUS, which this site has awaited. */
static cohort_future *failed(cohort_status status)
{
    return cohort_future_of_error(status, "%s", cohort_error_message());
}

static void fill_messages(const struct bench_call *call)
{
    for (size_t i = 0; i < call->num_buffers * call->count; i++) {
        call->in[i] = bench_pattern(i);
        call->out[i] = 0;
    }
}

static cohort_future *start_ping_pong(const struct bench_call *call, uint64_t generation)
{
    (void)generation;
    cohort_status status = cohort_await(is_first(call) ? set(call, call->in, call->count)
                                                       : get(call, call->out, call->count));
    if (status)
        return failed(status);
    return is_first(call) ? get(call, call->out, call->count) : set(call, call->in, call->count);
}

const struct bench_operation bench_operation_ping_pong = {
    .name = "ping_pong",
    .num_in_call = 2,
    .fill = fill_messages,
    .start = start_ping_pong,
    .check = bench_check_pattern,
};

static cohort_status echo(const cohort_object *in, cohort_object *ret_out, void *context)
{
    (void)context;
    *ret_out = *in;
    return COHORT_OK;
}

cohort_status bench_pairs_register(void)
{
    return cohort_remote_register("bench.echo", echo, NULL);
}

static cohort_status call_remote(const struct bench_call *call, bool is_last)
{
    const cohort_object in = {call->in, call->count * sizeof(double)};
    cohort_object out;
    cohort_status status = cohort_await(cohort_async_at(1, "bench.echo", &in, &out));
    if (status == COHORT_OK && out.bytes != in.bytes)
        status = cohort_fail(COHORT_ERR_FAILED, "a remote task has returned %zu of %zu bytes",
                             out.bytes, in.bytes);
    if (status == COHORT_OK && is_last)
        memcpy(call->out, out.data, out.bytes);
    cohort_object_fini(&out);
    return status;
}

/* Some calls, one after the other. The second site waits until it is told that they are over: so
 * little of the time is that message's. */
static cohort_future *start_remote(const struct bench_call *call, uint64_t generation)
{
    (void)generation;
    if (!is_first(call))
        return get(call, call->out, 1);
    cohort_status status = COHORT_OK;
    for (unsigned i = 0; status == COHORT_OK && i < NUM_REMOTE; i++)
        status = call_remote(call, i + 1 == NUM_REMOTE);
    return status ? failed(status) : set(call, call->in, 1);
}

static cohort_status check_remote(const struct bench_call *call)
{
    struct bench_call got = *call;
    got.count = is_first(call) ? call->count : 1;
    return bench_check_pattern(&got);
}

const struct bench_operation bench_operation_remote = {
    .name = "remote",
    .num_in_call = 2 * NUM_REMOTE,
    .is_one_way = true,
    .fill = fill_messages,
    .start = start_remote,
    .check = check_remote,
};

/* As many messages at once as there are buffers. The receiver answers with one element. */
static cohort_future *start_stream(const struct bench_call *call, uint64_t generation)
{
    cohort_future *futures[BENCH_RATE_MESSAGES];
    (void)generation;
    for (size_t i = 0; i < call->num_buffers; i++)
        futures[i] = is_first(call) ? set(call, call->in + i * call->count, call->count)
                                    : get(call, call->out + i * call->count, call->count);
    cohort_status status = cohort_await(cohort_when_all(futures, call->num_buffers));
    if (status)
        return failed(status);
    return is_first(call) ? get(call, call->out, 1) : set(call, call->in, 1);
}

/* The first site gets only the answer. */
static cohort_status check_stream(const struct bench_call *call)
{
    struct bench_call got = *call;
    got.count = is_first(call) ? 1 : call->num_buffers * call->count;
    return bench_check_pattern(&got);
}

const struct bench_operation bench_operation_stream = {
    .name = "stream",
    .num_buffers = BENCH_STREAM_MESSAGES,
    .num_in_call = BENCH_STREAM_MESSAGES,
    .fill = fill_messages,
    .start = start_stream,
    .check = check_stream,
};

const struct bench_operation bench_operation_rate = {
    .name = "rate",
    .num_buffers = BENCH_RATE_MESSAGES,
    .num_in_call = BENCH_RATE_MESSAGES,
    .fill = fill_messages,
    .start = start_stream,
    .check = check_stream,
};

static cohort_status compute(void *arg)
{
    (void)arg;
    bench_burden_compute(BENCH_OVERLAP_NS / NUM_TASKS);
    return COHORT_OK;
}

static cohort_status compute_as_tasks(uint32_t times)
{
    cohort_future *futures[NUM_TASKS];
    cohort_status status = COHORT_OK;
    for (uint32_t time = 0; !status && time < times; time++) {
        for (size_t i = 0; i < NUM_TASKS; i++)
            futures[i] = cohort_async(compute, NULL);
        status = cohort_await(cohort_when_all(futures, NUM_TASKS));
    }
    return status;
}

static void fill_exchange(const struct bench_call *call)
{
    bench_operation_all_to_all.fill(call);
}

static cohort_status check_exchange(const struct bench_call *call)
{
    return bench_operation_all_to_all.check(call);
}

/* The second site comes late: it starts to compute when the first one tells it to begin. */
static cohort_status begin(const struct bench_call *call)
{
    double word = 0;
    if (is_first(call))
        return cohort_await(set(call, &word, 1));
    cohort_status status = cohort_await(get(call, &word, 1));
    if (!status)
        bench_burden_compute(BENCH_OVERLAP_NS);
    return status;
}

static cohort_future *start_exchange(const struct bench_call *call, uint64_t generation)
{
    cohort_status status = begin(call);
    return status ? failed(status) : bench_operation_all_to_all.start(call, generation);
}

const struct bench_operation bench_operation_exchange = {
    .name = "exchange",
    .has_blocks = true,
    .fill = fill_exchange,
    .start = start_exchange,
    .check = check_exchange,
};

static cohort_future *start_overlap(const struct bench_call *call, uint64_t generation)
{
    cohort_future *exchange = start_exchange(call, generation);
    cohort_status status = is_first(call) ? compute_as_tasks(call->computing) : COHORT_OK;
    if (!status)
        return exchange;
    /* The exchange still uses the buffers. */
    cohort_future *const both[] = {failed(status), exchange};
    return cohort_when_all(both, 2);
}

const struct bench_operation bench_operation_overlap = {
    .name = "overlap",
    .has_blocks = true,
    .fill = fill_exchange,
    .start = start_overlap,
    .check = check_exchange,
};
