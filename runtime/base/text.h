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

/* Writes TEXT, of LENGTH bytes, and a 0 to the CAPACITY bytes of RET_TEXT, at least 16. Where that
 * is not enough, " ... " stands for its middle: the message of an error begins with who says it,
 * and ends with the cause. Characters of UTF-8 stay whole. */
void cohort__text_shorten(char *ret_text, size_t capacity, const char *text, size_t length);

#endif
