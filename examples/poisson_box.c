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

double *poisson_box_plane(const struct poisson_box *box, double *array, ptrdiff_t i)
{
    return array + (size_t)(i + 1) * poisson_box_plane_cells(box);
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

/* The first cell of line J of plane I. */
static size_t begin_of(const struct poisson_box *box, size_t i, size_t j)
{
    return ((i + 1) * width(box) + j + 1) * width(box) + 1;
}

/* Between 0 and 1, and 0 at the border. It is no sum of few eigenvectors, which would be found in
 * as many iterations. */
static double known(const struct poisson_box *box, size_t i, size_t j, size_t k)
{
    double unit = 1 / (double)(box->n + 1);
    double x = unit * (double)(k + 1), y = unit * (double)(j + 1);
    double z = unit * (double)(box->first + i + 1);
    return 16 * x * (1 - x) * y * (1 - y) * z * (1 - z) * exp(x * y - z);
}

void poisson_plane_known(struct poisson_box *box, size_t i)
{
    for (size_t j = 0; j < box->n; j++)
        for (size_t k = 0; k < box->n; k++)
            box->p[begin_of(box, i, j) + k] = known(box, i, j, k);
}

double poisson_plane_begin(struct poisson_box *box, size_t i)
{
    double sum = 0;
    for (size_t j = 0; j < box->n; j++) {
        size_t begin = begin_of(box, i, j);
        for (size_t k = begin; k < begin + box->n; k++) {
            box->r[k] = box->p[k] = box->q[k];
            sum += box->r[k] * box->r[k];
        }
    }
    return sum;
}

double poisson_plane_apply(struct poisson_box *box, size_t i)
{
    const size_t n = box->n, line = width(box), plane = poisson_box_plane_cells(box);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        const double *p = box->p + begin_of(box, i, j);
        double *restrict q = box->q + begin_of(box, i, j);
        const double *before = p - 1, *left = p - line, *below = p - plane;
        for (size_t k = 0; k < n; k++) {
            q[k] =
                6 * p[k] - before[k] - p[k + 1] - left[k] - p[k + line] - below[k] - p[k + plane];
            sum += p[k] * q[k];
        }
    }
    return sum;
}

double poisson_plane_step(struct poisson_box *box, size_t i, double alpha)
{
    const size_t n = box->n;
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        size_t begin = begin_of(box, i, j);
        const double *restrict p = box->p + begin, *restrict q = box->q + begin;
        double *restrict x = box->x + begin, *restrict r = box->r + begin;
        for (size_t k = 0; k < n; k++) {
            x[k] += alpha * p[k];
            r[k] -= alpha * q[k];
            sum += r[k] * r[k];
        }
    }
    return sum;
}

void poisson_plane_turn(struct poisson_box *box, size_t i, double beta)
{
    const size_t n = box->n;
    for (size_t j = 0; j < n; j++) {
        size_t begin = begin_of(box, i, j);
        const double *restrict r = box->r + begin;
        double *restrict p = box->p + begin;
        for (size_t k = 0; k < n; k++)
            p[k] = r[k] + beta * p[k];
    }
}

double poisson_plane_square(const struct poisson_box *box, size_t i)
{
    double sum = 0;
    for (size_t j = 0; j < box->n; j++) {
        const double *x = box->x + begin_of(box, i, j);
        for (size_t k = 0; k < box->n; k++)
            sum += x[k] * x[k];
    }
    return sum;
}

double poisson_plane_error(const struct poisson_box *box, size_t i)
{
    double most = 0;
    for (size_t j = 0; j < box->n; j++)
        for (size_t k = 0; k < box->n; k++)
            most = fmax(most, fabs(box->x[begin_of(box, i, j) + k] - known(box, i, j, k)));
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

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

void poisson_result_print(struct poisson_result *result, size_t n)
{
    qsort(result->seconds, result->iterations, sizeof(double), compare);
    printf("cube: %zu x %zu x %zu, in %u processes of %u threads\n", n, n, n, result->processes,
           result->threads);
    printf("%u iterations: residual %.16e, norm %.16e, error %.1e\n", result->iterations,
           result->residual, result->norm, result->error);
    printf("time: %.2f us for an iteration, in the median\n",
           result->seconds[result->iterations / 2] * 1e6);
}
