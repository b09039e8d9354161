/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: says who waits for whom, as text. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_PRINT_H
#define COHORT_TOOLS_COHORTRUN_STATUS_PRINT_H

#include <stdio.h>

#include "tools/cohortrun/status/model.h"

struct symbols;

/* Writes MODEL for a reader, with names from SYMBOLS; long lists are cut, and say so. */
void status_print(FILE *file, const struct status_model *model, struct symbols *symbols);

/* The number is another one when a value has another meaning, or is no longer there. */
enum { STATUS_JSON_VERSION = 1 };

/* Writes MODEL as status_print does, but nothing is cut. Times are in seconds; what is not known is
 * left out. */
void status_json(FILE *file, const struct status_model *model, struct symbols *symbols);

#endif
