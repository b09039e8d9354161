/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_COLLECTIVES_MODEL_DEFAULT_TUNE_H
#define COHORT_COLLECTIVES_MODEL_DEFAULT_TUNE_H

/* The text of a tuning file for machines without one: what a typical one measured, the factors of
 * the rows among it. Its prices are scaled by what a quick look at the machine finds. */
extern const char cohort__default_tune[];

#endif
