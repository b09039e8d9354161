/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_overlap.h"

#include <stdio.h>
#include <stdlib.h>

#include "collectives/coll/call.h"
#include "collectives/plan/layout.h"

/* Whether the input of CALL is in OUT. */
static bool is_input_in_out(const struct cohort__call *call)
{
    return call->is_in_place && call->in_place != COHORT__IN_PLACE_OUT;
}

bool cohort__call_has_in(const struct cohort__call *call)
{
    return call->needs_in && !is_input_in_out(call);
}

bool cohort__call_has_out(const struct cohort__call *call)
{
    return is_input_in_out(call) || (call->needs_out && !call->is_in_place);
}

static void parts_init(struct cohort__side_parts *parts, const struct cohort__part *list,
                       uint32_t num, size_t bytes)
{
    parts->only = (struct cohort__part){.bytes = bytes};
    parts->list = list ? list : &parts->only;
    parts->num = list ? num : 1;
}

static size_t end_of(const struct cohort__side_parts *parts)
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

void cohort__sides_init(struct cohort__sides *sides, const struct cohort__call *call,
                        const struct cohort__shape *shape)
{
    const struct cohort__request *request = &shape->request;
    struct cohort__side *in = &sides->in, *out = &sides->out;
    *sides = (struct cohort__sides){
        .in = {.name = "IN", .layout = call->options->in_layout, .layouts = request->in_layouts},
        .out = {.name = "OUT",
                .layout = call->options->out_layout,
                .layouts = request->out_layouts},
    };
    if (cohort__call_has_in(call)) {
        parts_init(&in->parts, request->in_parts, request->num_in_parts,
                   bytes_of(call, shape, false));
        in->base = (unsigned char *)call->in;
        in->end = end_of(&in->parts);
    }
    if (!cohort__call_has_out(call))
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
static size_t span_of(const struct cohort__side *side, size_t element)
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
static size_t num_lying(const struct cohort__side *side)
{
    return side->layout ? 1 : side->parts.num;
}

static void add(struct cohort__lying *lying, const struct cohort__side *side, size_t element,
                size_t offset, bool is_sent)
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
static void name_side(char text[32], const struct cohort__side *side, bool is_sent, uint32_t site)
{
    if (side->layout || side->parts.list == &side->parts.only)
        snprintf(text, 32, "%s", side->name);
    else
        snprintf(text, 32, "%s %s site %u", side->name, is_sent ? "for" : "from", site);
}

static cohort_status report(const struct cohort__call *call, const struct cohort__sides *sides,
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
static cohort_status search_both(const struct cohort__call *call, const struct cohort__sides *sides,
                                 size_t in_offset, size_t out_offset)
{
    const struct cohort__side *in = &sides->in, *out = &sides->out;
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

cohort_status cohort__call_check_apart(const struct cohort__call *call,
                                       const struct cohort__sides *sides,
                                       struct cohort__plan_entry *entry)
{
    const struct cohort__side *in = &sides->in, *out = &sides->out;
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
