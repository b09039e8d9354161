/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_OPTIONS_H
#define COHORT_RUNTIME_BASE_OPTIONS_H

#include <stddef.h>

#include "cohort/status.h"

/* Copies public options: GIVEN, of GIVEN_BYTES bytes, to *RET_OPTIONS, of BYTES bytes. The sizes
 * may differ if the program was built with another version of the header. New fields are added at
 * the end of such a struct, and 0 in a field means the same as if the field did not exist. So
 * fields that a shorter GIVEN lacks become 0.
 * COHORT_ERR_BAD_PARAMETER, with WHAT in the message, if GIVEN is NULL, or if it is longer and
 * bytes beyond BYTES are not 0: then it asks for something that this version does not know.
 * *RET_OPTIONS is untouched in that case. */
cohort_status cohort__options_read(void *ret_options, size_t bytes, const void *given,
                                   size_t given_bytes, const char *what);

#endif
