/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/poisson_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static size_t width(const struct poisson_box *box)
{
    return box->n + 2;
}

size_t poisson_box_plane_cells(const struct poisson_box *box)
{
    return width(box) * width(box);
}

size_t poisson_box_plane(const struct poisson_box *box, size_t i)
{
    return i * poisson_box_plane_cells(box);
}

size_t poisson_box_rows(const struct poisson_box *box)
{
    return box->n * box->planes;
}

bool poisson_box_init(struct poisson_box *box, size_t n, size_t first, size_t planes)
{
    *box = (struct poisson_box){.n = n, .first = first, .planes = planes};
    size_t cells = (planes + 2) * poisson_box_plane_cells(box);
    double **arrays[] = {&box->x, &box->r, &box->p, &box->q};
    bool is_done = true;
    for (size_t i = 0; i < 4; i++) {
        *arrays[i] = calloc(cells, sizeof(double));
        is_done = is_done && *arrays[i];
    }
    if (!is_done)
        poisson_box_fini(box);
    return is_done;
}

void poisson_box_fini(struct poisson_box *box)
{
    free(box->x);
    free(box->r);
    free(box->p);
    free(box->q);
    *box = (struct poisson_box){0};
}

/* The first cell of a row. */
static size_t begin_of(const struct poisson_box *box, size_t row)
{
    size_t plane = row / box->n + 1, line = row % box->n + 1;
    return (plane * width(box) + line) * width(box) + 1;
}

/* Between 0 and 1, and 0 at the border. It is no sum of few eigenvectors, which would be found in
 * as many iterations. */
static double known(const struct poisson_box *box, size_t row, size_t i)
{
    double unit = 1 / (double)(box->n + 1);
    double x = unit * (double)(i + 1), y = unit * (double)(row % box->n + 1);
    double z = unit * (double)(box->first + row / box->n + 1);
    return 16 * x * (1 - x) * y * (1 - y) * z * (1 - z) * exp(x * y - z);
}

void poisson_row_known(struct poisson_box *box, size_t row)
{
    double *p = box->p + begin_of(box, row);
    for (size_t i = 0; i < box->n; i++)
        p[i] = known(box, row, i);
}

double poisson_row_begin(struct poisson_box *box, size_t row)
{
    size_t begin = begin_of(box, row);
    const double *q = box->q + begin;
    double *r = box->r + begin, *p = box->p + begin, sum = 0;
    for (size_t i = 0; i < box->n; i++) {
        r[i] = p[i] = q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

double poisson_row_apply(struct poisson_box *box, size_t row)
{
    size_t begin = begin_of(box, row), line = width(box), plane = poisson_box_plane_cells(box);
    const double *restrict p = box->p + begin;
    const double *restrict above = p - line, *restrict below = p + line;
    const double *restrict front = p - plane, *restrict back = p + plane;
    double *restrict q = box->q + begin;
    double sum = 0;
    for (size_t i = 0; i < box->n; i++) {
        q[i] = 6 * p[i] - p[i - 1] - p[i + 1] - above[i] - below[i] - front[i] - back[i];
        sum += p[i] * q[i];
    }
    return sum;
}

double poisson_row_step(struct poisson_box *box, size_t row, double alpha)
{
    size_t begin = begin_of(box, row);
    const double *restrict p = box->p + begin, *restrict q = box->q + begin;
    double *restrict x = box->x + begin, *restrict r = box->r + begin;
    double sum = 0;
    for (size_t i = 0; i < box->n; i++) {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

void poisson_row_turn(struct poisson_box *box, size_t row, double beta)
{
    size_t begin = begin_of(box, row);
    const double *restrict r = box->r + begin;
    double *restrict p = box->p + begin;
    for (size_t i = 0; i < box->n; i++)
        p[i] = r[i] + beta * p[i];
}

double poisson_row_square(const struct poisson_box *box, size_t row)
{
    const double *x = box->x + begin_of(box, row);
    double sum = 0;
    for (size_t i = 0; i < box->n; i++)
        sum += x[i] * x[i];
    return sum;
}

double poisson_row_error(const struct poisson_box *box, size_t row)
{
    const double *x = box->x + begin_of(box, row);
    double most = 0;
    for (size_t i = 0; i < box->n; i++)
        most = fmax(most, fabs(x[i] - known(box, row, i)));
    return most;
}

double poisson_error_most(size_t n, double missing)
{
    double half = sin(acos(-1) / 2 / (double)(n + 1));
    return missing / (12 * half * half) + 1e-12;
}

bool poisson_is_over(double residual, unsigned iterations, unsigned most)
{
    return residual <= 1e-9 || iterations == most;
}

void poisson_result_print(const struct poisson_result *result, size_t n)
{
    printf("cube: %zu x %zu x %zu, in %u processes of %u threads\n", n, n, n, result->processes,
           result->threads);
    printf("%u iterations: residual %.16e, norm %.16e, error %.1e\n", result->iterations,
           result->residual, result->norm, result->error);
    printf("time: %.2f us an iteration\n", result->seconds / result->iterations * 1e6);
}
