/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_DEFAULT_TUNE_H
#define COHORT_COLLECTIVES_MODEL_DEFAULT_TUNE_H

/* The text of a tuning file for machines without one. It has what was measured on a typical
 * machine, including the factors of the rows. Its prices are scaled by the results of a quick
 * measurement of the real machine. */
extern const char cohort__default_tune[];

#endif
