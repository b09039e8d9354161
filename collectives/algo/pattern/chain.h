/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_CHAIN_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_CHAIN_H

#include "collectives/algo/algorithm.h"

/* A block in segments, each of which goes on along a chain of sites as soon as it has come. Over
 * H hops S segments take H - 1 + S messages one after the other, which is shortest with
 * S = sqrt((H - 1) m t_w / t_s). All sites have to cut alike, so t_s / t_w is taken to be
 * COHORT__CHAIN_STARTUP_BYTES: a message of 4 KiB takes twice as long as an empty one. */
enum { COHORT__CHAIN_STARTUP_BYTES = 4096, COHORT__CHAIN_MAX_SEGMENTS = 64 };

struct cohort__chain {
    size_t bytes;
    size_t element; /* nothing is cut within one */
    uint32_t num_hops;
    uint32_t num_segments;
};

/* For a block of REQUEST; ELEMENT as in a request. The number of segments is that of the formula,
 * rounded up; but not more than elements or COHORT__CHAIN_MAX_SEGMENTS, and at least 1. */
struct cohort__chain cohort__chain_make(const struct cohort__request *request, size_t element,
                                        uint32_t num_hops);

/* A new block in SPACE of the bytes of SEGMENT, for a block that begins at OFFSET. */
uint32_t cohort__chain_segment(struct cohort__plan_builder *builder,
                               const struct cohort__chain *chain, enum cohort__space space,
                               size_t offset, uint32_t segment);

/* The bytes of SEGMENT; no one has more than segment 0. */
size_t cohort__chain_segment_bytes(const struct cohort__chain *chain, uint32_t segment);

/* Of all segments over all hops: the last site's port takes them one after the other when the first
 * one has come to it. */
struct cohort__cost cohort__chain_cost(const struct cohort__chain *chain);

#endif
