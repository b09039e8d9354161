/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/text.h"

#include <stdio.h>

void cohort__text_append_args(struct cohort__text *text, const char *format, va_list args)
{
    int length = vsnprintf(text->bytes + text->used, text->capacity - text->used, format, args);
    text->used += length > 0 ? (size_t)length : 0;
    if (text->used >= text->capacity)
        text->used = text->capacity - 1;
}

void cohort__text_append(struct cohort__text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cohort__text_append_args(text, format, args);
    va_end(args);
}
