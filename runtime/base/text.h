/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_TEXT_H
#define COHORT_RUNTIME_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

/* A text that is put together where snprintf is not allowed: in a signal handler, perhaps in the
 * middle of the C library. It always ends with 0; what has no room is cut. */
struct cohort__safe_text {
    char *text; /* the caller's */
    size_t bytes, used;
};

static inline struct cohort__safe_text cohort__safe_text_begin(char *text, size_t bytes)
{
    text[0] = '\0';
    return (struct cohort__safe_text){.text = text, .bytes = bytes};
}

static inline void cohort__safe_text_add(struct cohort__safe_text *text, const char *words)
{
    while (*words && text->used + 1 < text->bytes)
        text->text[text->used++] = *words++;
    text->text[text->used] = '\0';
}

/* In decimal digits, or in hexadecimal ones behind "0x". */
static inline void cohort__safe_text_add_number(struct cohort__safe_text *text, uint64_t number)
{
    char digits[24], *at = digits + sizeof(digits);
    *--at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    cohort__safe_text_add(text, at);
}

static inline void cohort__safe_text_add_address(struct cohort__safe_text *text, uint64_t address)
{
    char digits[24], *at = digits + sizeof(digits);
    *--at = '\0';
    do
        *--at = "0123456789abcdef"[address % 16];
    while (address /= 16);
    cohort__safe_text_add(text, "0x");
    cohort__safe_text_add(text, at);
}

#endif
