/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_BASE_SAFE_TEXT_H
#define COHORT_RUNTIME_BASE_SAFE_TEXT_H

#include <stddef.h>
#include <stdint.h>

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
