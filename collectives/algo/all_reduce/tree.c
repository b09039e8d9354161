/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduce over a tree: up, then down. Linear is the tree of one level. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/tree.h"

/* All-reduce, linear: reduce_linear to site 0 (phase 1), then broadcast_linear from it (phase 3).
 * Cost: 2 (N-1) messages, all of them at site 0. TMP: as reduce/linear.c.
 * Source: folklore; the composition of the reference design over one group. */
const struct cohort__algorithm cohort__all_reduce_linear = {
    .collective = COHORT__ALL_REDUCE,
    .name = "linear",
    .flat = true,
    .ordered = true,
    .build = cohort__all_reduce_compose,
    .cost = cohort__all_reduce_compose_cost,
};

/* All-reduce, hierarchical: reduce up the tree to site 0 (phase 1), broadcast down (phase 3). The
 * tree is over the sites in their order, so the reduction need not commute.
 * Cost: 2 L levels of at most arity - 1 messages at each parent, 2 (N-1) messages in all.
 * TMP: at a representative the blocks that it receives, as in reduce/linear.c, for each level;
 * results are kept in OUT.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025). */
const struct cohort__algorithm cohort__all_reduce_hierarchical = {
    .collective = COHORT__ALL_REDUCE,
    .name = "hierarchical",
    .hierarchical = true,
    .build = cohort__all_reduce_compose,
    .cost = cohort__all_reduce_compose_cost,
};
