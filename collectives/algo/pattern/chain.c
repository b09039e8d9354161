/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/chain.h"

#include "collectives/algo/pattern/vector.h"

struct cohort__chain cohort__chain_make(const struct cohort__request *request, size_t element,
                                        uint32_t num_hops)
{
    struct cohort__chain chain = {
        .bytes = request->bytes, .element = element, .num_hops = num_hops, .num_segments = 1};
    size_t num_elements = request->bytes / (element > 0 ? element : 1);
    double best = num_hops > 1 ? (num_hops - 1.0) * (double)request->bytes : 0;
    while (chain.num_segments < COHORT__CHAIN_MAX_SEGMENTS && chain.num_segments < num_elements &&
           (double)chain.num_segments * chain.num_segments * COHORT__CHAIN_STARTUP_BYTES < best)
        chain.num_segments++;
    return chain;
}

uint32_t cohort__chain_segment(struct cohort__plan_builder *builder,
                               const struct cohort__chain *chain, enum cohort__space space,
                               size_t offset, uint32_t segment)
{
    size_t begin = cohort__cut(chain->bytes, chain->element, chain->num_segments, segment);
    return cohort__plan_range(builder, space, offset + begin,
                              cohort__chain_segment_bytes(chain, segment));
}

size_t cohort__chain_segment_bytes(const struct cohort__chain *chain, uint32_t segment)
{
    return cohort__cut_bytes(chain->bytes, chain->element, chain->num_segments, segment, 1);
}

struct cohort__cost cohort__chain_cost(const struct cohort__chain *chain)
{
    double hops = chain->num_hops, segments = chain->num_segments, bytes = (double)chain->bytes;
    double largest = (double)cohort__chain_segment_bytes(chain, 0);
    if (chain->num_hops == 0)
        return (struct cohort__cost){0};
    return (struct cohort__cost){.startups = hops - 1 + segments,
                                 .bytes = (hops - 1) * largest + bytes,
                                 .messages = hops * segments,
                                 .moved = hops * bytes};
}
