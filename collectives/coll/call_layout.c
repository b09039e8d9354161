/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "collectives/coll/call_bytes.h"
#include "collectives/coll/call_meeting.h"
#include "collectives/exec/staging.h"
#include "collectives/plan/layout_overlap.h"

/* Whether the input of CALL is in OUT. */
static bool is_input_in_out(const struct cohort__call *call)
{
    return call->is_in_place && call->in_place != COHORT__IN_PLACE_OUT;
}

static bool has_in(const struct cohort__call *call)
{
    return call->needs_in && !is_input_in_out(call);
}

static bool has_out(const struct cohort__call *call)
{
    return is_input_in_out(call) || (call->needs_out && !call->is_in_place);
}

static cohort_status refuse(const struct cohort__call *call, const char *option, const char *why)
{
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER, "the option %s, but %s", option, why);
}

cohort_status cohort__call_check_layouts(struct cohort__call *call)
{
    const struct cohort__ragged *ragged = call->ragged;
    const cohort_layout *in = call->options->in_layout, *out = call->options->out_layout;
    const char *option = in ? "in_layout" : "out_layout";
    /* The other sites' calls are the same, and theirs have an OUT. */
    bool may_have_out = has_out(call) || call->collective == COHORT__EXCLUSIVE_SCAN;
    if (ragged && ragged->is_graph)
        return refuse(call, option, "cohort_exchange_layouts has a layout for each block");
    if (ragged && ragged->variant == COHORT__VARIANT_TYPES)
        return refuse(call, option, "each block has a datatype of its own");
    if (call->of_objects || call->purpose != COHORT__PURPOSE_NONE ||
        call->collective == COHORT__BARRIER || call->collective == COHORT__CHECK)
        return refuse(call, option, "this moves no elements");
    if (in && !has_in(call))
        return refuse(call, "in_layout", call->is_in_place ? "IN is in place" : "this has no IN");
    if (out && !may_have_out)
        return refuse(call, "out_layout",
                      call->is_in_place ? "OUT is in place" : "this has no OUT");
    call->holds_rows =
        call->options->ret_rows && out && has_out(call) && !cohort__layout_is_run(out);
    return COHORT_OK;
}

/* What the call reads of a buffer, or writes there, as if the elements lay one behind the other. */
struct parts {
    const struct cohort__part *list;
    uint32_t num;
    struct cohort__part only; /* of which the list may be */
};

static void parts_init(struct parts *parts, const struct cohort__part *list, uint32_t num,
                       size_t bytes)
{
    parts->only = (struct cohort__part){.bytes = bytes};
    parts->list = list ? list : &parts->only;
    parts->num = list ? num : 1;
}

static size_t end_of(const struct parts *parts)
{
    size_t end = 0;
    for (uint32_t i = 0; i < parts->num; i++) {
        size_t part_end = parts->list[i].offset + parts->list[i].bytes;
        end = part_end > end ? part_end : end;
    }
    return end;
}

/* One buffer. */
struct side {
    const char *name;
    const cohort_layout *layout; /* or NULL */
    unsigned char *base;
    struct parts parts; /* of OUT: what is written */
    size_t end;         /* of all that is read and written */
};

/* Both, and what is read where. */
struct sides {
    struct side in;
    struct side out;
    struct parts input; /* of OUT, if that has the input */
};

static size_t bytes_of(const struct cohort__call *call, const struct cohort__shape *shape,
                       bool is_out)
{
    bool is_for_each = !call->ragged && cohort__call_has_block_for_each(call, is_out);
    return shape->request.bytes * (is_for_each ? shape->request.num_sites : 1);
}

static void sides_init(struct sides *sides, const struct cohort__call *call,
                       const struct cohort__shape *shape)
{
    const struct cohort__request *request = &shape->request;
    struct side *in = &sides->in, *out = &sides->out;
    *sides = (struct sides){
        .in = {.name = "IN", .layout = call->options->in_layout},
        .out = {.name = "OUT", .layout = call->options->out_layout},
    };
    if (has_in(call)) {
        parts_init(&in->parts, request->in_parts, request->num_in_parts,
                   bytes_of(call, shape, false));
        in->base = (unsigned char *)call->in;
        in->end = end_of(&in->parts);
    }
    if (!has_out(call))
        return;
    if (call->needs_out)
        parts_init(&out->parts, request->out_parts, request->num_out_parts,
                   bytes_of(call, shape, true));
    out->base = call->out;
    out->end = end_of(&out->parts);
    if (!is_input_in_out(call))
        return;
    if (call->in_place == COHORT__IN_PLACE_OWN) {
        parts_init(&sides->input, NULL, 0, 0);
        sides->input.only = cohort__request_out(request, request->this_site);
    } else {
        parts_init(&sides->input, request->in_parts, request->num_in_parts,
                   bytes_of(call, shape, false));
    }
    size_t input_end = end_of(&sides->input);
    out->end = input_end > out->end ? input_end : out->end;
}

/* Whether the layout has the elements that the call speaks of. If blocks have different sizes it
 * may have more. */
