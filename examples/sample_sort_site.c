/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/sample_sort_site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/draft.h"
#include "examples/lines.h"
#include "examples/share.h"
#include "examples/splitters.h"

/* Each site sorts a piece of the file, and takes samples of its lines. All sites choose the same
 * splitters from the samples of all. The splitters divide all lines into a bucket for each site:
 *
 *     scatterv     pieces of the file, cut between lines
 *                  sort, take samples
 *     all_gather   of the samples
 *                  choose splitters, cut the sorted lines into buckets
 *     all_to_all   how large the buckets are
 *     all_to_allv  the buckets
 *                  sort
 *     gatherv      the buckets of all sites, one behind the other, are the sorted file */

enum { SAMPLES_PER_SITE = 16 };

struct text {
    char *bytes;
    size_t size;
};

struct sort {
    struct site *site;
    const struct sample_sort_options *options;
    struct text whole;  /* site 0: the file */
    struct text sorted; /* site 0: the result */
    struct text mine;   /* this site's lines: its piece, then its bucket */
    size_t *sizes;      /* of blocks, of each site */
    size_t *ones;       /* 1 for each site */
};

/* Sizes are sent as their bytes. */
static cohort_datatype size_type(void)
{
    return cohort_datatype_of_bytes(sizeof(size_t));
}

static cohort_status prepare(struct sort *sort)
{
    struct site *site = sort->site;
    cohort_status status = COHORT_OK;
    if (site->index == 0)
        status = lines_read(sort->options->in, &sort->whole.bytes, &sort->whole.size);
    status = site_agree(site, status, &sort->whole.size, sizeof(sort->whole.size));
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(size_t), &sort->sizes);
    if (!status)
        status = site_allocate(site, site->num_sites, sizeof(size_t), &sort->ones);
    if (!status)
        share_counts(site->num_sites, site->num_sites, 1, sort->ones);
    return status;
}

static void release(struct sort *sort)
{
    free(sort->whole.bytes);
    free(sort->sorted.bytes);
    free(sort->mine.bytes);
    free(sort->sizes);
    free(sort->ones);
}

/* Pieces of about the same size, each of whole lines. */
static void cut(const struct sort *sort)
{
    size_t num_sites = sort->site->num_sites;
    size_t begin = 0;
    for (size_t i = 0; i < num_sites; i++) {
        size_t end = lines_next(sort->whole.bytes, sort->whole.size,
                                share_begin(sort->whole.size, num_sites, i + 1));
        sort->sizes[i] = end - begin;
        begin = end;
    }
}

static cohort_status spread(struct sort *sort)
{
    struct site *site = sort->site;
    if (site->index == 0)
        cut(sort);
    cohort_status status =
        site_scatter(site, sort->sizes, sort->ones, &sort->mine.size, 1, size_type());
    if (!status)
        status = site_allocate(site, sort->mine.size, 1, &sort->mine.bytes);
    if (!status)
        status = site_scatter(site, sort->whole.bytes, sort->sizes, sort->mine.bytes,
                              sort->mine.size, COHORT_BYTE);
    return status;
}

/* Sorts this site's lines. */
static cohort_status sort_mine(struct sort *sort)
{
    char *sorted = NULL;
    cohort_status status = lines_sorted(sort->mine.bytes, sort->mine.size, &sorted);
    if (status)
        return status;
    free(sort->mine.bytes);
    sort->mine.bytes = sorted;
    return COHORT_OK;
}

/* All sites have the same samples, so they make the same choice. */
static cohort_status choose(struct sort *sort, const struct line *lines, size_t count,
                            struct splitter **ret_splitters, size_t *ret_num)
{
    struct site *site = sort->site;
    struct splitter samples[SAMPLES_PER_SITE];
    struct splitter *all = NULL;
    size_t num_all = (size_t)SAMPLES_PER_SITE * site->num_sites;
    cohort_status status = site_allocate(site, num_all, sizeof(*all), &all);
    if (status)
        return status;
    splitters_sample(lines, count, samples, SAMPLES_PER_SITE);
    status = cohort_await(cohort_all_gather(site->comm, samples, all, SAMPLES_PER_SITE,
                                            cohort_datatype_of_bytes(sizeof(*all)),
                                            COHORT_AUTO_GENERATION));
    if (status) {
        free(all);
        return status;
    }
    *ret_num = splitters_choose(all, num_all, site->num_sites);
    *ret_splitters = all;
    return COHORT_OK;
}

/* Cuts this site's lines into a bucket for each site. SIZES are then the sizes of the buckets. */
static cohort_status divide(struct sort *sort)
{
    size_t count = lines_count(sort->mine.bytes, sort->mine.size);
    struct line *lines = NULL;
    struct splitter *splitters = NULL;
    size_t num_splitters = 0;
    cohort_status status = site_allocate(sort->site, count, sizeof(*lines), &lines);
    if (status)
        return status;
    lines_split(sort->mine.bytes, sort->mine.size, lines);
    status = choose(sort, lines, count, &splitters, &num_splitters);
    if (!status)
        splitters_divide(splitters, num_splitters, lines, count, sort->sizes,
                         sort->site->num_sites);
    free(splitters);
    free(lines);
    return status;
}

