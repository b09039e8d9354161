/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_OPTIONS_H
#define COHORT_RUNTIME_BASE_OPTIONS_H

#include <stddef.h>

#include "cohort/status.h"

/* Public structs of options grow at their ends, and 0 in a field is as if it were not there. So a
 * program that was built with another version of the header may give one of another size: copies
 * GIVEN, of GIVEN_BYTES, to *RET_OPTIONS, of BYTES. What a shorter one lacks is 0.
 * COHORT_ERR_BAD_PARAMETER, naming WHAT: no GIVEN, or a longer one that asks for something that
 * this version does not know, so that bytes beyond BYTES are not 0. *RET_OPTIONS is then untouched.
 */
cohort_status cohort__options_read(void *ret_options, size_t bytes, const void *given,
                                   size_t given_bytes, const char *what);

#endif
