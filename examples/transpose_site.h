/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TRANSPOSE_SITE_H
#define COHORT_EXAMPLES_TRANSPOSE_SITE_H

#include "examples/sites.h"

/* A site that transposes a picture with others; its work is a struct transpose_options. */
cohort_status transpose_site_run(struct site *site);

#endif
