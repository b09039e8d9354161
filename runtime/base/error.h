/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_ERROR_H
#define COHORT_RUNTIME_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "cohort/status.h"

enum { COHORT__ERROR_BYTES = 512 }; /* of a message, with the NUL */

/* A status with its message. It is small, so that each task can have one in its frame. The text is
 * on the heap, has a reference count, never changes, and exists only once something has failed. All
 * zero is a valid, empty error. One thread at a time, but copies of one error may be used by
 * different threads. */
struct cohort__error_text;
struct cohort__error {
    cohort_status status;
    struct cohort__error_text *text;
};

/* Gives back one reference to TEXT. */
void cohort__error_text_unref(struct cohort__error_text *text);

/* Gives ERROR's text back and empties it. NULL is fine. */
static inline void cohort__error_fini(struct cohort__error *error)
{
    if (!error)
        return;
    if (error->text)
        cohort__error_text_unref(error->text);
    *error = (struct cohort__error){COHORT_OK, NULL};
}

/* Replaces what ERROR holds. Returns STATUS. Of more than 511 bytes, the middle is left out. The
 * arguments of the format may point into the text that is replaced. */
cohort_status cohort__error_set(struct cohort__error *error, cohort_status status,
                                const char *format, ...) __attribute__((format(printf, 3, 4)));
cohort_status cohort__error_vset(struct cohort__error *error, cohort_status status,
                                 const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Makes TARGET the same as SOURCE; they share the text. */
void cohort__error_copy(struct cohort__error *target, const struct cohort__error *source);

/* The message. If there is none, the general text of the status, or "" for COHORT_OK. Valid until
 * ERROR changes. */
const char *cohort__error_message(const struct cohort__error *error);

/* What cohort_fail writes to and cohort_error_message reads: the slot of the running task, or else
 * the thread's own. Never NULL. */
struct cohort__error *cohort__error_slot(void);

/* Makes SLOT (NULL: the thread's own) the current one of this thread; returns the one before. */
struct cohort__error *cohort__error_slot_set(struct cohort__error *slot);

#endif
