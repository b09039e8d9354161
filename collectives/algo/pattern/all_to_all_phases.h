/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_PHASES_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_ALL_TO_ALL_PHASES_H

#include "collectives/algo/pattern/layout.h"

/* The parts of a hierarchical all-to-all. Site i has a row, IN: block j of it is for site j; and a
 * column, OUT: block j of it is from site j. The sites of a top-level group G_k gather their rows
 * at its representative R_k (phase 1), the representatives exchange sub-matrices (phase 2), R_k
 * scatters columns to the sites of G_k (phase 3). R_k keeps its own row in IN and its own column in
 * OUT, and the others in TMP, one after the other. So no row or column is moved within a site, and
 * the transposition is done by the pieces into which R_k receives. */
struct cohort__all_to_all {
    const struct cohort__request *request;
    struct cohort__plan_builder *builder;
    uint32_t num_groups;
    uint32_t this_group;
    struct cohort__range group; /* this site's */
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

/* Who is who, and where rows and columns are. SELF refers to REQUEST and BUILDER. */
void cohort__all_to_all_init(struct cohort__all_to_all *self, const struct cohort__request *request,
                             struct cohort__plan_builder *builder);

/* The sites of top-level group INDEX. */
struct cohort__range cohort__all_to_all_group(const struct cohort__all_to_all *self,
                                              uint32_t index);

/* Phase 1. Returns the step after which this site's part is done, or COHORT__NO_STEP. */
uint32_t cohort__all_to_all_gather(struct cohort__all_to_all *self);

/* What phase 2 needs at a representative. The blocks of the rows of its group, but its own, that
 * are for the sites RANGE: a piece of each row. Only if it has a group besides itself. */
uint32_t cohort__all_to_all_row_pieces(struct cohort__all_to_all *self, struct cohort__range range);

/* Phase 3, in which nothing starts before AFTER. */
void cohort__all_to_all_scatter(struct cohort__all_to_all *self, uint32_t after);

/* The two outer phases as plans of their own, for tests. Rows: IN is the site's row; OUT, at the
 * representatives, their group's rows. Columns: IN, at the representatives, is their group's
 * columns, one after the other; OUT is the site's column. */
cohort_status cohort__all_to_all_rows_build(const struct cohort__request *request,
                                            struct cohort__plan **ret_plan);
cohort_status cohort__all_to_all_columns_build(const struct cohort__request *request,
                                               struct cohort__plan **ret_plan);

/* Phases 1 and 3, with EXCHANGE for phase 2 at the representatives, which may start to send after
 * AFTER and returns the step after which its columns are there. */
typedef uint32_t cohort__all_to_all_exchange(struct cohort__all_to_all *self, uint32_t after);
cohort_status cohort__all_to_all_compose(const struct cohort__request *request, const char *name,
                                         cohort__all_to_all_exchange *exchange,
                                         struct cohort__plan **ret_plan);

/* Of phase 1 or 3, in all groups at once; `memory` is that of both phases at a representative. */
struct cohort__cost cohort__all_to_all_subtrees_cost(const struct cohort__request *request);

/* How many blocks are for another top-level group than their source's. */
double cohort__all_to_all_between_groups(const struct cohort__request *request);

#endif
