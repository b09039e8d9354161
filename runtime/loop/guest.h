/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LOOP_GUEST_H
#define COHORT_RUNTIME_LOOP_GUEST_H

#include <stdbool.h>
#include <uv.h>

#include "cohort/status.h"

struct cohort__loop;

/* For those who use libuv on the loop and are not of this layer: guests. Holder only, unless it
 * says otherwise. */

uv_loop_t *cohort__loop_uv(struct cohort__loop *loop);

/* Whether a function of the program has run here (cohort_run_on_loop). It may have left handles,
 * whose callbacks may do anything at any time. */
bool cohort__loop_has_guests(const struct cohort__loop *loop);

/* Every callback of libuv calls this: something has happened, so libuv must not block now. (uv_run
 * calls the timers first, and would then block until something else happens.) The callbacks of a
 * user don't; what they make ready is seen before the loop blocks, see guest.c.
 *
 * Nobody calls it outside of libuv: its next run would look for nothing at all, and calls that
 * begin and end at once, again and again, would keep it from all others. */
void cohort__loop_note(struct cohort__loop *loop);

/* Sets the error for libuv's UV_ERROR (a negative errno) about what FORMAT says, with the message
 * "WHAT: no such file or directory (ENOENT)". Returns the status. Any thread. */
cohort_status cohort__loop_fail(int uv_error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The loop that was attached (loop.h), or NULL. It stays as long as the caller holds the scheduler.
 * Any thread. */
struct cohort__loop *cohort__loop_attached(void);

#endif
