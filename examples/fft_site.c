/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/fft_site.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/fft_filter.h"
#include "examples/fft_plan.h"
#include "examples/fft_turn.h"
#include "examples/pgm.h"
#include "examples/share.h"

/* A transform of a picture is a transform of each row, then one of each column. A site has its
 * share of the rows. For the columns the matrix is transposed, and afterwards transposed back:
 *
 *     scatterv     rows of the picture
 *                  transform of the rows
 *     all_to_allv  from rows to columns
 *                  transform of the columns, filter, transform back
 *     all_to_allv  from columns to rows
 *                  transform of the rows back
 *     gatherv      the filtered picture
 *
 * No share is padded: the size of the blocks follows from the picture and the number of sites. */

struct fft {
    struct site *site;
    const struct fft_options *options;
    struct pgm picture; /* the samples at site 0 only */
    size_t width;
    size_t height;
    size_t rows;               /* this site's share */
    size_t columns;            /* likewise */
    double complex *by_row;    /* rows x width */
    double complex *by_column; /* columns x height */
    double *grey;              /* rows x width */
    double *all;               /* site 0: height x width */
    size_t *counts;            /* of samples, of each site */
};

/* Greater differences between two ways to add the same numbers are mistakes. */
static const double tolerance = 1e-9;

static double cutoff(const struct fft *fft)
{
    return (double)fft->options->cutoff / 100;
}

/* Site 0 reads the picture, and all sites learn its size. */
static cohort_status read_picture(struct fft *fft)
{
    struct site *site = fft->site;
    cohort_status status = COHORT_OK;
    if (site->index == 0)
        status = pgm_read(fft->options->in, &fft->picture);
    if (!status && fft->picture.width > (size_t)INT32_MAX / (fft->picture.height + 1))
        status = cohort_fail(COHORT_ERR_NOT_SUPPORTED, "%s: too large: %zu x %zu", fft->options->in,
                             fft->picture.width, fft->picture.height);
    uint64_t size[2] = {fft->picture.width, fft->picture.height};
    status = site_agree(site, status, size, sizeof(size));
    if (status)
        return status;
    fft->width = size[0];
    fft->height = size[1];
    fft->rows = share_size(fft->height, site->num_sites, site->index);
    fft->columns = share_size(fft->width, site->num_sites, site->index);
    return COHORT_OK;
}

static cohort_status allocate(struct fft *fft)
{
    struct site *site = fft->site;
    size_t mine = fft->rows * fft->width;
    size_t all = site->index == 0 ? fft->height * fft->width : 0;
    cohort_status status = site_allocate(site, mine, sizeof(*fft->by_row), &fft->by_row);
    if (!status)
        status = site_allocate(site, fft->columns * fft->height, sizeof(*fft->by_column),
                               &fft->by_column);
    if (!status)
        status = site_allocate(site, mine, sizeof(*fft->grey), &fft->grey);
    if (!status)
        status = site_allocate(site, all, sizeof(*fft->all), &fft->all);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(*fft->counts), &fft->counts);
    return status;
}

static void release(struct fft *fft)
{
    pgm_fini(&fft->picture);
    free(fft->by_row);
    free(fft->by_column);
    free(fft->grey);
    free(fft->all);
    free(fft->counts);
}

static cohort_status spread(struct fft *fft)
{
    size_t count = fft->rows * fft->width;
    share_counts(fft->height, fft->site->num_sites, fft->width, fft->counts);
    for (size_t i = 0; fft->site->index == 0 && i < fft->width * fft->height; i++)
        fft->all[i] = pgm_sample(&fft->picture, i % fft->width, i / fft->width);
    cohort_status status =
        site_scatter(fft->site, fft->all, fft->counts, fft->grey, count, COHORT_DOUBLE);
    for (size_t i = 0; !status && i < count; i++)
        fft->by_row[i] = fft->grey[i];
    return status;
}

/* The columns are rows here. */
static cohort_status filter_columns(struct fft *fft)
{
    size_t first = share_begin(fft->width, fft->site->num_sites, fft->site->index);
    cohort_status status = fft_rows(fft->by_column, fft->columns, fft->height, FFT_FORWARD);
    if (status)
        return status;
    for (size_t i = 0; i < fft->columns * fft->height; i++)
        fft->by_column[i] *= fft_filter(first + i / fft->height, i % fft->height, fft->width,
                                        fft->height, cutoff(fft));
    return fft_rows(fft->by_column, fft->columns, fft->height, FFT_BACKWARD);
}

