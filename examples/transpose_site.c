/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/transpose_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/pgm.h"
#include "examples/transpose_options.h"

/* With S sites, and a picture of W x H padded to multiples of S:
 *
 *     scatter     site i gets the rows i * H/S and following
 *     all_to_all  site i sends to each site j its rows' part of the columns j * W/S and following
 *     gather      site 0 gets the columns of all sites, which each has turned into rows
 *
 * Before this, site 0 reads the picture. After this, it crops and writes the result. */

struct transpose_site {
    struct site *base;
    const struct transpose_options *options;
    uint64_t *times;    /* of each all_to_all, in nanoseconds */
    struct pgm picture; /* the samples at site 0 only */
    cohort_datatype sample;
    size_t rows;    /* of the picture, for each site */
    size_t columns; /* likewise */
};

/* Broadcasts what site 0 knows of the picture, or its error. */
static cohort_status agree(struct transpose_site *site, cohort_status status)
{
    struct {
        uint64_t width;
        uint64_t height;
        uint64_t maxval;
    } size = {site->picture.width, site->picture.height, site->picture.maxval};
    status = site_agree(site->base, status, &size, sizeof(size));
    if (status)
        return status;
    site->picture.width = size.width;
    site->picture.height = size.height;
    site->picture.maxval = (unsigned)size.maxval;
    return COHORT_OK;
}

static size_t share(size_t whole, size_t num_sites)
{
    return (whole + num_sites - 1) / num_sites;
}

static cohort_status read_picture(struct transpose_site *site)
{
    cohort_status status = COHORT_OK;
    if (site->base->index == 0)
        status = pgm_read(site->options->in, &site->picture);
    status = agree(site, status);
    if (status)
        return status;
    site->sample = site->picture.maxval > 255 ? COHORT_UINT16 : COHORT_UINT8;
    site->rows = share(site->picture.height, site->base->num_sites);
    site->columns = share(site->picture.width, site->base->num_sites);
    return COHORT_OK;
}

/* Memory -------------------------------------------------------------------------------------- */

/* ROWS x COLUMNS samples, all zero. The caller frees them. */
static cohort_status allocate(const struct transpose_site *site, size_t rows, size_t columns,
                              void **ret_samples)
{
    size_t row_bytes;
    void *samples = NULL;
    if (!__builtin_mul_overflow(columns, cohort_datatype_size(site->sample), &row_bytes))
        samples = calloc(rows, row_bytes);
    if (!samples)
        return cohort_fail(COHORT_ERR_NO_MEMORY,
                           "site %" PRIu32 ": no memory for %zu x %zu samples", site->base->index,
                           columns, rows);
    *ret_samples = samples;
    return COHORT_OK;
}

/* Copies a rectangle of ROWS rows of ROW_BYTES, between buffers whose rows are FROM_STRIDE and
 * TO_STRIDE bytes apart. */
static void copy_rectangle(void *to, size_t to_stride, const void *from, size_t from_stride,
                           size_t rows, size_t row_bytes)
{
    for (size_t row = 0; row < rows; row++)
        memcpy((char *)to + row * to_stride, (const char *)from + row * from_stride, row_bytes);
}

/* Scatter ------------------------------------------------------------------------------------- */

static cohort_status scatter_from_here(struct transpose_site *site, void *mine, size_t count)
{
    const struct pgm *picture = &site->picture;
    void *all = NULL;
    cohort_status status = allocate(site, site->base->num_sites * site->rows, picture->width, &all);
    if (status)
        return status;
    memcpy(all, picture->samples,
           picture->height * picture->width * cohort_datatype_size(site->sample));
    status = cohort_await(cohort_scatter_to(site->base->comm, all, mine, count, site->sample,
                                            COHORT_AUTO_GENERATION));
    free(all);
    return status;
}

/* This site's rows, in their full width. */
static cohort_status spread_rows(struct transpose_site *site, void **ret_mine)
{
    size_t count = site->rows * site->picture.width;
    void *mine = NULL;
    cohort_status status = allocate(site, site->rows, site->picture.width, &mine);
    if (status)
        return status;
    if (site->base->index == 0)
        status = scatter_from_here(site, mine, count);
    else
        status = cohort_await(cohort_scatter_from(site->base->comm, mine, count, site->sample,
                                                  COHORT_AUTO_GENERATION));
    if (status)
        free(mine);
    else
        *ret_mine = mine;
    return status;
}

