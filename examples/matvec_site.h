/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_MATVEC_SITE_H
#define COHORT_EXAMPLES_MATVEC_SITE_H

#include "examples/command.h"
#include "examples/sites.h"

struct matvec_options {
    uint32_t n;       /* of the vector; the matrix is n x n */
    uint32_t rows;    /* of the grid of sites */
    uint32_t columns; /* likewise */
};

/* A site that has a block of the matrix; its work is a struct matvec_options. */
cohort_status matvec_site_run(struct site *site);

#endif
