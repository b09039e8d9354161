/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/counts/cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/task/valgrind.h"

static const char *name_of(const void *cases, size_t bytes, size_t i)
{
    return *(const char *const *)((const char *)cases + i * bytes);
}

static const void *find(const void *cases, size_t num, size_t bytes, const char *name)
{
    for (size_t i = 0; i < num; i++)
        if (strcmp(name_of(cases, bytes, i), name) == 0)
            return (const char *)cases + i * bytes;
    return NULL;
}

static int usage(const void *cases, size_t num, size_t bytes)
{
    fprintf(stderr, "usage: %s", program_invocation_short_name);
    for (size_t i = 0; i < num; i++)
        fprintf(stderr, "%c%s", i == 0 ? ' ' : '|', name_of(cases, bytes, i));
    fprintf(stderr, " NUMBER...\n");
    return 2;
}

/* Callgrind counts anew from here on. */
static void forget_counts(void)
{
    enum { ZERO_STATS = 'C' << 24 | 'T' << 16 | 1 };
    cohort__valgrind_ask((enum cohort__valgrind_request)ZERO_STATS, 0, 0);
}

static int run_apart(const void *chosen, uint64_t number, cases_run *run)
{
    int status = 1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        forget_counts();
        exit(run(chosen, number));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

int cases_main(const void *cases, size_t num, size_t bytes, int argc, char **argv, cases_run *run)
{
    int result = argc >= 3 && argc % 2 == 1 ? 0 : 2;
    for (int i = 1; result == 0 && i < argc; i += 2)
        if (!find(cases, num, bytes, argv[i]))
            result = 2;
    if (result != 0)
        return usage(cases, num, bytes);
    result = run(find(cases, num, bytes, argv[1]), strtoull(argv[2], NULL, 10));
    for (int i = 1; argc > 3 && result == 0 && i < argc; i += 2)
        result = run_apart(find(cases, num, bytes, argv[i]), strtoull(argv[i + 1], NULL, 10), run);
    return result;
}
