/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: the program peer_poisson_openmpi or _mpich: examples/poisson by MPI and OpenMP. */
#include <mpi.h>
#include <omp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/poisson_box.h"

/* The threads of OpenMP share the planes. MPI exchanges those at the border and sums up scalar
 * products, outside of parallel regions. On an error, its default error handler prints why and ends
 * the job. */

enum { TAG = 1, STATUS_USAGE = 2 };

struct solver {
    struct poisson_box box;
    int below, above; /* the ranks that have the planes before and after, or MPI_PROC_NULL */
};

static void exchange(struct solver *solver)
{
    const struct poisson_box *box = &solver->box;
    int count = (int)poisson_box_plane_cells(box);
    double *first = poisson_box_plane(box, box->p, 0);
    double *last = poisson_box_plane(box, box->p, (ptrdiff_t)box->planes - 1);
    MPI_Request requests[4];
    MPI_Status statuses[4]; /* gcc warns of MPICH's MPI_STATUSES_IGNORE */
    MPI_Irecv(first - count, count, MPI_DOUBLE, solver->below, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(last + count, count, MPI_DOUBLE, solver->above, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(first, count, MPI_DOUBLE, solver->below, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(last, count, MPI_DOUBLE, solver->above, TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

/* Over all ranks. */
static double sum_up(double mine)
{
    double sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double apply(struct solver *solver)
{
    size_t planes = solver->box.planes;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < planes; i++)
        sum += poisson_plane_apply(&solver->box, i);
    return sum_up(sum);
}

static double step(struct solver *solver, double alpha)
{
    size_t planes = solver->box.planes;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < planes; i++)
        sum += poisson_plane_step(&solver->box, i, alpha);
    return sum_up(sum);
}

static void turn(struct solver *solver, double beta)
{
    size_t planes = solver->box.planes;
#pragma omp parallel for
    for (size_t i = 0; i < planes; i++)
        poisson_plane_turn(&solver->box, i, beta);
}

/* b = A (what is known); x = 0. */
static double begin(struct solver *solver)
{
    size_t planes = solver->box.planes;
    double sum = 0;
#pragma omp parallel for
    for (size_t i = 0; i < planes; i++)
        poisson_plane_known(&solver->box, i);
    exchange(solver);
    apply(solver);
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < planes; i++)
        sum += poisson_plane_begin(&solver->box, i);
    return sum_up(sum);
}

static void finish(struct solver *solver, struct poisson_result *result)
{
    size_t planes = solver->box.planes;
    double square = 0, most = 0;
#pragma omp parallel for reduction(+ : square) reduction(max : most)
    for (size_t i = 0; i < planes; i++) {
        square += poisson_plane_square(&solver->box, i);
        most = fmax(most, poisson_plane_error(&solver->box, i));
    }
    result->norm = sqrt(sum_up(square));
    MPI_Allreduce(&most, &result->error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void solve(struct solver *solver, unsigned most, struct poisson_result *result)
{
    double rr = begin(solver), bb = rr;
    while (!poisson_is_over(sqrt(rr / bb), result->iterations, most)) {
        double start = MPI_Wtime(), before = rr;
        exchange(solver);
        rr = step(solver, before / apply(solver));
        turn(solver, rr / before);
        result->seconds[result->iterations++] = MPI_Wtime() - start;
    }
    result->residual = sqrt(rr / bb);
    finish(solver, result);
}

int main(int argc, char **argv)
{
    struct solver solver;
    struct poisson_result result = {.threads = (unsigned)omp_get_max_threads()};
    int rank, size, level;
    long n = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    long most = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (n < 1 || n > 1024 || most < 1 || most > POISSON_MOST_ITERATIONS) {
        fprintf(stderr, "usage: %s N ITERATIONS; see examples/poisson --help\n", argv[0]);
        return STATUS_USAGE;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    solver.below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    solver.above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    size_t larger = (size_t)(n % size), index = (size_t)rank;
    size_t planes = (size_t)(n / size) + (index < larger);
    size_t first = index * (size_t)(n / size) + (index < larger ? index : larger);
    if (size > n || !poisson_box_init(&solver.box, (size_t)n, first, planes)) {
        fprintf(stderr, "%s: no planes for each process, or no memory\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    result.processes = (unsigned)size;
    solve(&solver, (unsigned)most, &result);
    if (rank == 0)
        poisson_result_print(&result, (size_t)n);
    poisson_box_fini(&solver.box);
    MPI_Finalize();
    return 0;
}
