/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/coll/call_sides.h"

#include "collectives/coll/call_bytes.h"

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
