/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/tree.h"

#include "tests/support/test.h"

enum { LAST_SITES = 40 };

/* Every site except the root sends to one other site, which expects it. A site's subtree consists
 * of the site itself and the subtrees of its children. */
static void check_tree(uint32_t num_sites, uint32_t arity, uint32_t root)
{
    struct cohort__range all = {.first = 100, .count = num_sites};
    uint32_t num_children = 0, num_levels = 0;
    for (uint32_t site = 100; site < 100 + num_sites; site++) {
        struct cohort__tree tree;
        cohort__tree_init(&tree, all, arity, 100 + root, site);
        CHECK_INT(cohort__tree_is_root(&tree), site == 100 + root);
        CHECK_INT(cohort__tree_site(&tree, tree.this_number), site);
        uint32_t below = 1;
        for (uint32_t level = 0; level < tree.num_levels; level++) {
            const struct cohort__tree_level *at = &tree.levels[level];
            bool is_child = level == 0 && !cohort__tree_is_root(&tree);
            CHECK_INT(at->this_rank > 0, is_child);
            CHECK(at->num_ranks >= 2 && at->num_ranks <= arity);
            for (uint32_t rank = 1; rank < at->num_ranks && !is_child; rank++) {
                struct cohort__range group = cohort__tree_group(&tree, level, rank);
                struct cohort__tree child;
                cohort__tree_init(&child, all, arity, 100 + root,
                                  cohort__tree_site(&tree, group.first));
                CHECK_INT(child.levels[0].this_rank, rank);
                CHECK_INT(child.levels[0].range.first, at->range.first);
                CHECK_INT(cohort__tree_subtree(&child).count, group.count);
                below += group.count;
                num_children++;
            }
        }
        CHECK_INT(cohort__tree_subtree(&tree).first, tree.this_number);
        CHECK_INT(cohort__tree_subtree(&tree).count, below);
        CHECK_INT(cohort__tree_has_children(&tree), below > 1);
        num_levels = tree.num_levels > num_levels ? tree.num_levels : num_levels;
    }
    CHECK_INT(num_children, num_sites - 1);
    CHECK_INT(num_levels, num_sites > 1 ? cohort__partition_levels(num_sites, arity) : 0);
}

TEST(all)
{
    for (uint32_t num_sites = 1; num_sites <= LAST_SITES; num_sites++)
        for (uint32_t arity = 2; arity <= 8; arity++)
            for (uint32_t root = 0; root < num_sites; root++)
                check_tree(num_sites, arity, root);
}

/* The worked example of the reference design: groups of 3, 3, 3 and 2. */
TEST(example)
{
    struct cohort__range all = {.first = 0, .count = 11};
    struct cohort__tree tree;
    cohort__tree_init(&tree, all, 4, 0, 9);
    CHECK_INT(tree.num_levels, 2);
    CHECK_INT(tree.levels[0].this_rank, 3);
    CHECK_INT(tree.levels[1].num_ranks, 2);
    CHECK_INT(cohort__tree_subtree(&tree).count, 2);
    cohort__tree_init(&tree, all, 4, 5, 3);
    CHECK_INT(tree.this_number, 9);
    CHECK_INT(cohort__tree_site(&tree, cohort__tree_group(&tree, 0, 2).first), 0);
}