/* Sends the buckets of this site's piece, and receives this site's bucket of all pieces. */
static cohort_status exchange(struct sort *sort)
{
    struct site *site = sort->site;
    struct text bucket = {0};
    size_t *in_sizes = NULL;
    cohort_status status = site_allocate(site, site->num_sites, sizeof(size_t), &in_sizes);
    if (!status)
        status = cohort_await(cohort_all_to_all(site->comm, sort->sizes, in_sizes, 1, size_type(),
                                                COHORT_AUTO_GENERATION));
    for (size_t i = 0; !status && i < site->num_sites; i++)
        bucket.size += in_sizes[i];
    if (!status)
        status = site_allocate(site, bucket.size, 1, &bucket.bytes);
    if (!status)
        status = cohort_await(cohort_all_to_allv(site->comm, sort->mine.bytes, sort->sizes, NULL,
                                                 bucket.bytes, in_sizes, NULL, COHORT_BYTE,
                                                 COHORT_AUTO_GENERATION));
    free(in_sizes);
    if (status) {
        free(bucket.bytes);
        return status;
    }
    free(sort->mine.bytes);
    sort->mine = bucket;
    return COHORT_OK;
}

static cohort_status collect(struct sort *sort)
{
    struct site *site = sort->site;
    sort->sorted.size = site->index == 0 ? sort->whole.size : 0;
    cohort_status status = site_allocate(site, sort->sorted.size, 1, &sort->sorted.bytes);
    if (!status)
        status = site_gather(site, &sort->mine.size, 1, sort->sizes, sort->ones, size_type());
    if (!status)
        status = site_gather(site, sort->mine.bytes, sort->mine.size, sort->sorted.bytes,
                             sort->sizes, COHORT_BYTE);
    return status;
}

static cohort_status compare(const struct sort *sort)
{
    char *serial = NULL;
    size_t byte = 0;
    cohort_status status = lines_sorted(sort->whole.bytes, sort->whole.size, &serial);
    if (status)
        return status;
    while (byte < sort->whole.size && serial[byte] == sort->sorted.bytes[byte])
        byte++;
    free(serial);
    if (byte < sort->whole.size)
        return cohort_fail(COHORT_ERR_FAILED,
                           "check failed: the result differs from a serial sort in line %zu",
                           1 + lines_count(sort->sorted.bytes, byte));
    return COHORT_OK;
}

static cohort_status write_result(const struct sort *sort)
{
    struct draft draft;
    cohort_status status = draft_open(&draft, sort->options->out);
    if (status)
        return status;
    /* Write errors are found by draft_commit. */
    fwrite(sort->sorted.bytes, 1, sort->sorted.size, draft.file);
    status = draft_commit(&draft);
    draft_fini(&draft);
    return status;
}

static void report(const struct sort *sort)
{
    enum { MAX_BARS = 16, WIDTH = 40 };
    static const char bar[WIDTH + 1] = "########################################";
    uint32_t num_sites = sort->site->num_sites;
    size_t largest = 1;
    for (uint32_t i = 0; i < num_sites; i++)
        largest = sort->sizes[i] > largest ? sort->sizes[i] : largest;
    printf("file: %zu lines, %zu bytes\n", lines_count(sort->sorted.bytes, sort->sorted.size),
           sort->sorted.size);
    printf("sites: %" PRIu32 " in %" PRIu32 " localities\n", num_sites, cohort_num_localities());
    printf("buckets: the largest has %.2f times the bytes of the mean\n",
           sort->sorted.size ? (double)largest * num_sites / (double)sort->sorted.size : 1.0);
    for (uint32_t i = 0; i < num_sites && i < MAX_BARS; i++)
        printf("%6" PRIu32 " |%-*.*s| %zu\n", i, WIDTH,
               (int)((double)WIDTH * (double)sort->sizes[i] / (double)largest + 0.5), bar,
               sort->sizes[i]);
    printf("check: equal to a serial sort\n");
}

/* Site 0 compares and writes. The status of that is the status of all sites. */
static cohort_status finish(struct sort *sort)
{
    bool is_first = sort->site->index == 0;
    cohort_status status = is_first ? compare(sort) : COHORT_OK;
    if (is_first && !status)
        status = write_result(sort);
    status = site_agree(sort->site, status, NULL, 0);
    if (is_first && !status)
        report(sort);
    return status;
}

cohort_status sample_sort_site_run(struct site *site)
{
    struct sort sort = {.site = site, .options = site->work};
    cohort_status status = prepare(&sort);
    if (!status)
        status = spread(&sort);
    if (!status)
        status = sort_mine(&sort);
    if (!status)
        status = divide(&sort);
    if (!status)
        status = exchange(&sort);
    if (!status)
        status = sort_mine(&sort);
    if (!status)
        status = collect(&sort);
    if (!status)
        status = finish(&sort);
    release(&sort);
    return status;
}
