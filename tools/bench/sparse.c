/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: blocks for a few sites that do not know of them. */
#include <stdlib.h>
#include <string.h>

#include "tools/bench/operation.h"

/* `sparse`; and `counted`: the same by all_to_allv, for which counts are exchanged first. */
enum { NUM_PARTNERS = 8 };

static uint32_t num_partners(uint32_t num_sites)
{
    return num_sites < NUM_PARTNERS ? num_sites : NUM_PARTNERS;
}

/* Partners are spread over all sites. */
static uint32_t partner(const struct bench_call *call, uint32_t index)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t step = num_sites / num_partners(num_sites);
    return (cohort_comm_this_site(call->comm) + 1 + index * step) % num_sites;
}

static bool is_partner_of(const struct bench_call *call, uint32_t site)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t step = num_sites / num_partners(num_sites);
    uint32_t distance = (cohort_comm_this_site(call->comm) + 2 * num_sites - site - 1) % num_sites;
    return distance % step == 0 && distance / step < num_partners(num_sites);
}

static double element(uint32_t from, uint32_t to, size_t index)
{
    return (double)from * 4096 + to + bench_pattern(index);
}

static void fill(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t me = cohort_comm_this_site(call->comm);
    for (uint32_t site = 0; site < num_sites; site++)
        for (size_t i = 0; i < call->count; i++) {
            call->in[site * call->count + i] = element(me, site, i);
            call->out[site * call->count + i] = 0;
        }
}

/* Block i of OUT is that of site i, as with all_to_all. */
static cohort_status check(const struct bench_call *call)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    uint32_t me = cohort_comm_this_site(call->comm);
    cohort_status status = COHORT_OK;
    for (uint32_t site = 0; site < num_sites; site++)
        for (size_t i = 0; status == COHORT_OK && i < call->count; i++)
            status = bench_check_element(call, site * call->count + i,
                                         is_partner_of(call, site) ? element(site, me, i) : 0);
    return status;
}

/* A call ends within its start, since its result has to be put where it belongs. */
static cohort_future *ended(cohort_status status)
{
    return status ? cohort_future_of_error(status, "%s", cohort_error_message())
                  : cohort_when_all(NULL, 0);
}

static cohort_future *start_sparse(const struct bench_call *call, uint64_t generation)
{
    cohort_site_object to[NUM_PARTNERS];
    cohort_site_objects from;
    size_t bytes = call->count * sizeof(double);
    uint32_t num = num_partners(cohort_comm_num_sites(call->comm));
    for (uint32_t i = 0; i < num; i++) {
        uint32_t site = partner(call, i);
        to[i] = (cohort_site_object){site, {call->in + site * call->count, bytes}};
    }
    cohort_status status =
        cohort_await(cohort_all_to_all_sparse(call->comm, to, num, &from, generation));
    for (size_t i = 0; status == COHORT_OK && i < from.num; i++)
        memcpy(call->out + from.list[i].site * call->count, from.list[i].object.data, bytes);
    cohort_site_objects_fini(&from);
    return ended(status);
}

const struct bench_operation bench_operation_sparse = {
    .name = "sparse",
    .has_blocks = true,
    .fill = fill,
    .start = start_sparse,
    .check = check,
};

static cohort_status counted(const struct bench_call *call, size_t *numbers, uint64_t generation)
{
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    size_t *to = numbers, *from = numbers + num_sites, *displaced = numbers + 2 * num_sites;
    for (uint32_t i = 0; i < num_partners(num_sites); i++)
        to[partner(call, i)] = call->count;
    for (uint32_t site = 0; site < num_sites; site++)
        displaced[site] = site * call->count;
    cohort_status status =
        cohort_await(cohort_all_to_all(call->comm, to, from, 1, COHORT_UINT64, generation - 1));
    return status ? status
                  : cohort_await(cohort_all_to_allv(call->comm, call->in, to, displaced, call->out,
                                                    from, displaced, COHORT_DOUBLE, generation));
}

static cohort_future *start_counted(const struct bench_call *call, uint64_t generation)
{
    size_t *numbers = calloc(3 * (size_t)cohort_comm_num_sites(call->comm), sizeof(*numbers));
    if (!numbers)
        return cohort_future_of_error(COHORT_ERR_NO_MEMORY, "no memory for counts");
    cohort_future *future = ended(counted(call, numbers, generation));
    free(numbers);
    return future;
}

const struct bench_operation bench_operation_counted = {
    .name = "counted",
    .has_blocks = true,
    .num_generations = 2,
    .fill = fill,
    .start = start_counted,
    .check = check,
};