static cohort_status check_size(const struct cohort__call *call, const struct side *side)
{
    size_t element = cohort_datatype_size(call->datatype), num = side->end / element, bytes;
    if (!side->layout || !side->base)
        return COHORT_OK;
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

/* Overlaps ------------------------------------------------------------------------------------- */

static cohort_status check_out(const struct cohort__call *call, const struct side *out)
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

/* Of its array, from the beginning to the end of the last element. */
static size_t span_of(const struct side *side, size_t element)
{
    return side->layout ? side->layout->span * element : side->end;
}

static void add(struct cohort__lying **next, const struct side *side, size_t element, size_t offset,
                bool is_sent)
{
    if (side->layout) {
        *(*next)++ = (struct cohort__lying){.offset = offset,
                                            .bytes = side->layout->num_elements * element,
                                            .layout = side->layout,
                                            .is_sent = is_sent};
        return;
    }
    for (uint32_t i = 0; i < side->parts.num; i++)
        *(*next)++ = (struct cohort__lying){.offset = offset + side->parts.list[i].offset,
                                            .bytes = side->parts.list[i].bytes,
                                            .is_sent = is_sent};
}

static cohort_status report(const struct cohort__call *call, const struct cohort__overlap *overlap,
                            size_t in_offset, size_t out_offset)
{
    size_t a_offset = overlap->a.is_sent ? in_offset : out_offset;
    size_t b_offset = overlap->b.is_sent ? in_offset : out_offset;
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "elements of %s (bytes %zu to %zu) and of %s (%zu to %zu) overlap",
                              overlap->a.is_sent ? "IN" : "OUT", overlap->a.begin - a_offset,
                              overlap->a.end - a_offset, overlap->b.is_sent ? "IN" : "OUT",
                              overlap->b.begin - b_offset, overlap->b.end - b_offset);
}

/* Both are in one array, or next to each other: the distance is known. */
static cohort_status search(const struct cohort__call *call, const struct sides *sides,
                            size_t in_offset, size_t out_offset)
{
    const struct side *in = &sides->in, *out = &sides->out;
    size_t element = cohort_datatype_size(call->datatype);
    size_t num = (size_t)(in->layout ? 1 : in->parts.num) + (out->layout ? 1 : out->parts.num);
    struct cohort__overlap overlap;
    bool found = false;
    struct cohort__lying *lying = malloc(num * sizeof(*lying)), *next = lying;
    if (!lying)
        return cohort__call_wrong(call, COHORT_ERR_NO_MEMORY, "no memory for sorting the blocks");
    add(&next, out, element, out_offset, false);
    add(&next, in, element, in_offset, true);
    cohort_status status = cohort__layout_overlap(lying, num, &found, &overlap);
    free(lying);
    if (status)
        return cohort__call_wrong(call, status, "%s", cohort_error_message());
    return found ? report(call, &overlap, in_offset, out_offset) : COHORT_OK;
}

/* What has been found is kept with the plan. */
static cohort_status check_apart(const struct cohort__call *call, const struct sides *sides,
                                 struct cohort__plan_entry *entry)
{
    const struct side *in = &sides->in, *out = &sides->out;
    size_t element = cohort_datatype_size(call->datatype);
    uintptr_t in_at = (uintptr_t)in->base, out_at = (uintptr_t)out->base;
    if (in->end == 0 || out->end == 0 || in_at + span_of(in, element) <= out_at ||
        out_at + span_of(out, element) <= in_at)
        return COHORT_OK;
    const struct cohort__apart apart = {.in_layout = in->layout ? in->layout->number : 0,
                                        .out_layout = out->layout ? out->layout->number : 0,
                                        .distance = out_at - in_at};
    if (apart.in_layout == entry->apart.in_layout && apart.out_layout == entry->apart.out_layout &&
        apart.distance == entry->apart.distance)
        return COHORT_OK;
    size_t in_offset = in_at > out_at ? in_at - out_at : 0;
    size_t out_offset = out_at > in_at ? out_at - in_at : 0;
    cohort_status status = search(call, sides, in_offset, out_offset);
    if (!status)
        entry->apart = apart;
    return status;
}

/* Staging -------------------------------------------------------------------------------------- */

static bool is_staged(const struct side *side)
{
    return side->end > 0 && side->layout && !cohort__layout_is_run(side->layout);
}

/* Where the elements begin that are one run. */
static unsigned char *begin_of(const struct side *side, size_t element)
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

static void pack(const struct side *side, const struct parts *parts, size_t element,
                 unsigned char *to)
{
    for (uint32_t i = 0; i < parts->num; i++) {
        const struct cohort__part *part = &parts->list[i];
        cohort__layout_pack_some(side->layout, element, part->offset / element,
                                 part->bytes / element, to + part->offset, side->base);
    }
}

static cohort_status stage(struct cohort__call *call, const struct sides *sides,
                           struct cohort__plan_entry *entry)
{
    const struct side *in = &sides->in, *out = &sides->out;
    const size_t element = cohort_datatype_size(call->datatype);
    bool stages_in = is_staged(in), stages_out = is_staged(out);
    struct cohort__staging_call staging_call = {
        .commons = call->comm->group->commons,
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
    if (stages_in)
        pack(in, &in->parts, element, staging->in);
    if (stages_out)
        pack(out, &sides->input, element, staging->out);
    if (has_in(call))
        call->in = stages_in ? staging->in : begin_of(in, element);
    if (has_out(call))
        call->out = stages_out ? staging->out : begin_of(out, element);
    call->completion = &staging->completion;
    return COHORT_OK;
}

cohort_status cohort__call_lay(struct cohort__call *call, const struct cohort__shape *shape,
                               struct cohort__plan_entry *entry)
{
    const size_t element = cohort_datatype_size(call->datatype);
    struct sides sides;
    sides_init(&sides, call, shape);
    cohort_status status = check_size(call, &sides.in);
    if (!status)
        status = check_size(call, &sides.out);
    if (!status)
        status = check_out(call, &sides.out);
    if (!status)
        status = check_apart(call, &sides, entry);
    if (status)
        return status;
    if (is_staged(&sides.in) || is_staged(&sides.out) || call->holds_rows)
        return stage(call, &sides, entry);
    if (has_in(call))
        call->in = begin_of(&sides.in, element);
    if (has_out(call))
        call->out = begin_of(&sides.out, element);
    return COHORT_OK;
}
