/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the operations that can be timed, each with its check of the result. */
#include "tools/bench/operation.h"

double bench_pattern(size_t index)
{
    return (double)(index % 97 + 1);
}

cohort_status bench_check_element(const struct bench_call *call, size_t index, double want)
{
    if (call->out[index] == want)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_FAILED,
                       "site %u of '%s': element %zu of the result is %g, not %g",
                       (unsigned)cohort_comm_this_site(call->comm), cohort_comm_name(call->comm),
                       index, call->out[index], want);
}

static void fill_barrier(const struct bench_call *call)
{
    atomic_fetch_add(call->num_arrived, 1);
}

static cohort_future *start_barrier(const struct bench_call *call, uint64_t generation)
{
    return cohort_barrier(call->comm, generation);
}

static cohort_status check_barrier(const struct bench_call *call)
{
    unsigned num_arrived = atomic_load(call->num_arrived);
    if (num_arrived == call->num_here)
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_FAILED,
                       "site %u of '%s': through the barrier with %u of %u sites of this locality",
                       (unsigned)cohort_comm_this_site(call->comm), cohort_comm_name(call->comm),
                       num_arrived, call->num_here);
}

const struct bench_operation bench_operation_barrier = {
    .name = "barrier",
    .fill = fill_barrier,
    .start = start_barrier,
    .check = check_barrier,
};

static void fill_all_reduce(const struct bench_call *call)
{
    for (size_t i = 0; i < call->count; i++) {
        call->in[i] = (cohort_comm_this_site(call->comm) + 1) * bench_pattern(i);
        call->out[i] = 0;
    }
}

static cohort_future *start_all_reduce(const struct bench_call *call, uint64_t generation)
{
    return cohort_all_reduce(call->comm, call->in, call->out, call->count, COHORT_DOUBLE,
                             COHORT_SUM, generation);
}

static cohort_status check_all_reduce(const struct bench_call *call)
{
    double num_sites = cohort_comm_num_sites(call->comm);
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < call->count; i++)
        status = bench_check_element(call, i, num_sites * (num_sites + 1) / 2 * bench_pattern(i));
    return status;
}

const struct bench_operation bench_operation_all_reduce = {
    .name = "all_reduce",
    .fill = fill_all_reduce,
    .start = start_all_reduce,
    .check = check_all_reduce,
};

/* Element INDEX of the block from SOURCE to DESTINATION. */
static double exchanged(uint32_t num_sites, uint32_t source, uint32_t destination, size_t index)
{
    return ((double)source * num_sites + destination) * 97 + bench_pattern(index);
}

static void fill_all_to_all(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t site = cohort_comm_this_site(call->comm);
    for (uint32_t other = 0; other < num_sites; other++) {
        for (size_t i = 0; i < call->count; i++) {
            call->in[other * call->count + i] = exchanged(num_sites, site, other, i);
            call->out[other * call->count + i] = 0;
        }
    }
}

static cohort_future *start_all_to_all(const struct bench_call *call, uint64_t generation)
{
    return cohort_all_to_all(call->comm, call->in, call->out, call->count, COHORT_DOUBLE,
                             generation);
}

static cohort_status check_all_to_all(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t site = cohort_comm_this_site(call->comm);
    cohort_status status = COHORT_OK;
    for (uint32_t other = 0; other < num_sites; other++)
        for (size_t i = 0; status == COHORT_OK && i < call->count; i++)
            status = bench_check_element(call, other * call->count + i,
                                         exchanged(num_sites, other, site, i));
    return status;
}

const struct bench_operation bench_operation_all_to_all = {
    .name = "all_to_all",
    .has_blocks = true,
    .fill = fill_all_to_all,
    .start = start_all_to_all,
    .check = check_all_to_all,
};

static cohort_future *start_all_to_allv(const struct bench_call *call, uint64_t generation)
{
    return cohort_all_to_allv(call->comm, call->in, call->counts, NULL, call->out, call->counts,
                              NULL, COHORT_DOUBLE, generation);
}

const struct bench_operation bench_operation_all_to_allv = {
    .name = "all_to_allv",
    .has_blocks = true,
    .fill = fill_all_to_all,
    .start = start_all_to_allv,
    .check = check_all_to_all,
};

static void fill_reduce_scatter(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t site = cohort_comm_this_site(call->comm);
    for (uint32_t other = 0; other < num_sites; other++)
        for (size_t i = 0; i < call->count; i++)
            call->in[other * call->count + i] = exchanged(num_sites, site, other, i);
    for (size_t i = 0; i < call->count; i++)
        call->out[i] = 0;
}

static cohort_future *start_reduce_scatter(const struct bench_call *call, uint64_t generation)
{
    return cohort_reduce_scatter(call->comm, call->in, call->out, call->count, COHORT_DOUBLE,
                                 COHORT_SUM, generation);
}

