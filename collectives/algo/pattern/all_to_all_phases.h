/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_PHASES_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_PHASES_H

#include "collectives/algo/pattern/tree.h"

/* The parts of a hierarchical all-to-all. Site i has a row, IN, whose block j is for site j, and a
 * column, OUT, whose block j is from site j. The sites of a top-level group G_k gather their rows
 * at its representative R_k (phase 1). The representatives exchange sub-matrices (phase 2). R_k
 * scatters columns to the sites of G_k (phase 3). R_k keeps its own row in IN and its own column in
 * OUT. It keeps those of the others in TMP, one after the other. So no row or column is moved
 * within a site. The transposition is done by the pieces into which R_k receives. */
struct cohort__all_to_all {
    const struct cohort__request *request;
    struct cohort__plan_builder *builder;
    uint32_t num_groups;
    uint32_t this_group;
    struct cohort__range group; /* the group of this site */
    size_t row_bytes;           /* of a row, and of a column */
    bool is_representative;
    struct cohort__tree tree; /* over `group` */
    struct cohort__layout rows;
    struct cohort__layout columns;
};

enum {
    COHORT__ALL_TO_ALL_GATHER = 1, /* the phases */
    COHORT__ALL_TO_ALL_EXCHANGE = 2,
    COHORT__ALL_TO_ALL_SCATTER = 3,
};

/* Finds the groups and their representatives, and where rows and columns are. SELF refers to
 * REQUEST and BUILDER. */
void cohort__all_to_all_init(struct cohort__all_to_all *self, const struct cohort__request *request,
                             struct cohort__plan_builder *builder);

/* The sites of top-level group INDEX. */
struct cohort__range cohort__all_to_all_group(const struct cohort__all_to_all *self,
                                              uint32_t index);

/* Phase 1. Returns the step after which this site's part is done, or COHORT__NO_STEP. */
uint32_t cohort__all_to_all_gather(struct cohort__all_to_all *self);

/* For phase 2 at a representative: the blocks of its group's rows, except its own row, that are for
 * the sites of RANGE, as a piece of each row. Only if the group has other sites. */
uint32_t cohort__all_to_all_row_pieces(struct cohort__all_to_all *self, struct cohort__range range);

/* Phases 1 and 3, with EXCHANGE for phase 2 at the representatives. EXCHANGE may start to send
 * after AFTER, and returns the step after which the representative's columns are there. */
typedef uint32_t cohort__all_to_all_exchange(struct cohort__all_to_all *self, uint32_t after);
void cohort__all_to_all_compose(struct cohort__plan_builder *builder,
                                const struct cohort__request *request,
                                cohort__all_to_all_exchange *exchange);

/* The cost of phase 1 or 3, in all groups at once. `memory` is that of both phases at a
 * representative. */
struct cohort__cost cohort__all_to_all_subtrees_cost(const struct cohort__request *request);

/* How many blocks go from one top-level group to another. */
double cohort__all_to_all_between_groups(const struct cohort__request *request);

#endif
