/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_TESTS_SUPPORT_TEST_H
#define COHORT_TESTS_SUPPORT_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A test program is a row of cases, which run in the order of their lines. The first failed check
 * ends the program with status 1. (cmocka and similar libraries leave a failed case by longjmp,
 * which must not jump from a fiber to another stack, nor from one thread to another.) */
struct test {
    const char *name;
    void (*run)(void);
    int line;
    struct test *next;
};

/* The head of a case's function. The program knows the case from then on. */
#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    __attribute__((constructor)) static void add_test_##name(void)                                 \
    {                                                                                              \
        static struct test this_test = {#name, test_##name, __LINE__, NULL};                       \
        tests_add(&this_test);                                                                     \
    }                                                                                              \
    static void test_##name(void)

void tests_add(struct test *added);

/* A case that is one statement. */
#define TEST_CALL(name, statement)                                                                 \
    TEST(name)                                                                                     \
    {                                                                                              \
        statement;                                                                                 \
    }

/* A case between two statements that others have, too. */
#define TEST_BETWEEN(name, begin, end)                                                             \
    static void do_##name(void);                                                                   \
    TEST(name)                                                                                     \
    {                                                                                              \
        begin;                                                                                     \
        do_##name();                                                                               \
        end;                                                                                       \
    }                                                                                              \
    static void do_##name(void)

/* The same with something that has BEGIN's value. */
#define TEST_WITH(name, type, fixture, begin, end)                                                 \
    static void do_##name(type fixture);                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        type fixture = begin;                                                                      \
        do_##name(fixture);                                                                        \
        end;                                                                                       \
    }                                                                                              \
    static void do_##name(type fixture)

/* A case that is a task, or what each site of a communicator does (COMM). RUN is the statement that
 * runs it, in which it is called `task`, or `site`. */
#define TEST_TASK(name, run)                                                                       \
    static void do_##name(void);                                                                   \
    static cohort_status task_##name(void *arg)                                                    \
    {                                                                                              \
        do_##name();                                                                               \
        return COHORT_OK;                                                                          \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        cohort_status (*const task)(void *arg) = task_##name;                                      \
        run;                                                                                       \
    }                                                                                              \
    static void do_##name(void)
#define TEST_SITE(name, run)                                                                       \
    static void do_##name(cohort_comm *comm);                                                      \
    static cohort_status site_##name(cohort_comm *comm, void *arg)                                 \
    {                                                                                              \
        do_##name(comm);                                                                           \
        return COHORT_OK;                                                                          \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        cohort_status (*const site)(cohort_comm * comm, void *arg) = site_##name;                  \
        run;                                                                                       \
    }                                                                                              \
    static void do_##name(cohort_comm *comm)

/* Runs all cases, or those whose names are given as arguments. Returns the status for main. A
 * program without a main has one that calls tests_runner, which is tests_run if nobody sets it. */
int tests_run(int argc, char **argv);
extern int (*tests_runner)(int argc, char **argv);

/* How many rounds to play: FEW in a build with a sanitizer, which slows them down, ALL in other
 * builds, and in the suite long of each build (there TEST_LONG is set). */
uint64_t test_rounds(uint64_t all, uint64_t few);

/* The same, but USUAL in other builds: for what the suite long is to play more of there, too. */
uint64_t test_rounds_of(uint64_t all, uint64_t usual, uint64_t few);

/* As calloc and malloc, and there is memory. */
void *test_calloc(size_t count, size_t bytes);
void *test_malloc(size_t bytes);

/* What waits in a task, and what turns a loop by hand, until the condition is false. */
#define YIELD_WHILE(condition)                                                                     \
    do {                                                                                           \
        while (condition)                                                                          \
            cohort_yield();                                                                        \
    } while (0)
#define PARK_WHILE(loop, condition)                                                                \
    do {                                                                                           \
        while (condition)                                                                          \
            cohort__loop_park(loop);                                                               \
    } while (0)

/* How many entries a folder has: of descriptors, say, if it is /proc/self/fd. */
int test_num_entries(const char *folder);

/* How many elements an array has. */
#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Prints the place and the reason, then ends the process with status 1. */
_Noreturn void test_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void test_check_int(const char *file, int line, const char *what, long long got, long long want);
void test_check_ok(const char *file, int line, const char *what, int status,
                   const char *(*message)(void));
void test_check_text(const char *file, int line, const char *what, const char *got,
                     const char *want);
/* Checks that WANT is part of GOT. */
void test_check_contains(const char *file, int line, const char *what, const char *got,
                         const char *want);

/* Macros, because they need the place and the text of the check. */
#define FAIL(...) test_failed(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) ((condition) ? (void)0 : FAIL("not true: %s", #condition))
#define CHECK_INT(got, want) test_check_int(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_OK(status) test_check_ok(__FILE__, __LINE__, #status, (status), cohort_error_message)
#define CHECK_TEXT(got, want) test_check_text(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_CONTAINS(got, want) test_check_contains(__FILE__, __LINE__, #got, (got), (want))
/* Fails with the status WANT, and a message with TEXT in it. */
#define CHECK_FAILS(got, want, text)                                                               \
    (CHECK_INT(got, want), CHECK_CONTAINS(cohort_error_message(), text))

#endif
