/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson's equation on a cube, by conjugate gradients, in the way of a program of MPI and OpenMP:
 *
 *     cohortrun -n 2 poisson --n 96
 *
 * A site in each locality has some planes of the cube. Within, all workers share the planes
 * (cohort_parallel_for, cohort_parallel_reduce); between localities the planes at the border are
 * exchanged, and scalar products are summed up by all_reduce. tools/bench/peer_poisson.c is the
 * same program with MPI and OpenMP. Read `solve` first. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "examples/command.h"
#include "examples/poisson_box.h"
#include "examples/share.h"
#include "examples/sites.h"

struct options {
    uint32_t n, iterations;
};

struct solver {
    struct site *site;
    struct poisson_box box;
    double alpha, beta;
    double missing; /* |b - A x|, in the end */
    /* The planes that are sent to the neighbours, and the border that has theirs. */
    cohort_neighbour to[2], from[2];
    size_t num_neighbours;
};

/* What is done with a plane -------------------------------------------------------------------- */

static cohort_status plane_known(size_t i, void *arg)
{
    struct solver *solver = arg;
    poisson_plane_known(&solver->box, i);
    return COHORT_OK;
}

static cohort_status plane_begin(size_t i, void *value, void *arg)
{
    struct solver *solver = arg;
    *(double *)value = poisson_plane_begin(&solver->box, i);
    return COHORT_OK;
}

static cohort_status plane_apply(size_t i, void *value, void *arg)
{
    struct solver *solver = arg;
    *(double *)value = poisson_plane_apply(&solver->box, i);
    return COHORT_OK;
}

static cohort_status plane_step(size_t i, void *value, void *arg)
{
    struct solver *solver = arg;
    *(double *)value = poisson_plane_step(&solver->box, i, solver->alpha);
    return COHORT_OK;
}

static cohort_status plane_turn(size_t i, void *arg)
{
    struct solver *solver = arg;
    poisson_plane_turn(&solver->box, i, solver->beta);
    return COHORT_OK;
}

static cohort_status plane_square(size_t i, void *value, void *arg)
{
    struct solver *solver = arg;
    *(double *)value = poisson_plane_square(&solver->box, i);
    return COHORT_OK;
}

static cohort_status plane_error(size_t i, void *value, void *arg)
{
    struct solver *solver = arg;
    *(double *)value = poisson_plane_error(&solver->box, i);
    return COHORT_OK;
}

/* All planes ----------------------------------------------------------------------------------- */

static cohort_status for_planes(struct solver *solver, cohort_range_function *function)
{
    return cohort_await(cohort_parallel_for(0, solver->box.planes, NULL, function, solver));
}

/* OP over all planes of all sites. */
static cohort_status reduce_planes(struct solver *solver, cohort_range_value_function *function,
                                   const cohort_op *op, double *ret_result)
{
    struct site *site = solver->site;
    double mine = 0;
    cohort_status status = cohort_await(cohort_parallel_reduce(
        0, solver->box.planes, NULL, function, solver, &mine, 1, COHORT_DOUBLE, op));
    return status ? status
                  : cohort_await(cohort_all_reduce(site->comm, &mine, ret_result, 1, COHORT_DOUBLE,
                                                   op, COHORT_AUTO_GENERATION));
}

