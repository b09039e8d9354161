/* SPDX-License-Identifier: Apache-2.0 */
#include "cohort/ragged.h"

#include <stdio.h>

#include "collectives/coll/call_start.h"
#include "collectives/plan/layout.h"
#include "runtime/base/trace.h"

/* For who looks for the site that came last. */
static __attribute__((noinline, cold)) void trace_from(const struct cohort__blocks *from)
{
    char text[512];
    size_t used = 0;
    bool is_there = from->layouts || from->neighbours;
    for (size_t i = 0; is_there && i < from->num_neighbours && used + 12 < sizeof(text); i++) {
        uint32_t site = from->layouts ? from->layouts[i].site : from->neighbours[i].site;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "",
                                 (unsigned)site);
    }
    cohort__trace_write_text(COHORT__TRACE_FROM, text, used);
}

static cohort_future *start(const char *function, cohort_comm *comm, const void *in, void *out,
                            const struct cohort__ragged *ragged, cohort_datatype datatype,
                            uint64_t generation)
{
    if (__builtin_expect(cohort__trace_is_on, 0))
        trace_from(&ragged->out);
    return cohort__call_start(&(struct cohort__call){
        .function = function,
        .collective = COHORT__EXCHANGE,
        .needs_in = true,
        .needs_out = true,
        .comm = comm,
        .in = in,
        .out = out,
        .datatype = datatype,
        .generation = generation,
        .ragged = ragged,
    });
}

cohort_future *cohort_exchange(cohort_comm *comm, const void *in, const cohort_neighbour *to,
                               size_t num_to, void *out, const cohort_neighbour *from,
                               size_t num_from, cohort_datatype datatype, uint64_t generation)
{
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .is_graph = true,
        .in = {.name = "to", .neighbours = to, .num_neighbours = num_to},
        .out = {.name = "from", .neighbours = from, .num_neighbours = num_from},
    };
    return start("cohort_exchange", comm, in, out, &ragged, datatype, generation);
}

__attribute__((always_inline)) static inline void
check_layouts(const cohort_layout_neighbour *neighbours, size_t num)
{
    for (size_t i = 0; neighbours && i < num; i++)
        cohort__layout_check(neighbours[i].layout, "cohort_exchange_layouts");
}

cohort_future *cohort_exchange_layouts(cohort_comm *comm, const void *in,
                                       const cohort_layout_neighbour *to, size_t num_to, void *out,
                                       const cohort_layout_neighbour *from, size_t num_from,
                                       cohort_datatype datatype, uint64_t generation)
{
    check_layouts(to, num_to);
    check_layouts(from, num_from);
    const struct cohort__ragged ragged = {
        .variant = COHORT__VARIANT_COUNTS,
        .is_graph = true,
        .in = {.name = "to", .layouts = to, .num_neighbours = num_to},
        .out = {.name = "from", .layouts = from, .num_neighbours = num_from},
    };
    return start("cohort_exchange_layouts", comm, in, out, &ragged, datatype, generation);
}
