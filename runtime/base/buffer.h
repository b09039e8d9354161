/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_BUFFER_H
#define COHORT_RUNTIME_BASE_BUFFER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Counted bytes. The count is atomic; who writes the data while others read is up to the users. */
struct cohort__buffer {
    _Atomic uint32_t refs;
    size_t bytes;
    alignas(16) unsigned char data[];
};

/* One reference, not cleared; NULL where memory ran out (no message is set). */
struct cohort__buffer *cohort__buffer_create(size_t bytes);

/* Returns BUFFER, with one reference more. NULL gives NULL. */
struct cohort__buffer *cohort__buffer_ref(struct cohort__buffer *buffer);

/* NULL is fine. */
void cohort__buffer_unref(struct cohort__buffer *buffer);

#endif
