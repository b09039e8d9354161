/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/mesh.h"

#include "tests/support/test.h"

static void check_mesh(const struct cohort__mesh *mesh, uint32_t num_sites)
{
    CHECK_INT(cohort__mesh_stride(mesh, mesh->num_dimensions), num_sites);
    for (uint32_t site = 0; site < num_sites; site++) {
        uint32_t again = 0;
        for (uint32_t d = 0; d < mesh->num_dimensions; d++) {
            uint32_t coordinate = cohort__mesh_coordinate(mesh, site, d);
            CHECK(coordinate < mesh->extents[d]);
            CHECK_INT(cohort__mesh_move(mesh, site, d, coordinate), site);
            uint32_t moved = cohort__mesh_move(mesh, site, d, mesh->extents[d] - 1);
            CHECK(moved < num_sites);
            CHECK_INT(cohort__mesh_coordinate(mesh, moved, d), mesh->extents[d] - 1);
            again += coordinate * cohort__mesh_stride(mesh, d);
        }
        CHECK_INT(again, site);
    }
}

TEST(every_number)
{
    for (uint32_t num_sites = 1; num_sites <= 130; num_sites++) {
        struct cohort__mesh square = cohort__mesh_square(num_sites);
        struct cohort__mesh factors = cohort__mesh_of_factors(num_sites);
        CHECK_INT(square.num_dimensions, 2);
        CHECK(square.extents[0] >= square.extents[1]);
        check_mesh(&square, num_sites);
        check_mesh(&factors, num_sites);
    }
}

TEST(shapes)
{
    struct cohort__mesh mesh = cohort__mesh_square(12);
    CHECK_INT(mesh.extents[0], 4);
    CHECK_INT(mesh.extents[1], 3);
    CHECK_INT(cohort__mesh_coordinate(&mesh, 6, 0), 2);
    CHECK_INT(cohort__mesh_coordinate(&mesh, 6, 1), 1);
    CHECK_INT(cohort__mesh_square(16).extents[1], 4);
    CHECK_INT(cohort__mesh_square(13).extents[1], 1);
    mesh = cohort__mesh_of_factors(12);
    CHECK_INT(mesh.num_dimensions, 3);
    CHECK_INT(mesh.extents[0], 3);
    CHECK_INT(mesh.extents[1], 2);
    CHECK_INT(mesh.extents[2], 2);
    CHECK_INT(cohort__mesh_of_factors(1).num_dimensions, 1);
    CHECK_INT(cohort__mesh_of_factors(UINT32_MAX).extents[0], 65537);
}
