/* SPDX-License-Identifier: Apache-2.0 */
/* tools: whether one name may be another one, mistyped. */
#ifndef COHORT_TOOLS_SHARE_LIKENESS_H
#define COHORT_TOOLS_SHARE_LIKENESS_H

#include <stdbool.h>

/* How many letters have to be changed, added, left out, or swapped with the next one, to make LEFT
 * RIGHT; MORE if it is more than that. Of each only the first 255 bytes count. */
unsigned likeness_distance(const char *left, const char *right, unsigned more);

/* Whether they differ, but only in case and blanks, or in at most two letters, which have to be
 * less than a third of the shorter one. Names that differ in digits only are meant to. */
bool likeness_is_close(const char *left, const char *right);

#endif
