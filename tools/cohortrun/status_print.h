/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the text that says who waits for whom. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_PRINT_H
#define COHORT_TOOLS_COHORTRUN_STATUS_PRINT_H

#include <stdio.h>

#include "tools/cohortrun/status_model.h"

struct symbols;

/* Writes MODEL for a reader, with names from SYMBOLS; long lists are cut, and say so. */
void status_print(FILE *file, const struct status_model *model, struct symbols *symbols);

#endif
