/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/hash.h"

/* Blocks of different sizes: turns the caller's arrays into parts, in bytes. */

static size_t count_of(const struct cohort__blocks *blocks, size_t index)
{
    return blocks->neighbours ? blocks->neighbours[index].count : blocks->counts[index];
}

static uint32_t site_of(const struct cohort__blocks *blocks, size_t index)
{
    return blocks->neighbours ? blocks->neighbours[index].site : (uint32_t)index;
}

static cohort_datatype type_of(const struct cohort__call *call, const struct cohort__blocks *blocks,
                               size_t index)
{
    return blocks->types ? blocks->types[index] : call->datatype;
}

/* The block at INDEX. It begins at NEXT if the caller gives no place. A block of no data has no
 * place, so that none is added to a buffer that may be NULL. */
static cohort_status make_part(const struct cohort__call *call, const struct cohort__blocks *blocks,
                               size_t index, size_t next, struct cohort__part *part)
{
    size_t element = cohort_datatype_size(type_of(call, blocks, index));
    size_t count = count_of(blocks, index), offset, bytes, end;
    uint32_t site = site_of(blocks, index);
    bool fits = true;
    if (site >= cohort_comm_num_sites(call->comm))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s[%zu]: site %u is out of range: num_sites is %u", blocks->name,
                                  index, site, cohort_comm_num_sites(call->comm));
    if (element == 0)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s, block %zu: %" PRIu64 " is no datatype", blocks->name, index,
                                  type_of(call, blocks, index));
    offset = count > 0 ? next : 0;
    if (count > 0 && blocks->neighbours)
        fits = !__builtin_mul_overflow(blocks->neighbours[index].offset, element, &offset);
    else if (count > 0 && blocks->displacements)
        fits = !__builtin_mul_overflow(blocks->displacements[index], blocks->types ? 1 : element,
                                       &offset);
    fits = fits && !__builtin_mul_overflow(count, element, &bytes) &&
           !__builtin_add_overflow(offset, bytes, &end) && end <= PTRDIFF_MAX;
    if (!fits)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s, block %zu (site %u): %zu elements of %zu bytes end beyond "
                                  "memory",
                                  blocks->name, index, site, count, element);
    part->site = site;
    part->offset = offset;
    part->bytes = bytes;
    return COHORT_OK;
}

static cohort_status make_parts(const struct cohort__call *call,
                                const struct cohort__blocks *blocks, const void *buffer, size_t num,
                                struct cohort__part *parts)
{
    size_t next = 0;
    bool any = false;
    for (size_t i = 0; i < num; i++) {
        cohort_status status = make_part(call, blocks, i, next, &parts[i]);
        if (status)
            return status;
        next += parts[i].bytes; /* where it is used, it is at most PTRDIFF_MAX */
        any |= parts[i].bytes > 0;
    }
    if (any && !buffer)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "no buffer for %s", blocks->name);
    return COHORT_OK;
}

static cohort_status check_arrays(const struct cohort__call *call,
                                  const struct cohort__blocks *blocks)
{
    if (!blocks->name)
        return COHORT_OK;
    bool is_graph = call->ragged->is_graph;
    if (is_graph ? blocks->num_neighbours > 0 && !blocks->neighbours : !blocks->counts)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: no array", blocks->name);
    if (is_graph && blocks->num_neighbours > UINT32_MAX / 4)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: %zu blocks are too many",
                                  blocks->name, blocks->num_neighbours);
    if (call->ragged->variant == COHORT__VARIANT_TYPES && !blocks->types)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "%s: no datatypes", blocks->name);
    return COHORT_OK;
}

/* The caller describes this site's own block twice, so the two must be equal. */
static cohort_status check_own(const struct cohort__call *call, const struct cohort__blocks *blocks)
{
    size_t counted = blocks->counts ? blocks->counts[call->comm->this_site] : 0;
    if (!blocks->counts || !call->ragged->checks_own || call->is_in_place || counted == call->count)
        return COHORT_OK;
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "this site's own block has %zu elements, but %s says %zu",
                              call->count, blocks->name, counted);
}

