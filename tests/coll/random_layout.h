/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_LAYOUT_H
#define COHORT_TESTS_COLL_RANDOM_LAYOUT_H

#include "cohort/layout.h"
#include "runtime/base/random.h"

/* A layout of so many elements, of any kind, none of which is there twice. PLACES gets where each
 * of them lies; the caller frees it. */
cohort_layout *random_layout(struct cohort__random *random, size_t num, size_t **ret_places);

#endif
