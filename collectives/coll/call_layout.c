/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/coll/call.h"
#include "collectives/exec/staging.h"
#include "collectives/plan/layout.h"

/* The two buffers of a call, as far as they are used: what of them is read and written where. */

/* What the call reads of a buffer, or writes there. */
struct side_parts {
    const struct cohort__part *list;
    uint32_t num;
    struct cohort__part only; /* of which the list may be: blocks have one size */
};

/* One buffer. */
struct side {
    const char *name;
    unsigned char *base;
    struct side_parts parts;             /* of OUT: what is written */
    const cohort_layout *layout;         /* of the elements of all parts, by an option; or NULL */
    const cohort_layout *const *layouts; /* of each part, some of them NULL; or NULL */
    size_t end; /* of all that is read and written, if no layout says otherwise */
};

/* Both, and what is read where. A buffer that the call does not have, or that is in place, has the
 * end 0. */
struct sides {
    struct side in;
    struct side out;
    struct side_parts input; /* of OUT, if that has the input */
};

/* Whether the input of CALL is in OUT. */
static bool is_input_in_out(const struct cohort__call *call)
{
    return call->is_in_place && call->in_place != COHORT__IN_PLACE_OUT;
}

/* Whether CALL has that buffer of its own. */
static bool call_has_in(const struct cohort__call *call)
{
    return call->needs_in && !is_input_in_out(call);
}

static bool call_has_out(const struct cohort__call *call)
{
    return is_input_in_out(call) || (call->needs_out && !call->is_in_place);
}

static void parts_init(struct side_parts *parts, const struct cohort__part *list, uint32_t num,
                       size_t bytes)
{
    parts->only = (struct cohort__part){.bytes = bytes};
    parts->list = list ? list : &parts->only;
    parts->num = list ? num : 1;
}

static size_t end_of(const struct side_parts *parts)
{
    size_t end = 0;
    for (uint32_t i = 0; i < parts->num; i++) {
        size_t part_end = parts->list[i].offset + parts->list[i].bytes;
        end = part_end > end ? part_end : end;
    }
    return end;
}

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
        .in = {.name = "IN", .layout = call->options->in_layout, .layouts = request->in_layouts},
        .out = {.name = "OUT",
                .layout = call->options->out_layout,
                .layouts = request->out_layouts},
    };
    if (call_has_in(call)) {
        parts_init(&in->parts, request->in_parts, request->num_in_parts,
                   bytes_of(call, shape, false));
        in->base = (unsigned char *)call->in;
        in->end = end_of(&in->parts);
    }
    if (!call_has_out(call))
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

static struct cohort__lying *make_room(const struct cohort__call *call, size_t num)
{
    struct cohort__lying *lying = malloc(num * sizeof(*lying));
    if (!lying)
        cohort__call_wrong(call, COHORT_ERR_NO_MEMORY, "no memory for sorting the blocks");
    return lying;
}

/* Looks for an overlap among NUM of LYING, which it takes. */
static cohort_status search(const struct cohort__call *call, struct cohort__lying *lying,
                            size_t num, bool *ret_found, struct cohort__overlap *ret_overlap)
{
    *ret_found = false;
    cohort_status status = cohort__layout_overlap(lying, num, ret_found, ret_overlap);
    free(lying);
    return status ? cohort__call_wrong(call, status, "%s", cohort_error_message()) : COHORT_OK;
}

static void add_parts(struct cohort__lying *lying, const struct cohort__part *parts, uint32_t num,
                      const cohort_layout *const *layouts, size_t offset, bool is_sent)
{
    for (uint32_t i = 0; i < num; i++)
        lying[i] = (struct cohort__lying){.offset = offset + parts[i].offset,
                                          .bytes = parts[i].bytes,
                                          .layout = layouts ? layouts[i] : NULL,
                                          .site = parts[i].site,
                                          .is_sent = is_sent};
}