static cohort_status filter(struct fft *fft)
{
    cohort_status status = fft_rows(fft->by_row, fft->rows, fft->width, FFT_FORWARD);
    if (!status)
        status = fft_turn(fft->site, fft->by_row, fft->height, fft->width, fft->by_column);
    if (!status)
        status = filter_columns(fft);
    if (!status)
        status = fft_turn(fft->site, fft->by_column, fft->width, fft->height, fft->by_row);
    if (!status)
        status = fft_rows(fft->by_row, fft->rows, fft->width, FFT_BACKWARD);
    return status;
}

/* A transform and its inverse multiply the data by the number of samples. */
static cohort_status collect(struct fft *fft)
{
    size_t count = fft->rows * fft->width;
    for (size_t i = 0; i < count; i++)
        fft->grey[i] = creal(fft->by_row[i]) / (double)(fft->width * fft->height);
    return site_gather(fft->site, fft->grey, count, fft->all, fft->counts, COHORT_DOUBLE);
}

/* Compares the whole result with the serial one. RET_ERROR: the greatest difference, in parts of
 * white. */
static cohort_status measure(const struct fft *fft, const double complex *serial, double *ret_error)
{
    double error = 0;
    for (size_t i = 0; i < fft->width * fft->height; i++) {
        double want = creal(serial[i]) / (double)(fft->width * fft->height);
        double here = fabs(fft->all[i] - want) / fft->picture.maxval;
        if (!(here <= tolerance)) /* NaN is wrong, too */
            return cohort_fail(COHORT_ERR_FAILED,
                               "check failed: column %zu of row %zu of the result is %g instead "
                               "of %g",
                               i % fft->width, i / fft->width, fft->all[i], want);
        error = fmax(error, here);
    }
    *ret_error = error;
    return COHORT_OK;
}

/* Compares with the same at one site, by two-dimensional transforms. */
static cohort_status compare(const struct fft *fft, double *ret_error)
{
    size_t count = fft->width * fft->height;
    double complex *serial = NULL;
    cohort_status status = site_allocate(fft->site, count, sizeof(*serial), &serial);
    for (size_t i = 0; !status && i < count; i++)
        serial[i] = pgm_sample(&fft->picture, i % fft->width, i / fft->width);
    if (!status)
        status = fft_picture(serial, fft->height, fft->width, FFT_FORWARD);
    for (size_t i = 0; !status && i < count; i++)
        serial[i] *=
            fft_filter(i % fft->width, i / fft->width, fft->width, fft->height, cutoff(fft));
    if (!status)
        status = fft_picture(serial, fft->height, fft->width, FFT_BACKWARD);
    if (!status)
        status = measure(fft, serial, ret_error);
    free(serial);
    return status;
}

/* Rounds the samples. The filter can't leave their range by more than rounding errors. */
static void to_picture(struct fft *fft)
{
    for (size_t i = 0; i < fft->width * fft->height; i++) {
        long sample = lround(fmin(fmax(fft->all[i], 0), fft->picture.maxval));
        if (fft->picture.maxval > 255)
            ((uint16_t *)fft->picture.samples)[i] = (uint16_t)sample;
        else
            ((uint8_t *)fft->picture.samples)[i] = (uint8_t)sample;
    }
}

/* Site 0 compares and writes. The status of that is the status of all sites. */
static cohort_status finish(struct fft *fft)
{
    cohort_status status = COHORT_OK;
    double error = 0;
    if (fft->site->index == 0) {
        status = compare(fft, &error);
        if (!status) {
            to_picture(fft);
            status = pgm_write(fft->options->out, &fft->picture);
        }
    }
    status = site_agree(fft->site, status, NULL, 0);
    if (!status && fft->site->index == 0) {
        printf("picture: %zu x %zu, maxval %u\n", fft->width, fft->height, fft->picture.maxval);
        printf("sites: %" PRIu32 " in %" PRIu32
               " localities, up to %zu rows and %zu columns each\n",
               fft->site->num_sites, cohort_num_localities(), fft->rows, fft->columns);
        printf("filter: %" PRIu32 "%% of the highest frequency\n", fft->options->cutoff);
        printf("check: differs from a serial transform by at most %.1e of white\n", error);
    }
    return status;
}

cohort_status fft_site_run(struct site *site)
{
    struct fft fft = {.site = site, .options = site->work};
    cohort_status status = read_picture(&fft);
    if (!status)
        status = allocate(&fft);
    if (!status)
        status = spread(&fft);
    if (!status)
        status = filter(&fft);
    if (!status)
        status = collect(&fft);
    if (!status)
        status = finish(&fft);
    release(&fft);
    return status;
}
