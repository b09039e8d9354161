/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/matvec_site.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/share.h"
#include "examples/signal.h"

/* The sites are a grid of R x C. Each row and each column has a communicator, so every site is in
 * three: that of all, its row's and its column's. The first site of each is its root. Each site has
 * a block of the matrix. In the beginning the first row of sites has the vector:
 *
 *     scatterv   first row: from site 0 to the sites of the row
 *     broadcast  each column: from its first site
 *                product of the block with the part of the vector
 *     reduce     each row: the sum of the products, at its first site
 *     gatherv    first column: the whole result at site 0 */

struct matvec {
    struct site *site; /* of all */
    size_t n;
    struct site row;    /* the same site as one of its row, */
    struct site column; /* and as one of its column */
    size_t num_in;      /* of the vector's values, as many as the block has columns */
    size_t num_out;     /* of the result's values, as many as the block has rows */
    double *block;      /* num_out x num_in */
    double *in;
    double *products;
    double *out;    /* first column: the sum of the row's products */
    double *vector; /* site 0: whole */
    double *result; /* site 0: whole */
    size_t *counts; /* of values, of each site of a row or of a column */
};

/* The sites of a row have the same place in their columns, and the reverse. The order in both is
 * that of the sites in the whole grid. */
static cohort_status create(struct matvec *matvec)
{
    struct site *site = matvec->site;
    const int32_t which_row = (int32_t)matvec->column.index;
    const int32_t which_column = (int32_t)matvec->row.index;
    cohort_future *made[] = {
        cohort_comm_split(&matvec->row.comm, site->comm, which_row, 0, COHORT_AUTO_GENERATION),
        cohort_comm_split(&matvec->column.comm, site->comm, which_column, 0,
                          COHORT_AUTO_GENERATION),
    };
    return cohort_await(cohort_when_all(made, 2));
}

static cohort_status allocate(struct matvec *matvec)
{
    const struct site *site = matvec->site;
    size_t whole = site->index == 0 ? matvec->n : 0;
    cohort_status status =
        site_allocate(site, matvec->num_out * matvec->num_in, sizeof(double), &matvec->block);
    if (!status)
        status = site_allocate(site, matvec->num_in, sizeof(double), &matvec->in);
    if (!status)
        status = site_allocate(site, matvec->num_out, sizeof(double), &matvec->products);
    if (!status)
        status = site_allocate(site, matvec->num_out, sizeof(double), &matvec->out);
    if (!status)
        status = site_allocate(site, whole, sizeof(double), &matvec->vector);
    if (!status)
        status = site_allocate(site, whole, sizeof(double), &matvec->result);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(size_t), &matvec->counts);
    return status;
}

static void release(struct matvec *matvec)
{
    cohort_comm_unref(matvec->row.comm);
    cohort_comm_unref(matvec->column.comm);
    free(matvec->block);
    free(matvec->in);
    free(matvec->products);
    free(matvec->out);
    free(matvec->vector);
    free(matvec->result);
    free(matvec->counts);
}

static void fill(struct matvec *matvec)
{
    size_t first_row = share_begin(matvec->n, matvec->column.num_sites, matvec->column.index);
    size_t first_column = share_begin(matvec->n, matvec->row.num_sites, matvec->row.index);
    for (size_t i = 0; i < matvec->num_out; i++)
        for (size_t j = 0; j < matvec->num_in; j++)
            matvec->block[i * matvec->num_in + j] =
                signal_weight(first_row + i, first_column + j, matvec->n);
    for (size_t j = 0; matvec->site->index == 0 && j < matvec->n; j++)
        matvec->vector[j] = signal_value(j, matvec->n);
}

/* Each site gets the part of the vector that goes with the columns of its block. */
static cohort_status spread(struct matvec *matvec)
{
    struct site *row = &matvec->row;
    struct site *column = &matvec->column;
    cohort_status status = COHORT_OK;
    share_counts(matvec->n, row->num_sites, 1, matvec->counts);
    if (column->index == 0)
        status = site_scatter(row, matvec->vector, matvec->counts, matvec->in, matvec->num_in,
                              COHORT_DOUBLE);
    if (status)
        return status;
    const uint64_t generation = COHORT_AUTO_GENERATION;
    return cohort_await(column->index == 0
                            ? cohort_broadcast_to(column->comm, matvec->in, matvec->num_in,
                                                  COHORT_DOUBLE, generation)
                            : cohort_broadcast_from(column->comm, matvec->in, matvec->num_in,
                                                    COHORT_DOUBLE, generation));
}