cohort_status cohort__call_check_overlap(const struct cohort__call *call,
                                         const struct cohort__shape *shape)
{
    const struct cohort__request *request = &shape->request;
    uint32_t num = request->out_parts ? request->num_out_parts : 0;
    struct cohort__overlap overlap;
    bool found;
    if (num == 0)
        return COHORT_OK;
    struct cohort__lying *lying = make_room(call, num);
    if (!lying)
        return COHORT_ERR_NO_MEMORY;
    add_parts(lying, request->out_parts, num, request->out_layouts, 0, false);
    cohort_status status = search(call, lying, num, &found, &overlap);
    if (status || !found)
        return status;
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "the blocks in OUT from site %u (bytes %zu to %zu) and site %u (%zu "
                              "to %zu) overlap",
                              overlap.a.site, overlap.a.begin, overlap.a.end, overlap.b.site,
                              overlap.b.begin, overlap.b.end);
}

/* IN and OUT -------------------------------------------------------------------------------- */

/* Of its array, from the beginning to the end of the last element. */
static size_t span_of(const struct side *side, size_t element)
{
    size_t span = side->end;
    if (side->layout)
        return side->layout->span * element;
    for (uint32_t i = 0; side->layouts && i < side->parts.num; i++)
        if (side->layouts[i]) {
            size_t end = side->parts.list[i].offset + side->layouts[i]->span * element;
            span = end > span ? end : span;
        }
    return span;
}

/* How many of struct cohort__lying SIDE is. */
static size_t num_lying(const struct side *side)
{
    return side->layout ? 1 : side->parts.num;
}

static void add(struct cohort__lying *lying, const struct side *side, size_t element, size_t offset,
                bool is_sent)
{
    if (side->layout)
        *lying = (struct cohort__lying){.offset = offset,
                                        .bytes = side->layout->num_elements * element,
                                        .layout = side->layout,
                                        .is_sent = is_sent};
    else
        add_parts(lying, side->parts.list, side->parts.num, side->layouts, offset, is_sent);
}

/* "IN", or "OUT from site 3". */
static void name_side(char text[32], const struct side *side, bool is_sent, uint32_t site)
{
    if (side->layout || side->parts.list == &side->parts.only)
        snprintf(text, 32, "%s", side->name);
    else
        snprintf(text, 32, "%s %s site %u", side->name, is_sent ? "for" : "from", site);
}

static cohort_status report(const struct cohort__call *call, const struct sides *sides,
                            const struct cohort__overlap *overlap, size_t in_offset,
                            size_t out_offset)
{
    char a[32], b[32];
    bool is_a_in = overlap->a.is_sent, is_b_in = overlap->b.is_sent;
    size_t a_offset = is_a_in ? in_offset : out_offset, b_offset = is_b_in ? in_offset : out_offset;
    name_side(a, is_a_in ? &sides->in : &sides->out, is_a_in, overlap->a.site);
    name_side(b, is_b_in ? &sides->in : &sides->out, is_b_in, overlap->b.site);
    return cohort__call_wrong(call, COHORT_ERR_BAD_PARAMETER,
                              "elements of %s (bytes %zu to %zu) and of %s (%zu to %zu) overlap", a,
                              overlap->a.begin - a_offset, overlap->a.end - a_offset, b,
                              overlap->b.begin - b_offset, overlap->b.end - b_offset);
}

/* Both are in one array, or among each other: the distance is known. */
static cohort_status search_both(const struct cohort__call *call, const struct sides *sides,
                                 size_t in_offset, size_t out_offset)
{
    const struct side *in = &sides->in, *out = &sides->out;
    size_t element = cohort_datatype_size(call->datatype);
    size_t num_out = num_lying(out), num = num_out + num_lying(in);
    struct cohort__overlap overlap;
    bool found;
    struct cohort__lying *lying = make_room(call, num);
    if (!lying)
        return COHORT_ERR_NO_MEMORY;
    add(lying, out, element, out_offset, false);
    add(lying + num_out, in, element, in_offset, true);
    cohort_status status = search(call, lying, num, &found, &overlap);
    if (!status && found)
        status = report(call, sides, &overlap, in_offset, out_offset);
    return status;
}

