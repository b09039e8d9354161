/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void cohort__text_shorten(char *ret_text, size_t capacity, const char *text, size_t length)
{
    static const char gap[] = " ... ";
    if (length < capacity) {
        memcpy(ret_text, text, length);
        ret_text[length] = '\0';
        return;
    }
    size_t room = capacity - sizeof(gap), head = room / 2, tail = length - (room - head);
    while (head > 0 && is_inside_character(text[head]))
        head--;
    while (tail < length && is_inside_character(text[tail]))
        tail++;
    snprintf(ret_text, capacity, "%.*s%s%.*s", (int)head, text, gap, (int)(length - tail),
             text + tail);
}
