/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collectives/coll/call_meeting.h"
#include "collectives/coll/call_overlap.h"
#include "collectives/exec/staging.h"
#include "collectives/plan/layout.h"

static cohort_status refuse(const struct cohort__call *call, const char *option, const char *why)
{
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "the option %s, but %s", option, why);
}

/* Ends the program if LAYOUT was given back. */
static void check_there(const struct cohort__call *call, const cohort_layout *layout)
{
    if (layout && cohort__is_gone(&layout->refs))
        cohort__misuse_of("layout", layout, "", COHORT__MISUSE_UNREF, call->function, NULL);
}

cohort_status cohort__call_check_layouts(struct cohort__call *call)
{
    const struct cohort__ragged *ragged = call->ragged;
    const cohort_layout *in = call->options->in_layout, *out = call->options->out_layout;
    const char *option = in ? "in_layout" : "out_layout";
    /* The other sites' calls are the same, and theirs have an OUT. */
    bool may_have_out = cohort__call_has_out(call) || call->collective == COHORT__EXCLUSIVE_SCAN;
    check_there(call, in);
    check_there(call, out);
    if (ragged && ragged->is_graph)
        return refuse(call, option, "cohort_exchange_layouts has a layout for each block");
    if (ragged && ragged->variant == COHORT__VARIANT_TYPES)
        return refuse(call, option, "each block has a datatype of its own");
    if (call->of_objects || call->purpose != COHORT__PURPOSE_NONE ||
        call->collective == COHORT__BARRIER || call->collective == COHORT__CHECK)
        return refuse(call, option, "this moves no elements");
    if (in && !cohort__call_has_in(call))
        return refuse(call, "in_layout", call->is_in_place ? "IN is in place" : "this has no IN");
    if (out && !may_have_out)
        return refuse(call, "out_layout",
                      call->is_in_place ? "OUT is in place" : "this has no OUT");
    call->holds_rows =
        call->options->ret_rows && out && cohort__call_has_out(call) && !cohort__layout_is_run(out);
    return COHORT_OK;
}

/* Whether the layout has the elements that the call speaks of. If blocks have different sizes it
 * may have more. */
static cohort_status check_size(const struct cohort__call *call, const struct cohort__side *side)
{
    if (!side->layout || !side->base) /* blocks may have datatypes of their own, and no layout */
        return COHORT_OK;
    size_t element = cohort_datatype_size(call->datatype), num = side->end / element, bytes;
    size_t has = side->layout->num_elements;
    if (has < num || (has > num && !call->ragged))
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "%s has %zu elements, but its layout has %zu", side->name, num,
                                  has);
    size_t most = side->layout->span > has ? side->layout->span : has;
    if (__builtin_mul_overflow(most, element, &bytes) || bytes > PTRDIFF_MAX)
        return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                  "the layout of %s ends beyond memory: %zu elements of %zu bytes",
                                  side->name, most, element);
    return COHORT_OK;
}

static cohort_status check_out(const struct cohort__call *call, const struct cohort__side *out)
{
    struct cohort__overlap overlap;
    bool found;
    if (!out->layout || out->end == 0)
        return COHORT_OK;
    cohort_status status = cohort__layout_overlaps_itself(
        (cohort_layout *)out->layout, cohort_datatype_size(call->datatype), &found, &overlap);
    if (status)
        return cohort__call_wrong(call, status, "%s", cohort_error_message());
    return found
               ? cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                                    "the layout of OUT has elements twice: those of bytes %zu to "
                                    "%zu and %zu to %zu overlap",
                                    overlap.a.begin, overlap.a.end, overlap.b.begin, overlap.b.end)
               : COHORT_OK;
}

/* Staging -------------------------------------------------------------------------------------- */

static bool is_staged(const struct cohort__side *side)
{
    return side->end > 0 && side->layout && !cohort__layout_is_run(side->layout);
}