static void multiply(struct matvec *matvec)
{
    for (size_t i = 0; i < matvec->num_out; i++) {
        const double *weights = matvec->block + i * matvec->num_in;
        double sum = 0;
        for (size_t j = 0; j < matvec->num_in; j++)
            sum += weights[j] * matvec->in[j];
        matvec->products[i] = sum;
    }
}

static cohort_status collect(struct matvec *matvec)
{
    struct site *row = &matvec->row;
    struct site *column = &matvec->column;
    const uint64_t generation = COHORT_AUTO_GENERATION;
    cohort_status status = cohort_await(
        row->index == 0 ? cohort_reduce_here(row->comm, matvec->products, matvec->out,
                                             matvec->num_out, COHORT_DOUBLE, COHORT_SUM, generation)
                        : cohort_reduce_there(row->comm, matvec->products, matvec->num_out,
                                              COHORT_DOUBLE, COHORT_SUM, generation));
    if (status || row->index != 0)
        return status;
    share_counts(matvec->n, column->num_sites, 1, matvec->counts);
    return site_gather(column, matvec->out, matvec->num_out, matvec->result, matvec->counts,
                       COHORT_DOUBLE);
}

/* Greater differences between two ways to add the same numbers, of about 1, are mistakes. */
static const double tolerance = 1e-12;

/* Compares with the product at one site. RET_ERROR: the greatest difference. */
static cohort_status compare(const struct matvec *matvec, double *ret_error)
{
    double error = 0;
    for (size_t i = 0; i < matvec->n; i++) {
        double want = 0;
        for (size_t j = 0; j < matvec->n; j++)
            want += signal_weight(i, j, matvec->n) * matvec->vector[j];
        double here = fabs(matvec->result[i] - want);
        if (!(here <= tolerance)) /* NaN is wrong, too */
            return cohort_fail(COHORT_ERR_FAILED,
                               "check failed: value %zu of the product is %.17g instead of %.17g",
                               i, matvec->result[i], want);
        error = fmax(error, here);
    }
    *ret_error = error;
    return COHORT_OK;
}

static cohort_status finish(struct matvec *matvec)
{
    struct site *site = matvec->site;
    double error = 0;
    cohort_status status = site->index == 0 ? compare(matvec, &error) : COHORT_OK;
    status = site_agree(site, status, NULL, 0);
    if (status || site->index != 0)
        return status;
    printf("matrix: %zu x %zu, blocks of up to %zu x %zu\n", matvec->n, matvec->n, matvec->num_out,
           matvec->num_in);
    printf(
        "sites: %" PRIu32 " in %" PRIu32 " localities, %" PRIu32 " rows and %" PRIu32 " columns\n",
        site->num_sites, cohort_num_localities(), matvec->column.num_sites, matvec->row.num_sites);
    printf("signal before (.) and after (*):\n");
    signal_print(matvec->vector, matvec->result, matvec->n);
    printf("check: differs from one site's product by at most %.1e\n", error);
    return COHORT_OK;
}

cohort_status matvec_site_run(struct site *site)
{
    const struct matvec_options *options = site->work;
    struct matvec matvec = {
        .site = site,
        .n = options->n,
        .row = {.index = site->index % options->columns, .num_sites = options->columns},
        .column = {.index = site->index / options->columns, .num_sites = options->rows},
    };
    matvec.num_in = share_size(matvec.n, matvec.row.num_sites, matvec.row.index);
    matvec.num_out = share_size(matvec.n, matvec.column.num_sites, matvec.column.index);
    cohort_status status = create(&matvec);
    if (!status)
        status = allocate(&matvec);
    if (!status) {
        fill(&matvec);
        status = spread(&matvec);
    }
    if (!status) {
        multiply(&matvec);
        status = collect(&matvec);
    }
    if (!status)
        status = finish(&matvec);
    release(&matvec);
    return status;
}
