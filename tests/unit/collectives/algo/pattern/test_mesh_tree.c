/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/cost.h"
#include "collectives/algo/pattern/mesh_tree.h"
#include "tests/support/test.h"

/* Compares with the reference's GENERAL_ONE_TO_ALL_BC on 2^d nodes, for one site. */
static void check_template(uint32_t num_dimensions, uint32_t source, uint32_t site)
{
    struct cohort__mesh mesh = cohort__mesh_line(UINT32_C(1) << num_dimensions);
    struct cohort__mesh_tree tree;
    uint32_t virtual_id = site ^ source;
    uint32_t parent = COHORT__NO_SITE, num_children = 0;
    cohort__mesh_tree_init(&tree, &mesh, COHORT__MESH_ROWS_FIRST, source, site);
    for (uint32_t i = num_dimensions; i-- > 0;) {
        uint32_t mask = (UINT32_C(1) << i) - 1;
        if ((virtual_id & mask) != 0)
            continue;
        if ((virtual_id >> i & 1) != 0) {
            parent = site ^ (UINT32_C(1) << i);
            continue;
        }
        CHECK(num_children < tree.num_children);
        CHECK_INT(tree.children[num_children].site, site ^ (UINT32_C(1) << i));
        CHECK_INT(tree.children[num_children].is_left, site >> i & 1);
        num_children++;
    }
    CHECK_INT(tree.parent, parent);
    CHECK_INT(tree.num_children, num_children);
}

TEST(template)
{
    for (uint32_t d = 0; d <= 6; d++)
        for (uint32_t source = 0; source < UINT32_C(1) << d; source++)
            for (uint32_t site = 0; site < UINT32_C(1) << d; site++)
                check_template(d, source, site);
}

static void check_site(const struct cohort__mesh *mesh, enum cohort__mesh_order order,
                       uint32_t root, uint32_t site)
{
    struct cohort__mesh_tree tree, child;
    uint32_t below = 1;
    cohort__mesh_tree_init(&tree, mesh, order, root, site);
    CHECK_INT(tree.parent == COHORT__NO_SITE, site == root);
    CHECK(site - tree.sites.first < tree.sites.count);
    for (uint32_t i = 0; i < tree.num_children; i++) {
        cohort__mesh_tree_init(&child, mesh, order, root, tree.children[i].site);
        CHECK_INT(child.parent, site);
        CHECK_INT(child.sites.first, tree.children[i].sites.first);
        CHECK_INT(child.sites.count, tree.children[i].sites.count);
        CHECK_INT(tree.children[i].is_left, tree.children[i].site < site);
        below += child.sites.count;
    }
    if (order == COHORT__MESH_ROWS_LAST)
        CHECK_INT(tree.sites.count, below);
}

/* Parents and children agree in meshes of all kinds. If rows are last, subtrees are ranges. */
TEST(agreement)
{
    for (uint32_t n = 1; n <= 40; n++) {
        struct cohort__mesh meshes[] = {cohort__mesh_line(n), cohort__mesh_square(n),
                                        cohort__mesh_of_factors(n)};
        for (uint32_t i = 0; i < 6; i++)
            for (uint32_t root = 0; root < n; root++)
                for (uint32_t site = 0; site < n; site++)
                    check_site(&meshes[i / 2],
                               i % 2 ? COHORT__MESH_ROWS_LAST : COHORT__MESH_ROWS_FIRST, root,
                               site);
    }
}
