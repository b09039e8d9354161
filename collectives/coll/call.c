/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "collectives/exec/sparse_steps.h"
#include "runtime/base/error.h"

static uint64_t of_objects(const struct cohort__call *call)
{
    const cohort_object *in = call->in;
    bool has_many = call->collective == COHORT__SCATTER || call->collective == COHORT__ALL_TO_ALL;
    uint32_t num = has_many ? cohort_comm_num_sites(call->comm) : 1;
    uint64_t bytes = 0;
    for (uint32_t i = 0; call->needs_in && in && i < num; i++)
        bytes += in[i].bytes;
    return bytes;
}

static uint64_t of_sparse(const struct cohort__call *call)
{
    const struct cohort__sparse_in *in = call->in;
    uint64_t bytes = 0;
    for (size_t i = 0; i < in->num; i++)
        bytes += in->list[i].object.bytes;
    return bytes;
}

static uint64_t of_blocks(const struct cohort__call *call, const struct cohort__blocks *blocks)
{
    uint64_t bytes = 0;
    uint32_t num_sites = cohort_comm_num_sites(call->comm);
    size_t num = call->ragged->is_graph ? blocks->num_neighbours : num_sites;
    if (call->ragged->is_graph ? !blocks->neighbours && !blocks->layouts : !blocks->counts)
        return 0;
    for (size_t i = 0; i < num; i++) {
        cohort_datatype type = blocks->types ? blocks->types[i] : call->datatype;
        bool has_layout = !blocks->layouts || blocks->layouts[i].layout;
        uint64_t count = has_layout ? cohort__blocks_count(blocks, i) : 0;
        bytes += count * cohort_datatype_size(type);
    }
    return bytes;
}

bool cohort__call_has_block_for_each(const struct cohort__call *call, bool is_out)
{
    bool is_root = call->role == COHORT__ROLE_ROOT;
    switch (call->collective) {
    case COHORT__GATHER:
        return is_root && is_out;
    case COHORT__SCATTER:
        return is_root && !is_out;
    case COHORT__ALL_GATHER:
        return is_out;
    case COHORT__REDUCE_SCATTER:
        return !is_out;
    default:
        return call->collective == COHORT__ALL_TO_ALL;
    }
}

size_t cohort__call_array_bytes(const struct cohort__call *call, bool is_out)
{
    size_t element =
        call->of_objects ? sizeof(cohort_object) : cohort_datatype_size(call->datatype);
    size_t num =
        cohort__call_has_block_for_each(call, is_out) ? cohort_comm_num_sites(call->comm) : 1;
    return (is_out ? call->needs_out : call->needs_in) ? num * call->count * element : 0;
}

static uint64_t of_side(const struct cohort__call *call, bool is_out)
{
    const struct cohort__ragged *ragged = call->ragged;
    bool is_of_out = !is_out && ragged && ragged->is_in_place_of_out && call->in == COHORT_IN_PLACE;
    if (!(is_out ? call->needs_out : call->needs_in))
        return 0;
    if (ragged && (is_out || is_of_out ? ragged->out.name : ragged->in.name))
        return of_blocks(call, is_out || is_of_out ? &ragged->out : &ragged->in);
    return ragged ? (uint64_t)call->count * cohort_datatype_size(call->datatype)
                  : cohort__call_array_bytes(call, is_out);
}

struct cohort__hook_bytes cohort__call_bytes(const struct cohort__call *call)
{
    if (call->is_sparse)
        return (struct cohort__hook_bytes){.are_known = true, .in = of_sparse(call)};
    if (call->of_objects)
        return (struct cohort__hook_bytes){.are_known = true, .in = of_objects(call)};
    return (struct cohort__hook_bytes){
        .are_known = true, .in = of_side(call, false), .out = of_side(call, true)};
}

cohort_status cohort__call_wrong(const struct cohort__call *call, cohort_status status,
                                 const char *format, ...)
{
    char why[COHORT__ERROR_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    return cohort_fail(status, "communicator \"%.60s\", generation %" PRIu64 ", site %u, %s: %s",
                       call->comm->group->name, call->generation, call->comm->this_site,
                       call->function, why);
}

enum cohort__variant cohort__call_variant(const struct cohort__call *call)
{
    if (call->of_objects)
        return call->is_sparse ? COHORT__VARIANT_SPARSE : COHORT__VARIANT_OBJECTS;
    return call->ragged ? call->ragged->variant : COHORT__VARIANT_EQUAL;
}

uint32_t cohort__call_root(const struct cohort__call *call)
{
    const struct cohort_comm *comm = call->comm;
    if (!cohort__collective_is_rooted(call->collective))
        return 0;
    bool is_given =
        call->options->has_root && call->options->root_site < cohort_comm_num_sites(comm);
    return is_given ? call->options->root_site : comm->root_site;
}

uint32_t cohort__call_shift(const struct cohort__call *call)
{
    int64_t num_sites = cohort_comm_num_sites(call->comm);
    int64_t rest = call->q % num_sites;
    return (uint32_t)(rest < 0 ? rest + num_sites : rest);
}

cohort_status cohort__call_cache(cohort_comm *comm, struct cohort__plan_cache **ret_cache)
{
    struct cohort__plan_cache *cache = comm->plans;
    if (!cache) {
        cohort_status status = cohort__plan_cache_create(&cache, &comm->group->commons->plans);
        if (status)
            return status;
        comm->plans_destroy = cohort__plan_cache_destroy;
        comm->plans = cache;
    }
    *ret_cache = cache;
    return COHORT_OK;
}

size_t cohort__call_meeting_copies(const struct cohort__call *call)
{
    const struct cohort__movement_kind *kind = &cohort__movement_kinds[call->collective];
    if (!call->is_in_place || !kind->reads_late || call->comm->group->has_board)
        return 0; /* inputs on the board are read there */
    size_t num_blocks = cohort__movement_in_blocks(kind, cohort_comm_num_sites(call->comm));
    return num_blocks * call->count * cohort_datatype_size(call->datatype);
}
