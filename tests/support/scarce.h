/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_SCARCE_H
#define COHORT_TESTS_SUPPORT_SCARCE_H

#include <stdbool.h>

/* Memory that is scarce for the calling thread: one allocation of its fails. The linker redirects
 * malloc, calloc, realloc and aligned_alloc of the whole program (scarce_dep of meson.build), and
 * what the slab hands out comes from malloc. The transport in tests/support always has memory. */

/* Call it first in main. */
void scarce_init(void);

/* After NUM_LEFT more allocations of this thread the next one fails, and only that one. */
void scarce_begin(long num_left);

/* Whether one has failed since scarce_begin. */
bool scarce_has_failed(void);

/* None fails any more. Returns whether one has failed. */
bool scarce_end(void);

/* Between these two nothing fails, and nothing is counted: for what only tests have. */
void scarce_pause(void);
void scarce_go_on(void);

#endif
