/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_LINES_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_LINES_H

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"

/* All-to-alls from neighbour to neighbour, in one dimension of MESH after the other. The sites of a
 * dimension are a ring: a site sends all that it has for the others there as one message to the
 * next one, who takes its own part and passes on the rest.
 *
 * At any time a site has num_sites blocks, ordered by a site number whose coordinates are the
 * source's in the dimensions that are done, and the target's in the others. So what a step sends or
 * receives, the blocks with one coordinate, is one strided block, and at the end the order is that
 * of the sources: nothing is rearranged. The blocks for the site itself are copied from dimension
 * to dimension.
 *
 * BOTH_WAYS: to the nearer half of the others forwards, to the other half backwards. */
cohort_status cohort__all_to_all_on_mesh(const struct cohort__request *request, const char *name,
                                         const struct cohort__mesh *mesh, bool both_ways,
                                         struct cohort__plan **ret_plan);

/* A dimension of e sites costs e - 1 messages with N/e blocks each for e - 1, e - 2 .. 1 sites
 * (both ways: about half as many); TMP for N blocks if there are several dimensions, and for two of
 * the messages that are passed on. */
struct cohort__cost cohort__all_to_all_on_mesh_cost(const struct cohort__request *request,
                                                    const struct cohort__mesh *mesh,
                                                    bool both_ways);

#endif
