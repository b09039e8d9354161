/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_STENCIL_SITE_H
#define COHORT_EXAMPLES_STENCIL_SITE_H

#include "examples/command.h"
#include "examples/sites.h"

struct stencil_options {
    uint32_t width; /* of the plate, in cells */
    uint32_t height;
    uint32_t steps;
    const char *out;
};

/* A site that has a part of the plate; its work is a struct stencil_options. */
cohort_status stencil_site_run(struct site *site);

#endif
