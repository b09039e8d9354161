/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: who waits for whom as JSON, for programs. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_JSON_H
#define COHORT_TOOLS_COHORTRUN_STATUS_JSON_H

#include <stdio.h>

#include "tools/cohortrun/status_model.h"

struct symbols;

/* The number is another one when a value has another meaning, or is no longer there. */
enum { STATUS_JSON_VERSION = 1 };

/* Writes MODEL as status_print does, but nothing is cut. Times are in seconds; what is not known is
 * left out. */
void status_json(FILE *file, const struct status_model *model, struct symbols *symbols);

#endif