static cohort_status check_reduce_scatter(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t site = cohort_comm_this_site(call->comm);
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < call->count; i++) {
        double sum = 0;
        for (uint32_t other = 0; other < num_sites; other++)
            sum += exchanged(num_sites, other, site, i);
        status = bench_check_element(call, i, sum);
    }
    return status;
}

const struct bench_operation bench_operation_reduce_scatter = {
    .name = "reduce_scatter",
    .has_blocks = true,
    .fill = fill_reduce_scatter,
    .start = start_reduce_scatter,
    .check = check_reduce_scatter,
};

static void fill_broadcast(const struct bench_call *call)
{
    bool is_root = cohort_comm_this_site(call->comm) == cohort_comm_root_site(call->comm);
    for (size_t i = 0; i < call->count; i++) {
        call->in[i] = bench_pattern(i);
        call->out[i] = is_root ? call->in[i] : 0; /* the root gets nothing */
    }
}

static cohort_future *start_broadcast(const struct bench_call *call, uint64_t generation)
{
    bool is_root = cohort_comm_this_site(call->comm) == cohort_comm_root_site(call->comm);
    return is_root
               ? cohort_broadcast_to(call->comm, call->in, call->count, COHORT_DOUBLE, generation)
               : cohort_broadcast_from(call->comm, call->out, call->count, COHORT_DOUBLE,
                                       generation);
}

cohort_status bench_check_pattern(const struct bench_call *call)
{
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < call->count; i++)
        status = bench_check_element(call, i, bench_pattern(i));
    return status;
}

const struct bench_operation bench_operation_broadcast = {
    .name = "broadcast",
    .is_one_way = true,
    .fill = fill_broadcast,
    .start = start_broadcast,
    .check = bench_check_pattern,
};

static void fill_gather(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    for (size_t i = 0; i < call->count; i++)
        call->in[i] = (cohort_comm_this_site(call->comm) + 1) * bench_pattern(i);
    for (size_t i = 0; i < num_sites * call->count; i++)
        call->out[i] = 0;
}

static cohort_future *start_gather(const struct bench_call *call, uint64_t generation)
{
    bool is_root = cohort_comm_this_site(call->comm) == cohort_comm_root_site(call->comm);
    return is_root
               ? cohort_gather_here(call->comm, call->in, call->out, call->count, COHORT_DOUBLE,
                                    generation)
               : cohort_gather_there(call->comm, call->in, call->count, COHORT_DOUBLE, generation);
}

static cohort_future *start_gatherv(const struct bench_call *call, uint64_t generation)
{
    bool is_root = cohort_comm_this_site(call->comm) == cohort_comm_root_site(call->comm);
    return is_root
               ? cohort_gatherv_here(call->comm, call->in, call->count, call->out, call->counts,
                                     NULL, COHORT_DOUBLE, generation)
               : cohort_gatherv_there(call->comm, call->in, call->count, COHORT_DOUBLE, generation);
}

static cohort_future *start_checked_gather(const struct bench_call *call, uint64_t generation)
{
    const cohort_call_options options = {.check_asymmetric = true};
    cohort_status status = cohort_comm_next_call(call->comm, &options);
    return status ? cohort_future_of_error(status, "%s", cohort_error_message())
                  : start_gather(call, generation);
}

static cohort_status check_all_gather(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < num_sites; site++)
        for (size_t i = 0; status == COHORT_OK && i < call->count; i++)
            status =
                bench_check_element(call, site * call->count + i, (site + 1) * bench_pattern(i));
    return status;
}

static cohort_status check_gather(const struct bench_call *call)
{
    bool is_root = cohort_comm_this_site(call->comm) == cohort_comm_root_site(call->comm);
    return is_root ? check_all_gather(call) : COHORT_OK;
}

static cohort_future *start_all_gather(const struct bench_call *call, uint64_t generation)
{
    return cohort_all_gather(call->comm, call->in, call->out, call->count, COHORT_DOUBLE,
                             generation);
}

const struct bench_operation bench_operation_all_gather = {
    .name = "all_gather",
    .has_blocks = true,
    .fill = fill_gather,
    .start = start_all_gather,
    .check = check_all_gather,
};

const struct bench_operation bench_operation_gather = {
    .name = "gather",
    .has_blocks = true,
    .fill = fill_gather,
    .start = start_gather,
    .check = check_gather,
};

const struct bench_operation bench_operation_gatherv = {
    .name = "gatherv",
    .has_blocks = true,
    .fill = fill_gather,
    .start = start_gatherv,
    .check = check_gather,
};

const struct bench_operation bench_operation_checked_gather = {
    .name = "checked_gather",
    .has_blocks = true,
    .fill = fill_gather,
    .start = start_checked_gather,
    .check = check_gather,
};

static cohort_future *start_check(const struct bench_call *call, uint64_t generation)
{
    return cohort_check_rooted(call->comm, COHORT_DOUBLE, generation);
}

const struct bench_operation bench_operation_check = {
    .name = "check",
    .fill = fill_barrier,
    .start = start_check,
    .check = check_barrier,
};
