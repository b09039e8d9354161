/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, hierarchical, up the tree. In each level the representatives of the groups send all that
 * their groups have to the first one. A representative sends its own block from IN and the rest
 * from TMP as one message. The root receives directly into OUT. A message there has at most two
 * pieces, where the numbers of the tree pass the last site.
 * Cost: L levels of at most arity - 1 messages into each parent; N-1 blocks into the root. TMP: the
 * blocks of a representative's subtree, except its own; none at the root.
 * Source: Strack et al., Hierarchical Collective Operations for HPX (IPTW 2025); Träff, Rougier
 * (EuroMPI 2014) for messages of several blocks. */
#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/tree.h"

enum { PHASE = 1 };

static void build(struct cohort__plan_builder *builder, const struct cohort__request *request)
{
    struct cohort__tree tree = cohort__tree_of(request, request->arity, request->root);
    struct cohort__layout layout;
    uint32_t ready = COHORT__NO_STEP;
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    if (cohort__tree_is_root(&tree)) {
        uint32_t place = cohort__plan_range(builder, COHORT__SPACE_OUT,
                                            request->this_site * request->bytes, request->bytes);
        ready = cohort__plan_copy(builder, PHASE, place, own);
        layout = cohort__layout_by_site(COHORT__SPACE_OUT, COHORT__NO_BLOCK, request->bytes);
    } else {
        layout = cohort__layout_in_tmp(builder, &tree, own, request->bytes);
    }
    cohort__gather_up(builder, &tree, &layout, PHASE, ready);
}

static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__cost cost =
        cohort__cost_scatter(request->num_sites, request->arity, request->bytes);
    cost.memory = cohort__layout_memory(request->num_sites, request->arity, request->bytes);
    return cost;
}

const struct cohort__algorithm cohort__gather_hierarchical = {
    .collective = COHORT__GATHER,
    .name = "hierarchical",
    .hierarchical = true,
    .build = build,
    .cost = cost,
};
