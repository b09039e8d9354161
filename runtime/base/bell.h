/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_BELL_H
#define COHORT_RUNTIME_BASE_BELL_H

#include <stdbool.h>

/* A descriptor that is readable once it was rung, until it is silenced: an eventfd. Processes may
 * share it, and hand it on. Nothing here relies on O_NONBLOCK: the flag belongs to the open file,
 * so whoever has inherited the descriptor can clear it for all. libuv does from 1.53 on, for what
 * uv_spawn hands on. */

/* A new one, closed on exec. Returns -1 with errno. */
int cohort__bell_create(void);

/* Never blocks. Returns false with errno. Any thread of any process. */
bool cohort__bell_ring(int bell);

/* Never blocks, whether it was rung or not. By one thread at a time, in all processes together. */
void cohort__bell_silence(int bell);

#endif
