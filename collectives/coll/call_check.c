/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_check.h"

#include <inttypes.h>

#include "collectives/algo/algorithm.h"
#include "collectives/coll/call.h"
#include "collectives/coll/call_layout.h"
#include "collectives/coll/forced.h"
#include "collectives/exec/op.h"
#include "runtime/base/error.h"

static cohort_status check_options(struct cohort__call *call)
{
    const struct cohort__next_call *options = call->options;
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    if (options->has_root && !cohort__collective_is_rooted(call->collective))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "the option root_site, but this has no root");
    if (options->has_root && options->root_site >= num_sites)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "the option root_site: %u is out of range: num_sites is %u",
                                  options->root_site, num_sites);
    if (options->ret_rows && !call->has_rows)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "the option ret_rows, but this has no rows");
    if (options->algorithm[0] &&
        cohort__forced_find(call->collective, options->algorithm, &call->forced))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "the option algorithm: %s",
                                  cohort_error_message());
    return COHORT_OK;
}

static cohort_status check_role(const struct cohort__call *call)
{
    uint32_t root = cohort__call_root(call);
    bool is_root = call->comm->this_site == root;
    if (call->role == COHORT__ROLE_ROOT && !is_root)
        return cohort__call_wrong(call, COHORT_ERR_WRONG_ROLE,
                                  "only the root calls this, which is site %u", root);
    if (call->role == COHORT__ROLE_NON_ROOT && is_root)
        return cohort__call_wrong(call, COHORT_ERR_WRONG_ROLE,
                                  "all call this but the root, which this site is");
    return COHORT_OK;
}

static cohort_status check_in_place(struct cohort__call *call)
{
    bool is_in = call->in == COHORT_IN_PLACE, is_out = call->out == COHORT_IN_PLACE;
    bool out_may = call->in_place == COHORT__IN_PLACE_OUT;
    bool in_may = call->in_place != COHORT__IN_PLACE_NEVER && !out_may;
    if ((is_in && !in_may) || (is_out && !out_may))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "COHORT_IN_PLACE is not possible as %s here",
                                  is_in ? "IN" : "OUT");
    call->is_in_place = is_in || is_out;
    return COHORT_OK;
}

/* Whether nothing has the call's datatype, or it is checked with the blocks. */
static bool needs_no_datatype(const struct cohort__call *call)
{
    const struct cohort__ragged *ragged = call->ragged;
    return call->collective == COHORT__BARRIER || call->of_objects ||
           (ragged && (ragged->is_graph || ragged->variant == COHORT__VARIANT_TYPES));
}

/* Checks the size of the blocks of all sites, if they have one size. */
static cohort_status check_count(const struct cohort__call *call)
{
    if (call->datatype == 0 && needs_no_datatype(call))
        return COHORT_OK;
    size_t element = cohort_datatype_size(call->datatype);
    if (element == 0)
        return cohort__call_wrong(
            call, COHORT_ERR_BAD_PARAMETER, "%" PRIu64 " is no datatype%s", call->datatype,
            call->datatype > UINT32_MAX ? "" : "; cohort_datatype_of_bytes makes one of a size");
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    if (!cohort__sizes_fit(call->collective, call->ragged ? 1 : num_sites, call->count, element))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "a count of %zu elements of %zu bytes for %u sites is more than "
                                  "memory",
                                  call->count, element, num_sites);
    return COHORT_OK;
}

/* Checks the buffers. A buffer with blocks of different sizes is checked with its blocks. */
static cohort_status check_memory(const struct cohort__call *call)
{
    bool has_in = call->needs_in && call->count > 0 && !(call->ragged && call->ragged->in.name);
    bool has_out = call->needs_out && call->count > 0 && !(call->ragged && call->ragged->out.name);
    bool in_out = call->is_in_place && call->in == COHORT_IN_PLACE && call->count > 0;
    if (has_in && !call->in)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "no input buffer");
    if ((has_out || in_out) && !call->out)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "no output buffer");
    return COHORT_OK;
}

/* Whether IN and OUT have no memory in common. Where blocks differ in size or layouts say where the
 * elements are, this is found out later (call_layout.h). */
static cohort_status check_apart(const struct cohort__call *call)
{
    if (call->ragged || call->is_sparse || call->is_in_place || cohort__call_has_layouts(call))
        return COHORT_OK;
    uintptr_t in = (uintptr_t)call->in, out = (uintptr_t)call->out;
    size_t in_bytes = cohort__call_array_bytes(call, false);
    size_t out_bytes = cohort__call_array_bytes(call, true);
    if (cohort__are_apart(in, in_bytes, out, out_bytes))
        return COHORT_OK;
    if (in == out)
        return cohort__call_wrong(
            call, COHORT_ERR_BAD_PARAMETER, "IN and OUT are the same memory%s",
            call->in_place == COHORT__IN_PLACE_NEVER ? ""
                                                     : "; COHORT_IN_PLACE is the way to say so");
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "IN (%zu bytes) and OUT (%zu bytes, from %zu bytes %s on) overlap",
                              in_bytes, out_bytes, in < out ? out - in : in - out,
                              in < out ? "after the beginning of IN" : "before it");
}

static cohort_status check_objects(const struct cohort__call *call)
{
    const cohort_object *in = call->in;
    bool has_many = call->collective == COHORT__SCATTER || call->collective == COHORT__ALL_TO_ALL;
    size_t num = !call->needs_in ? 0 : has_many ? cohort_comm_num_sites(call->comm) : 1;
    for (size_t i = 0; i < num; i++)
        if ((in[i].bytes > 0 && !in[i].data) || in[i].bytes > PTRDIFF_MAX)
            return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                      "object %zu of IN has %zu bytes, %s", i, in[i].bytes,
                                      in[i].data ? "which are more than memory" : "but no data");
    return COHORT_OK;
}

cohort_status cohort__call_check_buffers(const struct cohort__call *call)
{
    cohort_status status = check_memory(call);
    if (!status)
        status = check_apart(call);
    return !status && call->of_objects && !call->is_sparse ? check_objects(call) : status;
}

cohort_status cohort__call_check(struct cohort__call *call)
{
    cohort_status status = check_options(call);
    if (!status)
        status = check_role(call);
    if (!status)
        status = check_in_place(call);
    if (!status && cohort__call_has_layouts(call))
        status = cohort__call_check_layouts(call);
    if (!status)
        status = check_count(call);
    if (!status)
        status = cohort__call_check_buffers(call);
    if (!status && cohort__collective_reduces(call->collective) &&
        cohort__op_check(call->op, call->datatype, call->function))
        status =
            cohort__call_wrong(call, cohort__error_slot()->status, "%s", cohort_error_message());
    return status;
}