/* The neighbours get this site's outermost planes of P, and the other way round. */
static cohort_status exchange(struct solver *solver)
{
    struct site *site = solver->site;
    size_t num = solver->num_neighbours;
    return cohort_await(cohort_exchange(site->comm, solver->box.p, solver->to, num, solver->box.p,
                                        solver->from, num, COHORT_DOUBLE, COHORT_AUTO_GENERATION));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* b = A (what is known); x = 0. */
static cohort_status begin(struct solver *solver, double *ret_rr)
{
    double unused;
    cohort_status status = for_planes(solver, plane_known);
    if (!status)
        status = exchange(solver);
    if (!status)
        status = reduce_planes(solver, plane_apply, COHORT_SUM, &unused);
    return status ? status : reduce_planes(solver, plane_begin, COHORT_SUM, ret_rr);
}

static cohort_status iterate(struct solver *solver, double *rr)
{
    double before = *rr, pq;
    cohort_status status = exchange(solver);
    if (!status)
        status = reduce_planes(solver, plane_apply, COHORT_SUM, &pq);
    if (status)
        return status;
    solver->alpha = before / pq;
    status = reduce_planes(solver, plane_step, COHORT_SUM, rr);
    solver->beta = *rr / before;
    return status ? status : for_planes(solver, plane_turn);
}

static cohort_status solve(struct solver *solver, unsigned most, struct poisson_result *result)
{
    double rr = 0, bb, square = 0;
    cohort_status status = begin(solver, &rr);
    bb = rr;
    while (!status && !poisson_is_over(sqrt(rr / bb), result->iterations, most)) {
        double start = now();
        status = iterate(solver, &rr);
        result->seconds[result->iterations++] = now() - start;
    }
    if (!status)
        status = reduce_planes(solver, plane_square, COHORT_SUM, &square);
    if (!status)
        status = reduce_planes(solver, plane_error, COHORT_MAX, &result->error);
    result->residual = sqrt(rr / bb);
    result->norm = sqrt(square);
    solver->missing = sqrt(rr);
    return status;
}

/* A site --------------------------------------------------------------------------------------- */

static void add_neighbour(struct solver *solver, uint32_t site, ptrdiff_t own, ptrdiff_t theirs)
{
    const struct poisson_box *box = &solver->box;
    size_t i = solver->num_neighbours++, count = poisson_box_plane_cells(box);
    size_t out = (size_t)(poisson_box_plane(box, box->p, own) - box->p);
    size_t in = (size_t)(poisson_box_plane(box, box->p, theirs) - box->p);
    solver->to[i] = (cohort_neighbour){.site = site, .offset = out, .count = count};
    solver->from[i] = (cohort_neighbour){.site = site, .offset = in, .count = count};
}

static void find_neighbours(struct solver *solver)
{
    const struct site *site = solver->site;
    ptrdiff_t planes = (ptrdiff_t)solver->box.planes;
    if (site->index > 0)
        add_neighbour(solver, site->index - 1, 0, -1);
    if (site->index + 1 < site->num_sites)
        add_neighbour(solver, site->index + 1, planes - 1, planes);
}

static cohort_status check(const struct solver *solver, const struct poisson_result *result)
{
    double most = poisson_error_most(solver->box.n, solver->missing);
    if (result->iterations >= 10 * solver->box.n && !poisson_is_over(result->residual, 0, 1))
        return cohort_fail(COHORT_ERR_FAILED, "check failed: a residual of %g after %u iterations",
                           result->residual, result->iterations);
    if (!(result->error <= most))
        return cohort_fail(COHORT_ERR_FAILED, "check failed: an error of %g, at most %g expected",
                           result->error, most);
    printf("check: the error is not above what the residual allows, %.1e\n", most);
    return COHORT_OK;
}

static cohort_status run(struct site *site)
{
    const struct options *options = site->work;
    struct solver solver = {.site = site};
    struct poisson_result result = {.processes = cohort_num_localities(),
                                    .threads = cohort_num_workers()};
    size_t first = share_begin(options->n, site->num_sites, site->index);
    size_t planes = share_size(options->n, site->num_sites, site->index);
    cohort_status status = COHORT_OK;
    if (site->num_sites > options->n)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "%" PRIu32 " localities need more planes than --n %" PRIu32,
                           site->num_sites, options->n);
    if (!poisson_box_init(&solver.box, options->n, first, planes))
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "site %" PRIu32 ": no memory for %zu planes",
                             site->index, planes);
    if (!status) {
        find_neighbours(&solver);
        status = solve(&solver, options->iterations, &result);
    }
    if (!status && site->index == 0) {
        poisson_result_print(&result, options->n);
        status = check(&solver, &result);
    }
    poisson_box_fini(&solver.box);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.n = 64, .iterations = POISSON_MOST_ITERATIONS};
    const struct command_option rows[] = {
        {"n", "N", "the cube has N x N x N cells; 64", .number = &options.n, .min = 1, .max = 1024},
        {"iterations", "N", "at most; 1000", .number = &options.iterations, .min = 1,
         .max = POISSON_MOST_ITERATIONS},
    };
    const struct command command = {
        .name = "poisson",
        .about =
            "Solves Poisson's equation on a cube by conjugate gradients: planes by parallel_for "
            "within\na locality, scalar products by all_reduce between them.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    const struct sites_program program = {
        .name = "poisson", .run = run, .work = &options, .sites_per_locality = 1};
    return sites_run(argc, argv, &program);
}
