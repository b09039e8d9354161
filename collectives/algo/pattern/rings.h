/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_RINGS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_RINGS_H

#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/vector.h"

/* Rings along each dimension of a mesh, one after the other. The sites that differ in one
 * coordinate only are a ring: each passes pieces on to the next one. The sites that differ only in
 * lower dimensions have consecutive numbers. So what they have collected is one range of pieces.
 * With one dimension it is the algorithm "ring". */
struct cohort__rings {
    struct cohort__mesh mesh;
    uint32_t this_site;
    unsigned phase;
    /* Set by reduce_scatter for an all_gather of the same pieces, if `has_sends`: the first SEND of
     * each dimension, beginning with `first_dimension`. The RECVs of the all_gather write where
     * these SENDs have read. */
    bool has_sends;
    uint32_t first_dimension;
    uint32_t first_sends[COHORT__MESH_MAX_DIMENSIONS];
};

/* Collects all pieces in ALL. This site's own piece is in OWN after READY, and in its place in ALL
 * after PLACED. */
void cohort__rings_all_gather(struct cohort__plan_builder *builder,
                              const struct cohort__rings *rings, const struct cohort__vector *all,
                              uint32_t own, uint32_t ready, uint32_t placed);

/* Reduces the pieces of IN, highest dimension first. The order in each ring begins after the site
 * that a piece is for, so the operation must commute. The result is this site's piece. It is in
 * block RESULT if ALL is NULL. Then partial results are in TMP. Else the result and partial results
 * are in their places in ALL. Returns the step after which the result is there. For more than one
 * site. */
uint32_t cohort__rings_reduce_scatter(struct cohort__plan_builder *builder,
                                      struct cohort__rings *rings, const struct cohort__vector *in,
                                      const struct cohort__vector *all, uint32_t result);

/* The costs of these two. reduce_scatter: IN_PLACE means in ALL, else in a RESULT. */
struct cohort__cost cohort__rings_all_gather_cost(const struct cohort__mesh *mesh,
                                                  const struct cohort__vector *all);
struct cohort__cost cohort__rings_reduce_scatter_cost(const struct cohort__mesh *mesh,
                                                      const struct cohort__vector *in,
                                                      bool in_place);

#endif
