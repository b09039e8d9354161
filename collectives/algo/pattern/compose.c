/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/compose.h"

#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/walk.h"

enum { UP = 1, DOWN = 3 };

cohort_status cohort__all_reduce_compose(const struct cohort__request *request, uint32_t arity,
                                         const char *name, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    struct cohort__tree tree;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__tree_init(&tree, all, arity, 0, request->this_site);
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
    uint32_t end = cohort__reduce_up(builder, &tree, own, result, request->bytes, UP);
    /* A site without children sends from IN, so it may receive into OUT at any time. */
    if (!cohort__tree_has_children(&tree))
        end = COHORT__NO_STEP;
    cohort__broadcast_down(builder, &tree, result, request->bytes, DOWN, end);
    if (request->num_sites == 1)
        cohort__plan_copy(builder, UP, result, own);
    return cohort__plan_finish(builder, ret_plan);
}

struct cohort__cost cohort__all_reduce_compose_cost(const struct cohort__request *request,
                                                    uint32_t arity)
{
    struct cohort__cost cost =
        cohort__cost_then(cohort__cost_reduce(request->num_sites, arity, request->bytes),
                          cohort__cost_broadcast(request->num_sites, arity, request->bytes));
    cost.memory = cohort__reduce_up_memory(request->num_sites, arity, request->bytes);
    return cost;
}

/* A representative sends its own block from IN. The root copies its own, since it receives nothing
 * on the way down. */
static uint32_t gather_append(struct cohort__plan_builder *builder,
                              const struct cohort__request *request,
                              const struct cohort__tree *tree)
{
    uint32_t own = cohort__plan_range(builder, COHORT__SPACE_IN, 0, request->bytes);
    uint32_t ready = COHORT__NO_STEP;
    if (cohort__tree_is_root(tree)) {
        uint32_t place = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, request->bytes);
        ready = cohort__plan_copy(builder, UP, place, own);
        own = COHORT__NO_BLOCK;
    }
    struct cohort__layout layout = cohort__layout_by_site(COHORT__SPACE_OUT, own, request->bytes);
    return cohort__gather_up(builder, tree, &layout, UP, ready);
}

cohort_status cohort__all_gather_compose(const struct cohort__request *request, uint32_t arity,
                                         const char *name, struct cohort__plan **ret_plan)
{
    struct cohort__plan_builder *builder = NULL;
    struct cohort__range all = {.first = 0, .count = request->num_sites};
    size_t all_bytes = request->num_sites * request->bytes;
    struct cohort__tree tree;
    cohort_status status =
        cohort__plan_builder_create(&builder, name, request->num_sites, request->this_site);
    if (status != COHORT_OK)
        return status;
    cohort__tree_init(&tree, all, arity, 0, request->this_site);
    uint32_t end = gather_append(builder, request, &tree);
    /* A site without children gathers nothing in OUT, so it may receive into OUT at any time. */
    if (!cohort__tree_has_children(&tree))
        end = COHORT__NO_STEP;
    uint32_t result = cohort__plan_range(builder, COHORT__SPACE_OUT, 0, all_bytes);
    cohort__broadcast_down(builder, &tree, result, all_bytes, DOWN, end);
    return cohort__plan_finish(builder, ret_plan);
}
