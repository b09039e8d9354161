/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_COMM_LAYOUT_CHECK_H
#define COHORT_COLLECTIVES_COMM_LAYOUT_CHECK_H

#include "cohort/layout.h"

/* Why elements of DATATYPE can't lie in ARRAY as LAYOUT says, or NULL: they can. */
const char *cohort__layout_refuses(const cohort_layout *layout, cohort_datatype datatype,
                                   const void *array);

#endif
