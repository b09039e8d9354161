/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the faces of a box with ghost cells by MPI's types, beside halo.c. */
#include "tools/bench/peer_halo.h"

#include <mpi.h>

enum { DIMS = 3, FACES = 2 * DIMS, TAG = 2 };

/* As in halo.c: to[2 * dim] goes down, and comes as from[2 * dim], from above. */
static struct {
    int count; /* 0: there are no types */
    MPI_Datatype to[FACES], from[FACES];
} halo;

static MPI_Datatype make_face(int edge, int dim, int place)
{
    const int sizes[DIMS] = {edge, edge, edge};
    int starts[DIMS] = {1, 1, 1}, counts[DIMS] = {edge - 2, edge - 2, edge - 2};
    MPI_Datatype type;
    starts[dim] = place;
    counts[dim] = 1;
    MPI_Type_create_subarray(DIMS, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void make_faces(int count)
{
    int edge = 1;
    while ((edge + 1) * (edge + 1) * (edge + 1) <= count)
        edge++;
    for (int face = 0; face < FACES && halo.count > 0; face++) {
        MPI_Type_free(&halo.to[face]);
        MPI_Type_free(&halo.from[face]);
    }
    for (int dim = 0; dim < DIMS; dim++) {
        halo.to[2 * dim] = make_face(edge, dim, 1);
        halo.to[2 * dim + 1] = make_face(edge, dim, edge - 2);
        halo.from[2 * dim] = make_face(edge, dim, edge - 1);
        halo.from[2 * dim + 1] = make_face(edge, dim, 0);
    }
    halo.count = count;
}

void peer_halo(double *box, int count, int other, bool waits)
{
    MPI_Request requests[2 * FACES];
    MPI_Status statuses[2 * FACES];
    if (halo.count != count)
        make_faces(count);
    if (waits) {
        for (int face = 0; face < FACES; face++)
            MPI_Irecv(box, 1, halo.from[face], other, TAG, MPI_COMM_WORLD, &requests[face]);
        for (int face = 0; face < FACES; face++)
            MPI_Isend(box, 1, halo.to[face], other, TAG, MPI_COMM_WORLD, &requests[FACES + face]);
        MPI_Waitall(2 * FACES, requests, statuses);
        return;
    }
    for (int face = 0; face < FACES; face++)
        MPI_Sendrecv(box, 1, halo.to[face], other, TAG, box, 1, halo.from[face], other, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
