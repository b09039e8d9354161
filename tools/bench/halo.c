/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the faces of a box with ghost cells, between two sites. */
#include "tools/bench/operation.h"

/* The work `halo`. Its bytes are those of a site's box. */

enum { DIMS = 3, FACES = 2 * DIMS };

/* The site of this locality: there is one. */
static struct {
    cohort_layout *faces[DIMS];
    cohort_layout_neighbour to[FACES], from[FACES];
} halo;

/* Cells along an edge, the ghosts included. */
static size_t edge_of(const struct bench_call *call)
{
    size_t edge = 1;
    while ((edge + 1) * (edge + 1) * (edge + 1) <= call->count)
        edge++;
    return edge;
}

/* All neighbours are the other site. */
static cohort_status find_faces(size_t edge, uint32_t other)
{
    const size_t sizes[DIMS] = {edge, edge, edge}, strides[DIMS] = {edge * edge, edge, 1};
    cohort_status status = COHORT_OK;
    for (size_t dim = 0; !status && dim < DIMS; dim++) {
        size_t starts[DIMS] = {1, 1, 1}, counts[DIMS] = {edge - 2, edge - 2, edge - 2};
        size_t stride = strides[dim];
        starts[dim] = 0;
        counts[dim] = 1;
        status = cohort_layout_create_box(&halo.faces[dim], DIMS, sizes, starts, counts);
        const cohort_layout *face = halo.faces[dim];
        halo.to[2 * dim] = (cohort_layout_neighbour){other, stride, face};
        halo.to[2 * dim + 1] = (cohort_layout_neighbour){other, (edge - 2) * stride, face};
        halo.from[2 * dim] = (cohort_layout_neighbour){other, (edge - 1) * stride, face};
        halo.from[2 * dim + 1] = (cohort_layout_neighbour){other, 0, face};
    }
    return status;
}

static void end(void)
{
    for (size_t dim = 0; dim < DIMS; dim++) {
        cohort_layout_unref(halo.faces[dim]);
        halo.faces[dim] = NULL;
    }
}

static double cell(uint32_t site, size_t index)
{
    return site * 1000 + bench_pattern(index);
}

static void fill(const struct bench_call *call)
{
    for (size_t i = 0; i < call->count; i++)
        call->out[i] = cell(cohort_comm_this_site(call->comm), i);
}

static cohort_future *start(const struct bench_call *call, uint64_t generation)
{
    cohort_status status = COHORT_OK;
    if (call->count < 27)
        return cohort_future_of_error(COHORT_ERR_BAD_PARAMETER,
                                      "a box with ghost cells has 216 bytes or more");
    if (!halo.faces[DIMS - 1])
        status = find_faces(edge_of(call), 1 - cohort_comm_this_site(call->comm));
    return status ? cohort_future_of_error(status, "%s", cohort_error_message())
                  : cohort_exchange_layouts(call->comm, call->out, halo.to, FACES, call->out,
                                            halo.from, FACES, COHORT_DOUBLE, generation);
}

/* What cell INDEX has in the end. A ghost of one dimension has what the other site has at the
 * opposite face; those of two or three belong to no face. */
static double wanted(uint32_t site, size_t edge, size_t index)
{
    size_t place[DIMS] = {index / edge / edge, index / edge % edge, index % edge};
    size_t strides[DIMS] = {edge * edge, edge, 1}, num_ghosts = 0, opposite = index;
    for (size_t dim = 0; dim < DIMS; dim++) {
        if (place[dim] > 0 && place[dim] < edge - 1)
            continue;
        num_ghosts++;
        opposite += place[dim] == 0 ? (edge - 2) * strides[dim] : 0;
        opposite -= place[dim] == edge - 1 ? (edge - 2) * strides[dim] : 0;
    }
    return num_ghosts == 1 ? cell(1 - site, opposite) : cell(site, index);
}

static cohort_status check(const struct bench_call *call)
{
    size_t edge = edge_of(call), num = edge * edge * edge;
    cohort_status status = COHORT_OK;
    for (size_t i = 0; status == COHORT_OK && i < num; i++)
        status = bench_check_element(call, i, wanted(cohort_comm_this_site(call->comm), edge, i));
    return status;
}

const struct bench_operation bench_operation_halo = {
    .name = "halo",
    .fill = fill,
    .start = start,
    .check = check,
    .end = end,
};
