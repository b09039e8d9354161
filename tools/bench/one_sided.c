/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: get, put and add, in the memory of the other of two sites. */
#include <string.h>

#include "tools/bench/operation.h"
#include "tools/bench/pairs.h"

enum { TAG = 2 };

/* Of this locality, which has one site. */
static struct {
    double *memory;
    cohort_memory_handle other;
    uint64_t num_added, before;
} shared;

static cohort_status allocate(const struct bench_call *call, cohort_memory_handle *ret_own)
{
    const size_t bytes = call->count * sizeof(double);
    void *memory;
    cohort_status status = cohort_memory_alloc(&memory, bytes);
    if (status)
        return status;
    shared.memory = memory;
    memcpy(memory, call->in, bytes);
    return cohort_memory_share(ret_own, memory, bytes);
}

/* Both sites do that before one of them goes on. One that has no memory says so to the other. */
static cohort_status open_memory(const struct bench_call *call)
{
    const uint32_t other = 1 - cohort_comm_this_site(call->comm);
    cohort_memory_handle own = {0};
    if (shared.memory)
        return COHORT_OK;
    cohort_status status = allocate(call, &own);
    cohort_future *told = cohort_channel_set(call->comm, other, TAG, &own, sizeof(own));
    cohort_status come = cohort_await(
        cohort_channel_get(call->comm, other, TAG, &shared.other, sizeof(shared.other), NULL));
    cohort_status gone = cohort_await(told);
    if (status || come || gone)
        return status ? status : come ? come : gone;
    return shared.other.bytes > 0
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_NO_MEMORY, "site %u has no memory", (unsigned)other);
}

static void close_memory(void)
{
    cohort_memory_free(shared.memory);
    shared.memory = NULL;
    shared.num_added = 0;
}

static void fill_pattern(const struct bench_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        call->in[i] = bench_pattern(i);
        call->out[i] = 0;
    }
}

static void fill_zero(const struct bench_call *call)
{
    for (size_t i = 0; i < call->count; i++)
        call->in[i] = call->out[i] = 0;
}

static cohort_future *start(const struct bench_call *call,
                            cohort_future *(*operate)(const struct bench_call *call))
{
    cohort_status status = open_memory(call);
    for (int i = 0; !status && i < BENCH_ONE_SIDED; i++)
        status = cohort_await(operate(call));
    return status ? cohort_future_of_error(status, "%s", cohort_error_message())
                  : cohort_future_of_value(NULL);
}

static cohort_future *get(const struct bench_call *call)
{
    return cohort_memory_get(&shared.other, 0, call->out, call->count * sizeof(double));
}

static cohort_future *put(const struct bench_call *call)
{
    return cohort_memory_put(&shared.other, 0, call->in, call->count * sizeof(double));
}

static cohort_future *add(const struct bench_call *call)
{
    (void)call;
    shared.num_added++;
    return cohort_memory_add(&shared.other, 0, 1, &shared.before);
}

static cohort_future *start_get(const struct bench_call *call, uint64_t generation)
{
    (void)generation;
    return start(call, get);
}

static cohort_future *start_put(const struct bench_call *call, uint64_t generation)
{
    (void)generation;
    return start(call, put);
}

static cohort_future *start_add(const struct bench_call *call, uint64_t generation)
{
    (void)generation;
    return start(call, add);
}

static cohort_status check_put(const struct bench_call *call)
{
    cohort_status status = cohort_await(get(call));
    return status ? status : bench_check_pattern(call);
}

/* Nobody else adds there. */
static cohort_status check_add(const struct bench_call *call)
{
    (void)call;
    return shared.before + 1 == shared.num_added
               ? COHORT_OK
               : cohort_fail(COHORT_ERR_FAILED, "%llu instead of %llu",
                             (unsigned long long)shared.before + 1,
                             (unsigned long long)shared.num_added);
}

const struct bench_operation bench_operation_get = {
    .name = "get",
    .num_in_call = BENCH_ONE_SIDED,
    .is_one_way = true,
    .fill = fill_pattern,
    .start = start_get,
    .check = bench_check_pattern,
    .end = close_memory,
};

const struct bench_operation bench_operation_put = {
    .name = "put",
    .num_in_call = BENCH_ONE_SIDED,
    .is_one_way = true,
    .fill = fill_pattern,
    .start = start_put,
    .check = check_put,
    .end = close_memory,
};

const struct bench_operation bench_operation_add = {
    .name = "add",
    .num_in_call = BENCH_ONE_SIDED,
    .is_one_way = true,
    .fill = fill_zero,
    .start = start_add,
    .check = check_add,
    .end = close_memory,
};
