/* SPDX-License-Identifier: Apache-2.0 */
/* Shift, mesh, over the rows and columns of cohort__mesh_square, with C sites in a row and R rows.
 * With q = a C + b, blocks first move b columns forward in their row. Those that have passed its
 * end, which are now in the first b columns, move one row forward. Then all move a rows forward.
 * Rows and columns are rings, and blocks go round the shorter way.
 * Cost: (t_s + t_w m)(min(b, C - b) + (b > 0) + min(a, R - a)): at most C/2 + R/2 + 1 hops, which
 * is sqrt(N) + 1 for a square. If there is one row, since N is prime, it is a ring. TMP: a block.
 * Source: Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 4.6.1. */
#include <stdlib.h>

#include "collectives/algo/algorithm.h"
#include "collectives/algo/pattern/mesh.h"
#include "collectives/algo/pattern/relay.h"
#include "collectives/algo/pattern/wrap.h"

enum { COLUMN = 0, ROW = 1 }; /* the coordinates */

/* A move in one dimension, the shorter way round. */
struct walk {
    uint32_t num_hops;
    bool is_forward;
};

static struct walk walk_of(uint32_t distance, uint32_t extent)
{
    struct walk walk = {.num_hops = distance, .is_forward = distance <= extent - distance};
    if (!walk.is_forward)
        walk.num_hops = extent - distance;
    return walk;
}

static struct cohort__hop hop_in(const struct cohort__mesh *mesh, uint32_t site, uint32_t dimension,
                                 bool is_forward)
{
    uint32_t extent = mesh->extents[dimension];
    uint32_t place = cohort__mesh_coordinate(mesh, site, dimension);
    uint32_t one = extent > 1;
    uint32_t after =
        cohort__mesh_move(mesh, site, dimension, cohort__wrap_after(place, one, extent));
    uint32_t before =
        cohort__mesh_move(mesh, site, dimension, cohort__wrap_before(place, one, extent));
    return (struct cohort__hop){.to = is_forward ? after : before,
                                .from = is_forward ? before : after};
}

static uint32_t hops_fill(const struct cohort__request *request, const struct cohort__mesh *mesh,
                          struct cohort__hop *hops)
{
    uint32_t site = request->this_site;
    uint32_t columns = request->shift % mesh->extents[COLUMN];
    struct walk in_row = walk_of(columns, mesh->extents[COLUMN]);
    struct walk in_column = walk_of(request->shift / mesh->extents[COLUMN], mesh->extents[ROW]);
    uint32_t num_hops = 0;
    for (uint32_t i = 0; i < in_row.num_hops; i++)
        hops[num_hops++] = hop_in(mesh, site, COLUMN, in_row.is_forward);
    if (cohort__mesh_coordinate(mesh, site, COLUMN) < columns)
        hops[num_hops++] = hop_in(mesh, site, ROW, true);
    else
        hops[num_hops++] = (struct cohort__hop){.to = site, .from = site};
    for (uint32_t i = 0; i < in_column.num_hops; i++)
        hops[num_hops++] = hop_in(mesh, site, ROW, in_column.is_forward);
    return num_hops;
}

static cohort_status build(const struct cohort__request *request, struct cohort__plan **ret_plan)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    size_t most = mesh.extents[COLUMN] / 2 + mesh.extents[ROW] / 2 + (size_t)1;
    struct cohort__hop *hops = calloc(most, sizeof(*hops));
    if (!hops)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "plan shift_mesh at site %u of %u: no memory",
                           request->this_site, request->num_sites);
    uint32_t num_hops = hops_fill(request, &mesh, hops);
    cohort_status status = cohort__relay_build(request, "shift_mesh", hops, num_hops, ret_plan);
    free(hops);
    return status;
}

/* Only the first `columns` sites of each row make the hop to the next row, if there are several
 * rows. */
static struct cohort__cost cost(const struct cohort__request *request)
{
    struct cohort__mesh mesh = cohort__mesh_square(request->num_sites);
    uint32_t columns = request->shift % mesh.extents[COLUMN];
    uint32_t num_hops = walk_of(columns, mesh.extents[COLUMN]).num_hops +
                        walk_of(request->shift / mesh.extents[COLUMN], mesh.extents[ROW]).num_hops;
    struct cohort__cost cost = cohort__relay_cost(request, num_hops);
    if (columns > 0 && mesh.extents[ROW] > 1) {
        double moving = (double)columns * mesh.extents[ROW];
        cost.startups++;
        cost.bytes += (double)request->bytes;
        cost.messages += moving;
        cost.moved += moving * (double)request->bytes;
        cost.memory = (double)request->bytes;
    }
    return cost;
}

const struct cohort__algorithm cohort__shift_mesh = {
    .collective = COHORT__SHIFT,
    .name = "mesh",
    .build = build,
    .cost = cost,
};
