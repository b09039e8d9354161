/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_COLL_RANDOM_LAYOUT_H
#define COHORT_TESTS_COLL_RANDOM_LAYOUT_H

#include "cohort/layout.h"
#include "runtime/base/random.h"

/* A layout of so many elements, of any kind, none of which is there twice. PLACES gets where each
 * of them lies; the caller frees it. */
cohort_layout *random_layout(struct cohort__random *random, size_t num, size_t **ret_places);

/* Two layouts of one array, of NUM[0] and NUM[1] elements, which lie between each other. */
void random_layouts_of_one(struct cohort__random *random, const size_t num[2],
                           cohort_layout *ret_layouts[2], size_t *ret_places[2]);

#endif
