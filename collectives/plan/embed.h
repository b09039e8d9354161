/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_PLAN_EMBED_H
#define COHORT_COLLECTIVES_PLAN_EMBED_H

#include "collectives/plan/plan.h"

/* Which blocks of the outer plan stand for one block of the fragment: together they have its size.
 */
struct cohort__block_list {
    const uint32_t *blocks;
    uint32_t num_blocks;
};

/* How a fragment, a plan over ranks 0.. of a group, becomes a part of an outer plan. */
struct cohort__embedding {
    const uint32_t *sites; /* the outer site that plays each rank */
    /* For each block of the fragment. Its TMP blocks get TMP memory of the outer plan and their
     * lists are not looked at. */
    const struct cohort__block_list *block_map;
    unsigned phase; /* of all appended steps; or COHORT__KEEP_PHASE */
    uint32_t tag;   /* added to the fragment's tags */
    /* Added to a tag once for each phase of its step in the fragment: keeps apart what has the same
     * tag in several phases that become one. */
    uint32_t tags_per_phase;
    uint32_t after;      /* nothing but RECVs starts before this step is done */
    uint32_t recv_after; /* no RECV starts before this one is done */
};

/* Composition: appends the steps of FRAGMENT, which has no GUARD, to BUILDER. A COPY that the map
 * turns into one of some bytes onto themselves vanishes; a COPY, REDUCE or ZERO of a list becomes
 * one step for each part. The steps in `after` and `recv_after`, which may be COHORT__NO_STEP, have
 * to exist already. Returns a step that is done when they and the whole fragment are;
 * COHORT__NO_STEP when there is none. The fragment stays the caller's. */
uint32_t cohort__plan_embed(struct cohort__plan_builder *builder,
                            const struct cohort__plan *fragment,
                            const struct cohort__embedding *embedding);

#endif
