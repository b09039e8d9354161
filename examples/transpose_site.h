/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TRANSPOSE_SITE_H
#define COHORT_EXAMPLES_TRANSPOSE_SITE_H

#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

#include "examples/pgm.h"
#include "examples/transpose_options.h"

/* One of the sites that transpose a picture together. */
struct transpose_site {
    /* What it is given: */
    const struct transpose_options *options;
    uint32_t index;
    uint32_t num_sites;
    uint64_t *times; /* room for options->repeat: of each all_to_all, in nanoseconds */
    /* Its own: */
    cohort_comm *comm;
    /* Of the last collective. They are numbered 1, 2, 3, ..., alike at all sites. */
    uint64_t generation;
    struct pgm picture; /* the samples at site 0 only */
    cohort_datatype sample;
    size_t rows;    /* of the picture, for each site */
    size_t columns; /* likewise */
};

/* A task: all the work of one site, a struct transpose_site. Its error is that of the whole job. */
cohort_status transpose_site_run(void *arg);

#endif
