/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algo/pattern/mesh.h"

struct cohort__mesh cohort__mesh_line(uint32_t num_sites)
{
    return (struct cohort__mesh){.num_dimensions = 1, .extents = {num_sites}};
}

struct cohort__mesh cohort__mesh_square(uint32_t num_sites)
{
    uint32_t rows = 1;
    for (uint32_t factor = 2; (uint64_t)factor * factor <= num_sites; factor++)
        if (num_sites % factor == 0)
            rows = factor;
    return (struct cohort__mesh){.num_dimensions = 2, .extents = {num_sites / rows, rows}};
}

struct cohort__mesh cohort__mesh_of_factors(uint32_t num_sites)
{
    uint32_t ascending[COHORT__MESH_MAX_DIMENSIONS];
    uint32_t num = 0;
    for (uint32_t factor = 2; (uint64_t)factor * factor <= num_sites; factor++)
        for (; num_sites % factor == 0; num_sites /= factor)
            ascending[num++] = factor;
    if (num_sites > 1 || num == 0)
        ascending[num++] = num_sites;
    struct cohort__mesh mesh = {.num_dimensions = num};
    for (uint32_t i = 0; i < num; i++)
        mesh.extents[i] = ascending[num - 1 - i];
    return mesh;
}

uint32_t cohort__mesh_stride(const struct cohort__mesh *mesh, uint32_t dimension)
{
    uint32_t stride = 1;
    for (uint32_t i = 0; i < dimension; i++)
        stride *= mesh->extents[i];
    return stride;
}

uint32_t cohort__mesh_coordinate(const struct cohort__mesh *mesh, uint32_t site, uint32_t dimension)
{
    return site / cohort__mesh_stride(mesh, dimension) % mesh->extents[dimension];
}

uint32_t cohort__mesh_move(const struct cohort__mesh *mesh, uint32_t site, uint32_t dimension,
                           uint32_t coordinate)
{
    uint32_t stride = cohort__mesh_stride(mesh, dimension);
    return site - cohort__mesh_coordinate(mesh, site, dimension) * stride + coordinate * stride;
}

uint32_t cohort__mesh_last_dimension(const struct cohort__mesh *mesh)
{
    uint32_t dimension = mesh->num_dimensions - 1;
    while (dimension > 0 && mesh->extents[dimension] == 1)
        dimension--;
    return dimension;
}
