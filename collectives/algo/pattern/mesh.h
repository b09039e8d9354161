/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_ALGO_PATTERN_MESH_H
#define COHORT_COLLECTIVES_ALGO_PATTERN_MESH_H

#include <stdint.h>

/* The sites as points of a mesh. num_sites is the product of the extents. A site's coordinates are
 * the digits of its number, with dimension 0 as the lowest digit. So in two dimensions, sites go
 * row by row. The lines of each dimension are rings. */
enum { COHORT__MESH_MAX_DIMENSIONS = 32 };

struct cohort__mesh {
    uint32_t num_dimensions;
    uint32_t extents[COHORT__MESH_MAX_DIMENSIONS];
};

/* One dimension: a ring. */
struct cohort__mesh cohort__mesh_line(uint32_t num_sites);

/* Two dimensions, as square as the factors of num_sites allow. Rows are not shorter than columns. A
 * prime number of sites is one row. */
struct cohort__mesh cohort__mesh_square(uint32_t num_sites);

/* A dimension for each prime factor, the largest first. For a single site, one dimension of extent
 * 1. */
struct cohort__mesh cohort__mesh_of_factors(uint32_t num_sites);

/* How many sites the first DIMENSION dimensions span. That is the distance between neighbours in
 * DIMENSION. */
uint32_t cohort__mesh_stride(const struct cohort__mesh *mesh, uint32_t dimension);

/* The coordinate of SITE in DIMENSION. */
uint32_t cohort__mesh_coordinate(const struct cohort__mesh *mesh, uint32_t site,
                                 uint32_t dimension);

/* SITE with another coordinate in DIMENSION. */
uint32_t cohort__mesh_move(const struct cohort__mesh *mesh, uint32_t site, uint32_t dimension,
                           uint32_t coordinate);

/* The last dimension of a mesh that has more than one coordinate, or 0. */
uint32_t cohort__mesh_last_dimension(const struct cohort__mesh *mesh);

#endif
