/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_CHAIN_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_CHAIN_H

#include "collectives/algo/algorithm.h"

/* A block in segments. Along a chain of sites, each segment is sent on as soon as it has come. Over
 * H hops S segments take H - 1 + S messages one after the other. The time is shortest with S =
 * sqrt((H - 1) m t_w / t_s). All sites have to cut in the same way, so t_s / t_w is assumed to be
 * COHORT__CHAIN_STARTUP_BYTES: a message of 4 KiB takes twice as long as an empty one. */
enum { COHORT__CHAIN_STARTUP_BYTES = 4096, COHORT__CHAIN_MAX_SEGMENTS = 64 };

struct cohort__chain {
    size_t bytes;
    size_t element; /* cuts are between elements of that size */
    uint32_t num_hops;
    uint32_t num_segments;
};

/* The chain for a block of REQUEST. ELEMENT as in a request. The number of segments is that of the
 * formula, rounded up. It is not more than the number of elements or COHORT__CHAIN_MAX_SEGMENTS,
 * and at least 1. */
struct cohort__chain cohort__chain_make(const struct cohort__request *request, size_t element,
                                        uint32_t num_hops);

/* A new block in SPACE with the bytes of SEGMENT. The block that is cut begins at OFFSET. */
uint32_t cohort__chain_segment(struct cohort__plan_builder *builder,
                               const struct cohort__chain *chain, enum cohort__space space,
                               size_t offset, uint32_t segment);

/* The bytes of SEGMENT. Segment 0 is a largest one. */
size_t cohort__chain_segment_bytes(const struct cohort__chain *chain, uint32_t segment);

/* The cost of all segments over all hops. When the first segment has come to the last site, the
 * port of that site takes the others one after the other. */
struct cohort__cost cohort__chain_cost(const struct cohort__chain *chain);

#endif
