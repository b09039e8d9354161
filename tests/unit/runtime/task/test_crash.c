/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/task/crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cohort/future.h"
#include "cohort/task.h"
#include "runtime/base/ledger.h"
#include "runtime/base/ledger_read.h"
#include "runtime/base/sanitizer.h"
#include "tests/support/test.h"
#include "tests/unit/runtime/task/run_child.h"

/* Each of these ends the program in its own way. */

static volatile int zero;

__attribute__((noinline)) static int read_at(const volatile int *address)
{
    return *address + 1;
}

static cohort_status segv_task(void *arg)
{
    return read_at((const volatile int *)(uintptr_t)(16 + zero)) ? COHORT_OK : COHORT_ERR_FAILED;
}

static cohort_status write_task(void *arg)
{
    volatile char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[8] = 1;
    return COHORT_OK;
}

/* A file that is shorter than what is mapped of it. */
static cohort_status bus_task(void *arg)
{
    FILE *file = tmpfile();
    const volatile int *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    return read_at(page) ? COHORT_OK : COHORT_ERR_FAILED;
}

static cohort_status fpe_task(void *arg)
{
#if defined(__x86_64__)
    return (cohort_status)(1000 / zero);
#else
    raise(SIGFPE);
    return COHORT_OK;
#endif
}

static cohort_status ill_task(void *arg)
{
    __builtin_trap();
}

static cohort_status abort_task(void *arg)
{
    abort();
}

/* malloc finds it out, and aborts. */
static cohort_status free_task(void *arg)
{
    void *volatile twice = malloc(64);
    free(twice);
    free(twice);
    return COHORT_OK;
}

static cohort_status call_task(void *arg)
{
    void (*volatile nowhere)(void) = NULL;
    nowhere();
    return COHORT_OK;
}

/* Writes over where its caller goes on, which the unwinder reads. */
static cohort_status smash_task(void *arg)
{
    char bytes[8];
    memset(__builtin_frame_address(0), 0x41 + zero, 2 * sizeof(void *));
    __asm__ volatile("" : : "r"(bytes) : "memory");
    return COHORT_OK;
}

/* On a stack that may move, not on the thread's own one. */
static cohort_status run_other(void *arg)
{
    cohort_task_function *const *function = arg;
    return cohort_await(cohort_async(*function, NULL));
}

static void check_crash(cohort_task_function *function, int signal, const char *reason,
                        const char *where, const char *task)
{
    char text[4096];
    if (COHORT__ASAN || COHORT__TSAN)
        return; /* they explain it themselves */
    int status = run_child(run_other, &function, RLIMIT_CORE, 0, text, sizeof(text));
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), signal);
    CHECK_CONTAINS(text, reason);
    CHECK_CONTAINS(text, where);
    CHECK_CONTAINS(text, task);
    CHECK_CONTAINS(text, "/test_task_crash");
    CHECK_CONTAINS(text, "), worker 0\n");
    const char *first = strstr(text, "cohort: "); /* behind what the C library says */
    for (const char *line = strchr(first, '\n') + 1; *line; line = strchr(line, '\n') + 1)
        CHECK(strncmp(line, "cohort:     called from ", 24) == 0);
}

TEST(segv)
{
    check_crash(segv_task, SIGSEGV, "cohort: SIGSEGV (no memory at 0x10) in ",
                ":     called from segv_task+0x", ", in the task segv_task (/");
    check_crash(write_task, SIGSEGV, "cohort: SIGSEGV (no right to access 0x", " in write_task+0x",
                ", in the task write_task (/");
}

TEST(bus)
{
    check_crash(bus_task, SIGBUS, "cohort: SIGBUS (no memory behind 0x", " in read_at",
                ", in the task bus_task (/");
}

TEST(others)
{
#if defined(__x86_64__)
    check_crash(fpe_task, SIGFPE, "cohort: SIGFPE (integer division by zero) in ", " in fpe_task",
                ", in the task fpe_task (/");
#else
    check_crash(fpe_task, SIGFPE, "cohort: SIGFPE ", "", ", in the task fpe_task (/");
#endif
#if defined(__x86_64__)
    check_crash(ill_task, SIGILL, "cohort: SIGILL (no instruction) in ", " in ill_task",
                ", in the task ill_task (/");
#endif
    check_crash(abort_task, SIGABRT, "cohort: SIGABRT (abort), in the task abort_task (/", "", "");
}

TEST(callers)
{
    check_crash(free_task, SIGABRT, "cohort: SIGABRT (abort)", ":     called from free_task+0x",
                ", in the task free_task (/");
    check_crash(call_task, SIGSEGV, "cohort: SIGSEGV (no memory at 0x0)", "",
                ", in the task call_task (/");
    check_crash(smash_task, SIGSEGV, "cohort: SIGSEGV (", "", ", in the task smash_task (/");
}

static void copy_words(void *context, const void *line)
{
    const struct cohort__words_line *words = line;
    memcpy(context, words->text, sizeof(words->text));
}

/* The words are in the ledger of the process that has died. */
TEST(words)
{
    int memory, status;
    char text[4096];
    if (COHORT__ASAN || COHORT__TSAN)
        return;
    CHECK_OK(cohort__ledger_create(&memory, 1));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        cohort_task_function *function = segv_task;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        close(STDERR_FILENO);
        CHECK_OK(cohort__ledger_adopt(memory, 0));
        cohort__ledger_introduce(3, 4, 1, 1);
        _exit(run_tasks(1, run_other, &function) == COHORT_OK ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    struct cohort__ledger_view view;
    CHECK_OK(cohort__ledger_view_init(&view, memory, 0));
    text[0] = 0;
    CHECK_OK(cohort__ledger_each(&view, COHORT__LEDGER_WORDS, copy_words, text));
    CHECK_CONTAINS(text, "SIGSEGV (no memory at 0x10) in read_at");
    CHECK_CONTAINS(text, ", worker 0 of locality 3");
    close(memory);
}
