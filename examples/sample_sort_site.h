/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_SAMPLE_SORT_SITE_H
#define COHORT_EXAMPLES_SAMPLE_SORT_SITE_H

#include "examples/command.h"
#include "examples/sites.h"

struct sample_sort_options {
    const char *in;
    const char *out;
};

/* A site that sorts a file with others; its work is a struct sample_sort_options. */
cohort_status sample_sort_site_run(struct site *site);

#endif
