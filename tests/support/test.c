/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/sanitizer.h"

static bool chosen(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc <= 1;
}

static struct test *tests;
int (*tests_runner)(int argc, char **argv) = tests_run;

void tests_add(struct test *added)
{
    struct test **place = &tests;
    while (*place && (*place)->line < added->line)
        place = &(*place)->next;
    added->next = *place;
    *place = added;
}

int tests_run(int argc, char **argv)
{
    size_t num_run = 0;
    for (const struct test *each = tests; each; each = each->next) {
        if (!chosen(each->name, argc, argv))
            continue;
        fprintf(stderr, "case %s\n", each->name);
        each->run();
        num_run++;
    }
    if (num_run == 0) {
        fprintf(stderr, "%s: no such case\n", argv[0]);
        return 1;
    }
    return 0;
}

uint64_t test_rounds(uint64_t all, uint64_t few)
{
    return test_rounds_of(all, all, few);
}

uint64_t test_rounds_of(uint64_t all, uint64_t usual, uint64_t few)
{
    bool is_slow = COHORT__ASAN || COHORT__TSAN;
    if (getenv("TEST_LONG"))
        return all;
    return is_slow ? few : usual;
}

void *test_calloc(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    CHECK(memory);
    return memory;
}

void *test_malloc(size_t bytes)
{
    void *memory = malloc(bytes);
    CHECK(memory);
    return memory;
}

int test_num_entries(const char *folder)
{
    int num = 0;
    DIR *open = opendir(folder);
    CHECK(open);
    while (readdir(open))
        num++;
    closedir(open);
    return num;
}

void test_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fflush(NULL);
    _exit(1); /* not exit(), because other threads still run */
}

void test_check_int(const char *file, int line, const char *what, long long got, long long want)
{
    if (got != want)
        test_failed(file, line, "%s is %lld, not %lld", what, got, want);
}

void test_check_ok(const char *file, int line, const char *what, int status,
                   const char *(*message)(void))
{
    if (status)
        test_failed(file, line, "%s is %d, not COHORT_OK: %s", what, status, message());
}

void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *want)
{
    if (strcmp(got, want) != 0)
        test_failed(file, line, "%s is \"%s\", not \"%s\"", what, got, want);
}

void test_check_contains(const char *file, int line, const char *what, const char *got,
                         const char *want)
{
    if (!strstr(got, want))
        test_failed(file, line, "%s is \"%s\", without \"%s\"", what, got, want);
}
