/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/counts/cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const void *cases, size_t bytes, size_t i)
{
    return *(const char *const *)((const char *)cases + i * bytes);
}

const void *cases_choose(const void *cases, size_t num, size_t bytes, int argc, char **argv,
                         uint64_t *ret_number)
{
    for (size_t i = 0; argc == 3 && i < num; i++)
        if (strcmp(name_of(cases, bytes, i), argv[1]) == 0) {
            *ret_number = strtoull(argv[2], NULL, 10);
            return (const char *)cases + i * bytes;
        }
    fprintf(stderr, "usage: %s", program_invocation_short_name);
    for (size_t i = 0; i < num; i++)
        fprintf(stderr, "%c%s", i == 0 ? ' ' : '|', name_of(cases, bytes, i));
    fprintf(stderr, " NUMBER\n");
    exit(2);
}
