/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TRAINING_SITE_H
#define COHORT_EXAMPLES_TRAINING_SITE_H

#include "examples/command.h"
#include "examples/sites.h"

struct training_options {
    uint32_t points;
    uint32_t epochs;
    uint32_t report; /* every so many epochs the loss is printed */
    uint32_t seed;
    const char *algorithm; /* of the all_reduce; NULL: the library's choice */
    bool reproducible;     /* sums in the order of the sites */
    uint32_t deaths;       /* so many localities die on the way */
    const char *out;
};

/* A site that learns from its share of the points; its work is a struct training_options. */
cohort_status training_site_run(struct site *site);

#endif
