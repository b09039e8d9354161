/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/share/usage.h"

#include <stdarg.h>
#include <stdio.h>

enum { STATUS_WRONG = 2 };

int usage_wrong(const struct usage *usage, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", usage->program);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n%s", usage->line);
    va_end(args);
    return STATUS_WRONG;
}

int usage_read_count(const struct usage *usage, const char *word, const char *text, uint32_t min,
                     uint32_t max, uint32_t *ret)
{
    uint64_t value = 0;
    const char *c = text;
    while (*c >= '0' && *c <= '9' && value <= max)
        value = 10 * value + (uint64_t)(*c++ - '0');
    if (*c || c == text || value < min || value > max)
        return usage_wrong(usage, "%s needs a number from %u to %u, not '%s'", word, (unsigned)min,
                           (unsigned)max, text);
    *ret = (uint32_t)value;
    return -1;
}

int usage_print_help(const struct usage *usage)
{
    printf("%s%s", usage->line, usage->help);
    return fflush(stdout) ? 1 : 0;
}

int usage_print_version(const struct usage *usage)
{
    printf("%s %s\n", usage->program, COHORT_VERSION);
    return fflush(stdout) ? 1 : 0;
}
