/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-tune: writes the file. */
#ifndef COHORT_TOOLS_TUNE_OUTPUT_H
#define COHORT_TOOLS_TUNE_OUTPUT_H

#include "tools/tune/options.h"
#include "tools/tune/samples.h"

/* Fits all samples together, and writes the file where OPTIONS say. MEASURED is for its first line.
 * WORKERS: of each locality. COHORT_ERR_SYSTEM; COHORT_ERR_BAD_PARAMETER: there is no place for
 * it. */
cohort_status tune_output_write(const struct tune_options *options,
                                const struct tune_samples *samples, const char *measured,
                                uint32_t workers);

#endif
