/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_VECTOR_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_VECTOR_H

#include "collectives/algo/algorithm.h"

/* Memory in pieces, mostly one for each site. */

/* Cuts a block into NUM_PIECES pieces that are as equal as its elements allow. The larger ones come
 * first. That is the rule of cohort__partition, but pieces may be empty. Returns the byte where
 * PIECE begins. PIECE may be NUM_PIECES: the end. ELEMENT as in a request. */
size_t cohort__cut(size_t bytes, size_t element, uint32_t num_pieces, uint32_t piece);

/* The bytes of COUNT pieces from FIRST on. */
size_t cohort__cut_bytes(size_t bytes, size_t element, uint32_t num_pieces, uint32_t first,
                         uint32_t count);

/* Memory that has a piece for each site. Pieces may be empty. */
struct cohort__vector {
    enum cohort__space space;
    size_t start;                     /* where it begins; the pieces' offsets count from here */
    const struct cohort__part *parts; /* one for each piece, anywhere; NULL: it is cut evenly */
    size_t bytes;                     /* of all, cut between elements as by cohort__cut */
    size_t element;
    uint32_t num_pieces;
};

/* The blocks of all sites, one after the other, or where PARTS says. */
struct cohort__vector cohort__vector_of_blocks(const struct cohort__request *request,
                                               enum cohort__space space,
                                               const struct cohort__part *parts);

/* One block of the request, cut into num_sites pieces. */
struct cohort__vector cohort__vector_of_cut(const struct cohort__request *request,
                                            enum cohort__space space);

/* The bytes of COUNT pieces from FIRST on. With parts, COUNT must be 1. */
size_t cohort__vector_bytes(const struct cohort__vector *vector, uint32_t first, uint32_t count);

/* The same pieces as a block. */
uint32_t cohort__vector_block(struct cohort__plan_builder *builder,
                              const struct cohort__vector *vector, uint32_t first, uint32_t count);

/* New TMP for these pieces only. */
struct cohort__vector cohort__vector_in_tmp(struct cohort__plan_builder *builder,
                                            const struct cohort__vector *vector, uint32_t first,
                                            uint32_t count);

#endif