static uint64_t hash_counts(const struct cohort__part *parts, size_t num)
{
    uint64_t hash = num;
    for (size_t i = 0; i < num; i++)
        hash = cohort__hash_mix(hash, parts[i].bytes);
    return hash;
}

static size_t num_blocks(const struct cohort__call *call, const struct cohort__blocks *blocks)
{
    if (!blocks->name)
        return 0;
    return call->ragged->is_graph ? blocks->num_neighbours : cohort_comm_num_sites(call->comm);
}

static cohort_status fill(const struct cohort__call *call, struct cohort__request *request,
                          const struct cohort__blocks *in, struct cohort__part *in_parts,
                          struct cohort__part *out_parts)
{
    const struct cohort__ragged *ragged = call->ragged;
    const void *in_buffer = call->in == COHORT_IN_PLACE ? call->out : call->in;
    cohort_status status = check_own(call, in);
    if (!status)
        status = check_own(call, &ragged->out);
    if (!status)
        status = make_parts(call, in, in_buffer, request->num_in_parts, in_parts);
    if (!status)
        status = make_parts(call, &ragged->out, call->out, request->num_out_parts, out_parts);
    return status;
}

cohort_status cohort__call_parts(const struct cohort__call *call, struct cohort__shape *shape)
{
    const struct cohort__ragged *ragged = call->ragged;
    struct cohort__request *request = &shape->request;
    bool same = call->is_in_place && ragged->is_in_place_of_out;
    const struct cohort__blocks *in = same ? &ragged->out : &ragged->in;
    cohort_status status = check_arrays(call, in);
    if (!status)
        status = check_arrays(call, &ragged->out);
    if (status)
        return status;
    request->num_in_parts = (uint32_t)num_blocks(call, in);
    request->num_out_parts = (uint32_t)num_blocks(call, &ragged->out);
    size_t num = (size_t)request->num_in_parts + request->num_out_parts;
    struct cohort__plan_cache *cache;
    status = cohort__call_cache(call->comm, &cache);
    struct cohort__part *parts =
        status ? NULL : cohort__plan_cache_scratch(cache, (num + 1) * sizeof(*parts));
    if (!parts)
        return COHORT_ERR_NO_MEMORY;
    memset(parts, 0, (num + 1) * sizeof(*parts)); /* padding is compared, too */
    struct cohort__part *out_parts = parts + request->num_in_parts;
    status = fill(call, request, in, parts, out_parts);
    request->in_parts = in->name ? parts : NULL;
    request->out_parts = ragged->out.name ? out_parts : NULL;
    shape->tail = parts;
    shape->tail_bytes = num * sizeof(*parts);
    const struct cohort__part *agreed = request->in_parts ? parts : out_parts;
    bool has_own = ragged->counts_agree || (ragged->checks_own && num > 0);
    if (!status && has_own)
        request->bytes = agreed[request->this_site].bytes;
    if (!status && ragged->counts_agree)
        shape->counts_hash = hash_counts(agreed, request->num_sites);
    return status;
}

/* Overlap ------------------------------------------------------------------------------------ */

static int compare_parts(const void *left, const void *right)
{
    const struct cohort__part *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__request *request)
{
    if (!request->out_parts || request->num_out_parts == 0)
        return COHORT_OK;
    struct cohort__part *sorted = malloc(request->num_out_parts * sizeof(*sorted));
    if (!sorted)
        return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY, "no memory for sorting the blocks");
    uint32_t num = 0;
    for (uint32_t i = 0; i < request->num_out_parts; i++)
        if (request->out_parts[i].bytes > 0)
            sorted[num++] = request->out_parts[i];
    qsort(sorted, num, sizeof(*sorted), compare_parts);
    cohort_status status = COHORT_OK;
    for (uint32_t i = 1; !status && i < num; i++)
        if (sorted[i].offset - sorted[i - 1].offset < sorted[i - 1].bytes)
            status = cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                        "the blocks in OUT from site %u (bytes %zu to %zu) and "
                                        "site %u (%zu to %zu) overlap",
                                        sorted[i - 1].site, sorted[i - 1].offset,
                                        sorted[i - 1].offset + sorted[i - 1].bytes, sorted[i].site,
                                        sorted[i].offset, sorted[i].offset + sorted[i].bytes);
    free(sorted);
    return status;
}