/* All to all ---------------------------------------------------------------------------------- */

/* Cuts this site's rows into a block of columns for each site; what lies beyond the picture stays
 * zero. */
static void pack(const struct transpose_site *site, const void *mine, void *blocks)
{
    size_t bytes = cohort_datatype_size(site->sample);
    size_t width = site->picture.width;
    for (size_t to = 0; to < site->base->num_sites; to++) {
        size_t first = to * site->columns;
        if (first >= width)
            break;
        size_t columns = width - first < site->columns ? width - first : site->columns;
        copy_rectangle((char *)blocks + to * site->rows * site->columns * bytes,
                       site->columns * bytes, (const char *)mine + first * bytes, width * bytes,
                       site->rows, columns * bytes);
    }
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The first barrier makes all sites start together. The second one ends when all have finished. */
static cohort_status exchange_timed(struct transpose_site *site, const void *out, void *in,
                                    uint64_t *ret_time)
{
    cohort_status status = cohort_await(cohort_barrier(site->base->comm, COHORT_AUTO_GENERATION));
    if (status)
        return status;
    uint64_t start = now();
    status = cohort_await(cohort_all_to_all(site->base->comm, out, in, site->rows * site->columns,
                                            site->sample, COHORT_AUTO_GENERATION));
    if (!status)
        status = cohort_await(cohort_barrier(site->base->comm, COHORT_AUTO_GENERATION));
    if (!status)
        *ret_time = now() - start;
    return status;
}

/* Exchanges this site's rows for its columns, which come in one block from each site. Frees
 * MINE. The other localities of this host read the blocks where they are. */
static cohort_status exchange(struct transpose_site *site, void *mine, void **ret_in)
{
    void *out = NULL;
    void *in = NULL;
    size_t bytes =
        site->base->num_sites * site->rows * site->columns * cohort_datatype_size(site->sample);
    cohort_status status = cohort_memory_alloc(&out, bytes > 0 ? bytes : 1);
    if (!status) {
        memset(out, 0, bytes);
        pack(site, mine, out);
        status = allocate(site, site->base->num_sites * site->rows, site->columns, &in);
    }
    free(mine);
    for (uint32_t i = 0; !status && i < site->options->repeat; i++)
        status = exchange_timed(site, out, in, &site->times[i]);
    cohort_memory_free(out);
    if (status)
        free(in);
    else
        *ret_in = in;
    return status;
}

/* Gather -------------------------------------------------------------------------------------- */

/* The blocks are one below the other, so together they are a picture of their own: this site's
 * columns in their full height. */
static void turn(const struct transpose_site *site, const void *in, void *turned)
{
    size_t height = site->base->num_sites * site->rows;
    for (size_t row = 0; row < height; row++)
        for (size_t column = 0; column < site->columns; column++) {
            size_t from = row * site->columns + column;
            size_t to = column * height + row;
            if (site->sample == COHORT_UINT16)
                ((uint16_t *)turned)[to] = ((const uint16_t *)in)[from];
            else
                ((uint8_t *)turned)[to] = ((const uint8_t *)in)[from];
        }
}

/* Cuts the transposed picture out of all sites' rows, into RESULT. The caller calls pgm_fini. */
static cohort_status crop(const struct transpose_site *site, const void *all, struct pgm *result)
{
    const struct pgm *picture = &site->picture;
    size_t bytes = cohort_datatype_size(site->sample);
    *result =
        (struct pgm){.width = picture->height, .height = picture->width, .maxval = picture->maxval};
    cohort_status status = allocate(site, result->height, result->width, &result->samples);
    if (!status)
        copy_rectangle(result->samples, result->width * bytes, all,
                       site->base->num_sites * site->rows * bytes, result->height,
                       result->width * bytes);
    return status;
}

/* Compares with a transpose that needs no library. */
static cohort_status check(const struct pgm *picture, const struct pgm *result)
{
    for (size_t row = 0; row < picture->height; row++)
        for (size_t column = 0; column < picture->width; column++) {
            unsigned want = pgm_sample(picture, column, row);
            unsigned got = pgm_sample(result, row, column);
            if (got != want)
                return cohort_fail(COHORT_ERR_FAILED,
                                   "check failed: column %zu of row %zu of the result is %u "
                                   "instead of %u",
                                   row, column, got, want);
        }
    return COHORT_OK;
}

static cohort_status gather_to_here(struct transpose_site *site, const void *turned, size_t count,
                                    struct pgm *result)
{
    void *all = NULL;
    cohort_status status = allocate(site, site->base->num_sites * site->columns,
                                    site->base->num_sites * site->rows, &all);
    if (status)
        return status;
    status = cohort_await(cohort_gather_here(site->base->comm, turned, all, count, site->sample,
                                             COHORT_AUTO_GENERATION));
    if (!status)
        status = crop(site, all, result);
    free(all);
    return status;
}

/* Puts the columns of all sites together: the whole picture, in RESULT of site 0. Frees IN. */
static cohort_status collect(struct transpose_site *site, void *in, struct pgm *result)
{
    size_t count = site->columns * site->base->num_sites * site->rows;
    void *turned = NULL;
    cohort_status status =
        allocate(site, site->columns, site->base->num_sites * site->rows, &turned);
    if (!status)
        turn(site, in, turned);
    free(in);
    if (status)
        return status;
    if (site->base->index == 0)
        status = gather_to_here(site, turned, count, result);
    else
        status = cohort_await(cohort_gather_there(site->base->comm, turned, count, site->sample,
                                                  COHORT_AUTO_GENERATION));
    free(turned);
    return status;
}

/* The end ------------------------------------------------------------------------------------- */

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void report(struct transpose_site *site)
{
    const struct transpose_options *options = site->options;
    const struct pgm *picture = &site->picture;
    uint32_t levels = cohort_comm_levels(site->base->comm);
    const char *algorithm = levels > 1 ? "hierarchical" : "linear";
    size_t bytes = cohort_datatype_size(site->sample);
    double moved = (double)site->base->num_sites * site->base->num_sites *
                   (double)(site->rows * site->columns) * (double)bytes;
    qsort(site->times, options->repeat, sizeof(*site->times), compare_times);
    double seconds = (double)site->times[options->repeat / 2] / 1e9;

    printf("picture: %zu x %zu, %zu bits, maxval %u\n", picture->width, picture->height, 8 * bytes,
           picture->maxval);
    printf("sites: %" PRIu32 " in %" PRIu32 " localities, %" PRIu32 " levels of arity %" PRIu32
           "\n",
           site->base->num_sites, cohort_num_localities(), levels,
           cohort_comm_arity(site->base->comm));
    printf("all_to_all: %s, blocks of %zu x %zu samples, %.0f bytes moved\n",
           options->algorithm ? options->algorithm : algorithm, site->columns, site->rows, moved);
    printf("time: %.1f us (median of %" PRIu32 "), %.1f MB/s\n", seconds * 1e6, options->repeat,
           moved / seconds / 1e6);
    if (options->check)
        printf("check: equal to a serial transpose\n");
}

/* Only site 0 has a result. Whether it could be written is the status of all sites. */
static cohort_status write_result(struct transpose_site *site, const struct pgm *result)
{
    cohort_status status = COHORT_OK;
    if (site->base->index == 0 && site->options->check)
        status = check(&site->picture, result);
    if (site->base->index == 0 && !status)
        status = pgm_write(site->options->out, result);
    return agree(site, status);
}

static cohort_status transpose(struct transpose_site *site)
{
    struct pgm result = {0};
    void *rows = NULL;
    void *blocks = NULL;
    cohort_status status = read_picture(site);
    if (!status)
        status = spread_rows(site, &rows);
    if (!status)
        status = exchange(site, rows, &blocks);
    if (!status)
        status = collect(site, blocks, &result);
    if (!status)
        status = write_result(site, &result);
    if (!status && site->base->index == 0)
        report(site);
    pgm_fini(&result);
    pgm_fini(&site->picture);
    return status;
}

cohort_status transpose_site_run(struct site *base)
{
    struct transpose_site site = {.base = base, .options = base->work};
    cohort_status status =
        site_allocate(base, site.options->repeat, sizeof(*site.times), &site.times);
    if (!status)
        status = transpose(&site);
    free(site.times);
    return status;
}
