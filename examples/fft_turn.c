/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/fft_turn.h"

#include <stdlib.h>

#include "examples/share.h"

/* Makes a block for each site of ROWS rows of WIDTH: the columns that the site gets, one after the
 * other. So the receiver only has to join pieces of rows. */
static void pack(const double complex *from, size_t rows, size_t width, size_t num_sites,
                 double complex *blocks, size_t *counts)
{
    for (size_t site = 0; site < num_sites; site++) {
        size_t end = share_begin(width, num_sites, site + 1);
        size_t begin = share_begin(width, num_sites, site);
        for (size_t column = begin; column < end; column++)
            for (size_t row = 0; row < rows; row++)
                *blocks++ = from[row * width + column];
        counts[site] = rows * (end - begin);
    }
}

/* The block of each site holds its piece of all columns, which are rows here. */
static void unpack(const double complex *blocks, size_t columns, size_t height, size_t num_sites,
                   double complex *to)
{
    for (size_t site = 0; site < num_sites; site++) {
        size_t begin = share_begin(height, num_sites, site);
        size_t end = share_begin(height, num_sites, site + 1);
        for (size_t column = 0; column < columns; column++)
            for (size_t row = begin; row < end; row++)
                to[column * height + row] = *blocks++;
    }
}

static cohort_status exchange(struct site *site, const double complex *out,
                              const size_t *out_counts, double complex *in, const size_t *in_counts)
{
    return cohort_await(cohort_all_to_allv(site->comm, out, out_counts, NULL, in, in_counts, NULL,
                                           cohort_datatype_of_bytes(sizeof(*out)),
                                           COHORT_AUTO_GENERATION));
}

cohort_status fft_turn(struct site *site, const double complex *from, size_t height, size_t width,
                       double complex *to)
{
    size_t rows = share_size(height, site->num_sites, site->index);
    size_t columns = share_size(width, site->num_sites, site->index);
    double complex *out = NULL;
    double complex *in = NULL;
    size_t *counts = NULL;
    cohort_status status = site_allocate(site, rows * width, sizeof(*out), &out);
    if (!status)
        status = site_allocate(site, columns * height, sizeof(*in), &in);
    if (!status)
        status = site_allocate(site, 2 * site->num_sites, sizeof(*counts), &counts);
    if (!status) {
        size_t *in_counts = counts + site->num_sites;
        pack(from, rows, width, site->num_sites, out, counts);
        share_counts(height, site->num_sites, columns, in_counts);
        status = exchange(site, out, counts, in, in_counts);
    }
    if (!status)
        unpack(in, columns, height, site->num_sites, to);
    free(out);
    free(in);
    free(counts);
    return status;
}
