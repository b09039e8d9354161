/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_SCARCE_H
#define COHORT_TESTS_SUPPORT_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that is scarce for the calling thread: single allocations of its fail. The linker
 * redirects malloc, calloc, realloc and aligned_alloc of the whole program (scarce_dep of
 * meson.build), and what the slab hands out comes from malloc. The transport in tests/support
 * always has memory. */

/* Call it first in main. */
void scarce_init(void);

/* After NUM_LEFT more allocations of this thread the next one fails, and only that one. */
void scarce_begin(long num_left);

/* One fails after LENGTHS[0] others, one after LENGTHS[1] more, and so on, NUM in all. LENGTHS
 * stays as it is until the end. */
void scarce_begin_gaps(const uint32_t *lengths, uint32_t num);

/* Whether one has failed since the begin. */
bool scarce_has_failed(void);

/* None fails any more. Returns whether one has failed. */
bool scarce_end(void);

/* Between these two nothing fails, and nothing is counted: for what only tests have. */
void scarce_pause(void);
void scarce_go_on(void);

#endif
