/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the message that says what has become of a locality. */
#ifndef COHORT_TOOLS_COHORTRUN_STATE_H
#define COHORT_TOOLS_COHORTRUN_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/cohortrun/locality.h"
#include "tools/cohortrun/status/look.h"

/* What a node daemon reports of a locality in NODE_LINK_STATE: pid and status (i32, little-endian),
 * how it has ended (u8), whether the guardian and the control connection have ended (bits of a u8),
 * which process had joined and is lost (i32; 0: none is), and in the rest, as text, that the kernel
 * may have killed the program for want of memory; or with another bit of the u8 the locality's
 * words. */
enum { STATE_HEAD_BYTES = 14, STATE_MAX_BYTES = STATE_HEAD_BYTES + LOOK_WORDS_BYTES - 1 };

/* Returns how many bytes it has written. */
size_t state_write(const struct locality *locality, unsigned char ret_state[STATE_MAX_BYTES]);

/* False: STATE makes no sense. */
bool state_read(struct locality *locality, const unsigned char *state, size_t bytes);

#endif
