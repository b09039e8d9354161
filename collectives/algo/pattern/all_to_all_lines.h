/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_LINES_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_LINES_H

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"

/* All-to-alls from neighbour to neighbour, in one dimension of MESH after the other. The sites of a
 * dimension are a ring. A site sends all that it has for the others there as one message to the
 * next site. That one takes its own part and passes the rest on.
 *
 * At any time a site has num_sites blocks. They are ordered by a site number whose coordinates are
 * the source's in the dimensions that are done, and the target's in the others. So the blocks with
 * one coordinate, which a step sends or receives, are one strided block. At the end the order is
 * that of the sources, so nothing is rearranged. The blocks for the site itself are copied from
 * dimension to dimension.
 *
 * BOTH_WAYS: blocks go forwards to the nearer half of the others, and backwards to the other
 * half. */
cohort_status cohort__all_to_all_on_mesh(const struct cohort__request *request, const char *name,
                                         const struct cohort__mesh *mesh, bool both_ways,
                                         struct cohort__plan **ret_plan);

/* A dimension of e sites costs e - 1 messages. They have N/e blocks for each of e - 1, e - 2 .. 1
 * sites (both ways: about half as many). TMP: N blocks if there are several dimensions, and two of
 * the messages that are passed on. */
struct cohort__cost cohort__all_to_all_on_mesh_cost(const struct cohort__request *request,
                                                    const struct cohort__mesh *mesh,
                                                    bool both_ways);

#endif