static bool is_found(const struct cohort__apart *apart, const struct cohort__apart *before)
{
    return before->is_found && apart->in_layout == before->in_layout &&
           apart->out_layout == before->out_layout && apart->element == before->element &&
           apart->distance == before->distance;
}

/* Fails if elements that CALL, which is RAGGED or has layouts, receives in OUT are some of those
 * that it sends from IN. Each call has its own buffers, so this is asked each time. What has been
 * found for IN and OUT that lie among each other is kept with the plan. */
static cohort_status call_check_apart(const struct cohort__call *call, const struct sides *sides,
                                      struct cohort__plan_entry *entry)
{
    const struct side *in = &sides->in, *out = &sides->out;
    size_t element = cohort_datatype_size(call->datatype);
    uintptr_t in_at = (uintptr_t)in->base, out_at = (uintptr_t)out->base;
    if (in->end == 0 || out->end == 0 || in_at + span_of(in, element) <= out_at ||
        out_at + span_of(out, element) <= in_at)
        return COHORT_OK;
    const struct cohort__apart apart = {.is_found = true,
                                        .in_layout = in->layout ? in->layout->number : 0,
                                        .out_layout = out->layout ? out->layout->number : 0,
                                        .element = element,
                                        .distance = out_at - in_at};
    if (is_found(&apart, &entry->apart))
        return COHORT_OK;
    size_t in_offset = in_at > out_at ? in_at - out_at : 0;
    size_t out_offset = out_at > in_at ? out_at - in_at : 0;
    cohort_status status = search_both(call, sides, in_offset, out_offset);
    if (!status)
        entry->apart = apart;
    return status;
}

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
    bool may_have_out = call_has_out(call) || call->collective == COHORT__EXCLUSIVE_SCAN;
    check_there(call, in);
    check_there(call, out);
    if (ragged && ragged->is_graph)
        return refuse(call, option, "cohort_exchange_layouts has a layout for each block");
    if (ragged && ragged->variant == COHORT__VARIANT_TYPES)
        return refuse(call, option, "each block has a datatype of its own");
    if (call->of_objects || call->purpose != COHORT__PURPOSE_NONE ||
        call->collective == COHORT__BARRIER || call->collective == COHORT__CHECK)
        return refuse(call, option, "this moves no elements");
    if (in && !call_has_in(call))
        return refuse(call, "in_layout", call->is_in_place ? "IN is in place" : "this has no IN");
    if (out && !may_have_out)
        return refuse(call, "out_layout",
                      call->is_in_place ? "OUT is in place" : "this has no OUT");
    call->holds_rows =
        call->options->ret_rows && out && call_has_out(call) && !cohort__layout_is_run(out);
    return COHORT_OK;
}

/* Whether the layout has the elements that the call speaks of. If blocks have different sizes it
 * may have more. */
static cohort_status check_size(const struct cohort__call *call, const struct side *side)
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

static void pack(const struct side *side, const struct side_parts *parts, size_t element,
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
    if (call_has_in(call))
        call->in = stages_in ? staging->in : begin_of(in, element);
    if (call_has_out(call))
        call->out = stages_out ? staging->out : begin_of(out, element);
    call->sequel = &staging->operation;
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
        status = call_check_apart(call, &sides, entry);
    if (status)
        return status;
    if (is_staged(&sides.in) || is_staged(&sides.out) || call->holds_rows)
        return stage(call, &sides, entry);
    if (call_has_in(call))
        call->in = begin_of(&sides.in, element);
    if (call_has_out(call))
        call->out = begin_of(&sides.out, element);
    return COHORT_OK;
}
