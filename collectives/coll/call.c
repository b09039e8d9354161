/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "collectives/comm/endpoint.h"
#include "collectives/comm/fingerprint.h"
#include "collectives/exec/execution.h"
#include "collectives/model/select.h"
#include "runtime/task/future.h"

static cohort_status wrong(const struct cohort__call *call, cohort_status status,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));
static cohort_status wrong(const struct cohort__call *call, cohort_status status,
                           const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return cohort_fail(status, "communicator \"%.60s\", generation %" PRIu64 ", site %u, %s: %s",
                       call->comm->group->name, call->generation, call->comm->this_site,
                       call->function, why);
}

/* Decides the generation and passes the gate; a failure leaves everything as it was. */
static cohort_status pass_gate(struct cohort__call *call)
{
    cohort_comm *comm = call->comm;
    bool wants_auto = call->generation == COHORT_AUTO_GENERATION;
    if (wants_auto != comm->auto_generation) {
        if (wants_auto)
            call->generation = 0; /* for the message */
        return wrong(call, COHORT_ERR_BAD_PARAMETER,
                     wants_auto ? "COHORT_AUTO_GENERATION, but the communicator was created "
                                  "without auto_generation: number the calls"
                                : "an explicit generation, but the communicator was created with "
                                  "auto_generation");
    }
    if (wants_auto)
        call->generation = cohort__gate_last(&comm->gate) + 1;
    if (cohort__gate_pass(&comm->gate, call->generation))
        return wrong(call, cohort__error_slot()->status, "%s", cohort_error_message());
    return COHORT_OK;
}

static cohort_status check_role(const struct cohort__call *call)
{
    const cohort_comm *comm = call->comm;
    bool is_root = comm->this_site == comm->root_site;
    if (call->role == COHORT__ROLE_ROOT && !is_root)
        return wrong(call, COHORT_ERR_WRONG_ROLE, "only the root calls this, which is site %u",
                     comm->root_site);
    if (call->role == COHORT__ROLE_NON_ROOT && is_root)
        return wrong(call, COHORT_ERR_WRONG_ROLE, "all call this but the root, which this site is");
    return COHORT_OK;
}

static cohort_status check_buffers(const struct cohort__call *call)
{
    if (call->datatype == 0 && call->collective == COHORT__BARRIER)
        return COHORT_OK;
    size_t element = cohort_datatype_size(call->datatype);
    if (element == 0)
        return wrong(call, COHORT_ERR_BAD_PARAMETER, "%" PRIu64 " is no datatype", call->datatype);
    size_t num_sites = cohort_comm_num_sites(call->comm);
    size_t bytes; /* of all blocks of all sites */
    if (__builtin_mul_overflow(call->count, element, &bytes) ||
        __builtin_mul_overflow(bytes, num_sites * num_sites, &bytes) || bytes > PTRDIFF_MAX / 4)
        return wrong(call, COHORT_ERR_BAD_PARAMETER,
                     "a count of %zu elements of %zu bytes for %zu sites is more than memory",
                     call->count, element, num_sites);
    if (call->count > 0 && call->needs_in && !call->in)
        return wrong(call, COHORT_ERR_BAD_PARAMETER, "no input buffer");
    if (call->count > 0 && call->needs_out && !call->out)
        return wrong(call, COHORT_ERR_BAD_PARAMETER, "no output buffer");
    if (call->reduces && cohort__op_check(call->op, call->datatype))
        return wrong(call, cohort__error_slot()->status, "%s", cohort_error_message());
    return COHORT_OK;
}

static const struct cohort__algorithm *choose(const cohort_comm *comm,
                                              const struct cohort__request *request)
{
    if (request->collective == COHORT__ALL_TO_ALL && comm->all_to_all)
        return comm->all_to_all;
    return cohort__select(request, comm->is_flat);
}

static uint32_t row_of(const struct cohort__algorithm *algorithm)
{
    uint32_t row = 0;
    while (cohort__algorithms[row] != algorithm)
        row++;
    return row;
}

/* A reference to the plan for REQUEST, from the cache or built now. */
static cohort_status get_plan(cohort_comm *comm, const struct cohort__request *request,
                              struct cohort__plan_entry **ret_entry)
{
    cohort_status status = COHORT_OK;
    if (!comm->plans) {
        status = cohort__plan_cache_create(&comm->plans);
        comm->plans_destroy = cohort__plan_cache_destroy;
    }
    if (status)
        return status;
    struct cohort__plan_key key = {request->collective, request->bytes, request->commutative};
    *ret_entry = cohort__plan_cache_find(comm->plans, &key);
    if (*ret_entry)
        return COHORT_OK;
    const struct cohort__algorithm *algorithm = choose(comm, request);
    struct cohort__plan *plan;
    status = cohort__algorithm_build(algorithm, request, &plan);
    return status ? status
                  : cohort__plan_cache_add(comm->plans, &key, plan, row_of(algorithm), ret_entry);
}

static struct cohort__request request_of(const struct cohort__call *call, size_t bytes)
{
    const cohort_comm *comm = call->comm;
    return (struct cohort__request){
        .collective = call->collective,
        .num_sites = cohort_comm_num_sites(comm),
        .this_site = comm->this_site,
        .root = call->role == COHORT__ROLE_ANY ? 0 : comm->root_site,
        .arity = comm->arity,
        .bytes = bytes,
        .commutative = !call->reduces || !call->op || call->op->commutative,
    };
}

static uint64_t fingerprint_of(const struct cohort__call *call, uint32_t row)
{
    const cohort_op *op = call->reduces ? call->op : NULL;
    return cohort__fingerprint(&(struct cohort__fingerprint_parts){
        .collective = call->collective,
        .algorithm = row,
        .datatype = call->datatype,
        .op = !op          ? 0
              : op->number ? op->number
                           : UINT32_MAX,
        .op_hash = op ? op->hash : 0,
        .count = call->count,
    });
}

cohort_future *cohort__call_start(struct cohort__call *call)
{
    if (!call->comm)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER, "%s: no communicator",
                                      call->function);
    cohort_status status = pass_gate(call);
    if (status)
        return cohort__future_of_status(status, cohort__error_slot());

    /* From here on the generation is consumed: what is wrong is told along the plan. */
    struct cohort__error rejected = {0};
    status = check_role(call);
    if (!status)
        status = check_buffers(call);
    if (status)
        cohort__error_copy(&rejected, cohort__error_slot());
    size_t bytes = status ? 0 : call->count * cohort_datatype_size(call->datatype);
    struct cohort__request request = request_of(call, bytes);
    struct cohort__plan_entry *entry;
    status = get_plan(call->comm, &request, &entry);
    if (status) {
        cohort__error_fini(&rejected);
        return cohort__future_of_status(status, cohort__error_slot());
    }
    cohort_future *future = cohort__execution_start(&(struct cohort__execution_call){
        .comm = call->comm,
        .entry = entry,
        .in = call->in,
        .out = call->out,
        .op = call->op,
        .datatype = call->datatype,
        .generation = call->generation,
        .fingerprint = fingerprint_of(call, entry->row),
        .rejected = rejected.status ? &rejected : NULL,
    });
    cohort__error_fini(&rejected);
    return future;
}
