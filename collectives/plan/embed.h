/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_EMBED_H
#define COHORT_COLLECTIVES_PLAN_EMBED_H

#include "collectives/plan/plan.h"

/* The blocks of the outer plan that replace one block of the subplan. Together they have its
 * size. */
struct cohort__block_list {
    const uint32_t *blocks;
    uint32_t num_blocks;
};

/* How a subplan, which is a plan over ranks 0, 1, ... of a group, becomes a part of an outer
 * plan. */
struct cohort__embedding {
    const uint32_t *sites; /* the outer site for each rank; NULL: they are the same */
    /* One list for each block of the subplan. The subplan's TMP blocks get TMP memory of the
     * outer plan, so their lists are ignored. */
    const struct cohort__block_list *block_map;
    const uint32_t *blocks; /* in place of that: one block for each */
    unsigned phase;         /* of all appended steps, or COHORT__KEEP_PHASE */
    uint32_t tag;           /* added to the subplan's tags */
    /* Added to a tag as many times as the number of the step's phase in the subplan. It keeps
     * messages apart that have the same tag in several phases, when these phases become one. */
    uint32_t tags_per_phase;
    uint32_t first_note; /* added to the numbers of its notes */
    uint32_t after;      /* no step except RECVs starts before this one is done */
    uint32_t recv_after; /* no RECV starts before this one is done */
    /* If it has early SENDs: those of at most `early_bytes` that wait for no step of the subplan
     * do not wait for `after` either. */
    bool has_early;
    size_t early_bytes;
};

/* Composition: appends the steps of SUBPLAN, which has no GUARD, and meetings only if the sites
 * are the same, to BUILDER. A COPY whose source and destination become the same bytes is left out.
 * A COPY, REDUCE or ZERO of a list becomes one step for each part. The steps in `after` and
 * `recv_after` may be COHORT__NO_STEP; otherwise they have to exist already. Returns a step that is
 * done when these two and the whole subplan are done, or COHORT__NO_STEP if there is none. The
 * subplan still belongs to the caller. */
uint32_t cohort__plan_embed(struct cohort__plan_builder *builder,
                            const struct cohort__plan *subplan,
                            const struct cohort__embedding *embedding);

/* The same, where each block of SUBPLAN that is not in TMP becomes the one that MOVED returns for
 * it. */
uint32_t cohort__plan_embed_moved(struct cohort__plan_builder *builder,
                                  const struct cohort__plan *subplan,
                                  struct cohort__block (*moved)(const void *context,
                                                                struct cohort__block block),
                                  const void *context, struct cohort__embedding embedding);

#endif
