/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_RINGS_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_RINGS_H

#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/vector.h"

/* Rings along each dimension of a mesh in turn: the sites that differ in one coordinate alone pass
 * pieces on to their next ones. The sites that differ in the lower dimensions have consecutive
 * numbers, so what they have collected is one range of pieces. With one dimension: the ring. */
struct cohort__rings {
    struct cohort__mesh mesh;
    uint32_t this_site;
    unsigned phase;
    /* What reduce_scatter leaves for an all_gather of the same pieces, whose RECVs write where it
     * has sent from: the first of the SENDs of each dimension, if `has_sends`; it begins with
     * `first_dimension`. */
    bool has_sends;
    uint32_t first_dimension;
    uint32_t first_sends[COHORT__MESH_MAX_DIMENSIONS];
};

/* The last dimension of a mesh that has more than one coordinate, or 0. */
uint32_t cohort__mesh_last_dimension(const struct cohort__mesh *mesh);

/* Collects all pieces in ALL. This site's own one is in OWN after READY, and in its place in ALL
 * after PLACED. */
void cohort__rings_all_gather(struct cohort__plan_builder *builder,
                              const struct cohort__rings *rings, const struct cohort__vector *all,
                              uint32_t own, uint32_t ready, uint32_t placed);

/* Reduces the pieces of IN, highest dimension first, each one in the order of the ring from the
 * site after the one that it is for: for operations that commute. The result, this site's piece, is
 * in block RESULT, in which case ALL is NULL and partial results are in TMP; or in its place in
 * ALL, as partial results are. Returns the step after which it is there; more than one site. */
uint32_t cohort__rings_reduce_scatter(struct cohort__plan_builder *builder,
                                      struct cohort__rings *rings, const struct cohort__vector *in,
                                      const struct cohort__vector *all, uint32_t result);

/* How many buffers a ring of EXTENT sites needs for what arrives, if the last to arrive does not
 * need one (HAS_RESULT). */
uint32_t cohort__rings_num_buffers(uint32_t extent, bool has_result);

/* Of the two; the second one for a RESULT, or IN_PLACE in ALL. */
struct cohort__cost cohort__rings_all_gather_cost(const struct cohort__mesh *mesh,
                                                  const struct cohort__vector *all);
struct cohort__cost cohort__rings_reduce_scatter_cost(const struct cohort__mesh *mesh,
                                                      const struct cohort__vector *in,
                                                      bool in_place);

/* Rows, in rings_collectives.c: a whole collective over MESH. */
cohort_status cohort__all_gather_rings(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan);
cohort_status cohort__reduce_scatter_rings(const struct cohort__request *request,
                                           const struct cohort__mesh *mesh, const char *name,
                                           struct cohort__plan **ret_plan);
cohort_status cohort__all_reduce_rings(const struct cohort__request *request,
                                       const struct cohort__mesh *mesh, const char *name,
                                       struct cohort__plan **ret_plan);
struct cohort__cost cohort__all_reduce_rings_cost(const struct cohort__request *request,
                                                  const struct cohort__mesh *mesh);

#endif
