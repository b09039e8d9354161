/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_TEXT_H
#define COHORT_RUNTIME_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* A text that grows in memory of its owner, and is cut off when that is full. */
struct cohort__text {
    char *bytes;     /* ends with 0 */
    size_t used;     /* without the 0 */
    size_t capacity; /* with it; at least 1 */
};

void cohort__text_append(struct cohort__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cohort__text_append_args(struct cohort__text *text, const char *format, va_list args);

#endif
