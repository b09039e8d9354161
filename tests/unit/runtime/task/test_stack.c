/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/sanitizer.h"
#include "tests/support/test.h"

enum { PAGE = 4096, GUARD = 64 * 1024 };

/* A stack keeps the guard that it was first taken with. So each kind has a size of its own. */
static size_t stack_bytes;

static void use_guard(enum cohort__stack_guard guard)
{
    cohort__stack_use_guard(guard);
    stack_bytes = 64 * 1024 + guard * PAGE;
}

static long num_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    long num = 0;
    CHECK(file);
    for (int c; (c = fgetc(file)) != EOF;)
        num += c == '\n';
    fclose(file);
    return num;
}

static long resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size, resident;
    CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

static char *top_of(const struct cohort__stack *stack)
{
    return stack->low + stack->bytes - 1;
}

static void take(struct cohort__stack *stacks, size_t num)
{
    for (size_t i = 0; i < num; i++) {
        CHECK_OK(cohort__stack_take(&stacks[i], stack_bytes));
        CHECK(stacks[i].bytes >= stack_bytes && (uintptr_t)stacks[i].low % PAGE == 0);
        memset(top_of(&stacks[i]), 1, 1);
    }
}

static void give_back(const struct cohort__stack *stacks, size_t num)
{
    for (size_t i = 0; i < num; i++)
        cohort__stack_give_back(&stacks[i]);
}

/* No byte belongs to two stacks, and what is given back is taken again. */
static void check_apart(enum cohort__stack_guard guard)
{
    enum { NUM = 100 };
    struct cohort__stack stacks[NUM];
    use_guard(guard);
    for (int round = 0; round < 3; round++) {
        take(stacks, NUM);
        for (int i = 0; i < NUM; i++)
            memset(stacks[i].low, i, stacks[i].bytes);
        for (int i = 0; i < NUM; i++) {
            CHECK(*stacks[i].low == i && *top_of(&stacks[i]) == i);
            CHECK(cohort__stack_is_intact(&stacks[i]));
        }
        for (int i = 0; i < NUM; i += 2)
            cohort__stack_give_back(&stacks[i]);
        for (int i = 1; i < NUM; i += 2)
            CHECK(cohort__stack_is_intact(&stacks[i]));
        for (int i = 0; i < NUM; i += 2) {
            take(&stacks[i], 1);
            CHECK_INT(*stacks[i].low, 0);
        }
        give_back(stacks, NUM);
    }
}

TEST(stacks_are_apart)
{
    check_apart(COHORT__STACK_GUARD_CANARY);
    check_apart(COHORT__STACK_GUARD_PAGE);
    check_apart(COHORT__STACK_GUARD_KERNEL);
}

/* More stacks than the kernel allows mappings, and their memory goes back to the system. */
static void check_many(enum cohort__stack_guard guard)
{
    /* Where the kernel has no page of zeros, to look at the sanitizer's memory for a stack takes a
     * page of that. */
    enum {
        NUM = COHORT__ASAN || COHORT__TSAN ? 2000 : 40000,
        MOST_LEFT = NUM / 4 + (COHORT__ASAN || COHORT__TSAN ? NUM : 0),
    };
    struct cohort__stack *stacks = test_calloc(NUM, sizeof(*stacks));
    use_guard(guard);
    long before = resident_pages();
    take(stacks, NUM);
    CHECK(num_mappings() < 40000);
    CHECK(resident_pages() - before > NUM - NUM / 10); /* the kernel's count lags behind */
    give_back(stacks, NUM);
    CHECK(resident_pages() - before < MOST_LEFT);
    free(stacks);
}

TEST(many)
{
    check_many(COHORT__STACK_GUARD_KERNEL);
    check_many(COHORT__STACK_GUARD_PAGE);
    check_many(COHORT__STACK_GUARD_CANARY);
}

static void write_below(const struct cohort__stack *stack, int bytes)
{
    signal(SIGSEGV, SIG_DFL); /* the sanitizers explain it at length */
    volatile char *below = stack->low - bytes;
    *below = 1;
    _exit(0);
}

static void check_guard(enum cohort__stack_guard guard)
{
    struct cohort__stack stacks[3];
    use_guard(guard);
    take(stacks, 3);
    CHECK(cohort__stack_guards(&stacks[1], stacks[1].low - 1));
    CHECK(cohort__stack_guards(&stacks[1], stacks[1].low - GUARD));
    CHECK(!cohort__stack_guards(&stacks[1], stacks[1].low));
    CHECK(!cohort__stack_guards(&stacks[1], stacks[1].low - GUARD - 1));
    for (int bytes = 1; bytes <= GUARD; bytes += GUARD - 1) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            write_below(&stacks[1], bytes);
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
    give_back(stacks, 3);
}

TEST(guards_catch)
{
    check_guard(COHORT__STACK_GUARD_PAGE);
    check_guard(COHORT__STACK_GUARD_KERNEL);
}

TEST(canary_tells)
{
    struct cohort__stack stacks[3];
    use_guard(COHORT__STACK_GUARD_CANARY);
    take(stacks, 3);
    CHECK_INT(stacks[2].guard, COHORT__STACK_GUARD_CANARY);
    memset(stacks[2].low - GUARD, 1, GUARD); /* what no neighbour has */
    CHECK(cohort__stack_is_intact(&stacks[2]));
    memset(stacks[2].low - GUARD - 1, 1, 1);
    CHECK(!cohort__stack_is_intact(&stacks[2]));
    give_back(stacks, 3);
    take(stacks, 3);
    CHECK(cohort__stack_is_intact(&stacks[2]));
    give_back(stacks, 3);
}

/* With little address space there are fewer stacks, and an error says so. */
TEST(little_address_space)
{
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* they need all of it for themselves */
    struct cohort__stack stack;
    struct rlimit limit = {64 << 20, 64 << 20};
    use_guard(COHORT__STACK_GUARD_KERNEL);
    int status, num = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
        while (cohort__stack_take(&stack, stack_bytes) == COHORT_OK)
            num++;
        CHECK(num > 400 && num < 1024);
        CHECK_CONTAINS(cohort_error_message(), "no stack of 69632 bytes: mmap");
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