/* Where the elements begin that are one run. */
static unsigned char *begin_of(const struct cohort__side *side, size_t element)
{
    bool is_run = side->base && side->layout && side->layout->num_strips > 0;
    return is_run ? side->base + side->layout->strips[0].offset * element : side->base;
}

static cohort_status check_budget(const struct cohort__call *call,
                                  const struct cohort__plan_entry *entry, size_t bytes)
{
    uint64_t budget = call->comm->memory_budget;
    size_t others = entry->plan ? entry->plan->tmp_bytes : cohort__call_meeting_copies(call);
    if (budget == 0 || (bytes <= budget && others <= budget - bytes))
        return COHORT_OK;
    return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY,
                              "the call takes %zu bytes of memory at this site, of which %zu are "
                              "for its layouts; the budget is %" PRIu64,
                              bytes <= SIZE_MAX - others ? others + bytes : SIZE_MAX, bytes,
                              budget);
}

static void pack(const struct cohort__side *side, const struct cohort__side_parts *parts,
                 size_t element, unsigned char *to)
{
    for (uint32_t i = 0; i < parts->num; i++) {
        const struct cohort__part *part = &parts->list[i];
        cohort__layout_pack_some(side->layout, element, part->offset / element,
                                 part->bytes / element, to + part->offset, side->base);
    }
}

static cohort_status stage(struct cohort__call *call, const struct cohort__sides *sides,
                           struct cohort__plan_entry *entry)
{
    const struct cohort__side *in = &sides->in, *out = &sides->out;
    const size_t element = cohort_datatype_size(call->datatype);
    bool stages_in = is_staged(in), stages_out = is_staged(out);
    struct cohort__staging_call staging_call = {
        .entry = entry,
        .element = element,
        .in_bytes = stages_in ? in->end : 0,
        .out_bytes = stages_out ? out->end : 0,
        .out_layout = stages_out ? out->layout : NULL,
        .out = out->base,
        .out_parts = out->parts.list,
        .num_out_parts = out->parts.num,
        .ret_rows = call->options->ret_rows,
        .num_rows = call->holds_rows ? cohort_comm_num_sites(call->comm) : 0,
    };
    struct cohort__staging *staging;
    cohort_status status =
        check_budget(call, entry, staging_call.in_bytes + staging_call.out_bytes);
    if (status)
        return status;
    status = cohort__staging_create(&staging_call, &staging);
    if (status)
        return cohort__call_wrong(call, status, "%s", cohort_error_message());
    cohort__plan_cache_charge_staging(call->comm->plans, entry, staging->capacity);
    if (stages_in)
        pack(in, &in->parts, element, staging->in);
    if (stages_out)
        pack(out, &sides->input, element, staging->out);
    if (cohort__call_has_in(call))
        call->in = stages_in ? staging->in : begin_of(in, element);
    if (cohort__call_has_out(call))
        call->out = stages_out ? staging->out : begin_of(out, element);
    call->sequel = &staging->operation;
    return COHORT_OK;
}

cohort_status cohort__call_lay(struct cohort__call *call, const struct cohort__shape *shape,
                               struct cohort__plan_entry *entry)
{
    const size_t element = cohort_datatype_size(call->datatype);
    struct cohort__sides sides;
    cohort__sides_init(&sides, call, shape);
    cohort_status status = check_size(call, &sides.in);
    if (!status)
        status = check_size(call, &sides.out);
    if (!status)
        status = check_out(call, &sides.out);
    if (!status)
        status = cohort__call_check_apart(call, &sides, entry);
    if (status)
        return status;
    if (is_staged(&sides.in) || is_staged(&sides.out) || call->holds_rows)
        return stage(call, &sides, entry);
    if (cohort__call_has_in(call))
        call->in = begin_of(&sides.in, element);
    if (cohort__call_has_out(call))
        call->out = begin_of(&sides.out, element);
    return COHORT_OK;
}
