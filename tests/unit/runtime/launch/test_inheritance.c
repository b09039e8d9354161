/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/inheritance.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"

/* Each case is in a child: a process keeps such copies once. */

enum { CONTROL = 100, LEDGER = 101, HUB = 110, HUB_SLOTS = 3, NUM_FILES = HUB_SLOTS + 3 };

static const int given[NUM_FILES] = {CONTROL, LEDGER, HUB, HUB + 1, HUB + 2, HUB + 3};
static ino_t files[NUM_FILES];

static void in_child(void (*function)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        function();
        fflush(NULL);
        _exit(0);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static ino_t file_of(int fd)
{
    struct stat stat;
    CHECK_INT(fstat(fd, &stat), 0);
    return stat.st_ino;
}

/* As cohortrun does. */
static void inherit(void)
{
    for (int i = 0; i < NUM_FILES; i++) {
        int fd = memfd_create("inheritance", 0);
        CHECK(fd >= 0);
        CHECK_INT(dup2(fd, given[i]), given[i]);
        close(fd);
        files[i] = file_of(given[i]);
    }
    CHECK_INT(setenv("COHORT_CONTROL_FD", "100", 1), 0);
    CHECK_INT(setenv("COHORT_HUB", "110 3", 1), 0);
    CHECK_INT(setenv("COHORT_LEDGER", "101 7", 1), 0);
    CHECK_INT(setenv("COHORT_BINDING", "18446744073709551615 2 3", 1), 0);
}

/* As a run of the runtime does: the environment says where they are, and has that no more. */
static int use(const char *name, const char *rest)
{
    char *end;
    const char *value = getenv(name);
    CHECK(value);
    int first = (int)strtol(value, &end, 10);
    CHECK_TEXT(end, rest);
    CHECK_INT(unsetenv(name), 0);
    return first;
}

static void use_file(int fd, int file)
{
    CHECK_INT(file_of(fd), files[file]);
    CHECK_INT(close(fd), 0);
}

static void use_all(void)
{
    use_file(use("COHORT_CONTROL_FD", ""), 0);
    use_file(use("COHORT_LEDGER", " 7"), 1);
    int hub = use("COHORT_HUB", " 3");
    for (int i = 0; i <= HUB_SLOTS; i++)
        use_file(hub + i, 2 + i);
    CHECK_TEXT(getenv("COHORT_BINDING"), "18446744073709551615 2 3");
    CHECK_INT(unsetenv("COHORT_BINDING"), 0);
}

static int num_open(void)
{
    int num = 0;
    for (int fd = 0; fd < 200; fd++)
        num += fcntl(fd, F_GETFD) >= 0;
    return num;
}

static void again(void)
{
    inherit();
    int before = num_open();
    cohort__inheritance_keep();
    CHECK(cohort__inheritance_is_kept());
    CHECK_INT(num_open(), before + NUM_FILES);
    for (int i = 0; i < 3; i++) {
        use_all();
        CHECK_OK(cohort__inheritance_renew());
        cohort__inheritance_keep();
        CHECK_INT(num_open(), before + NUM_FILES);
    }
    CHECK_OK(cohort__inheritance_renew()); /* nothing was used */
    CHECK_INT(num_open(), before + NUM_FILES);
    use_all();
}

TEST_CALL(again, in_child(again))

/* Nobody waits any more for what this process might say. */
static void dropped(void)
{
    inherit();
    int before = num_open();
    cohort__inheritance_drop(); /* nothing is kept yet */
    cohort__inheritance_keep();
    cohort__inheritance_drop();
    cohort__inheritance_drop();
    CHECK_INT(num_open(), before);
    CHECK(!cohort__inheritance_is_kept());
    use_all();
    CHECK_OK(cohort__inheritance_renew());
    CHECK(!getenv("COHORT_CONTROL_FD"));
}

TEST_CALL(dropped, in_child(dropped))

/* Nothing that the program starts gets them. */
static void close_on_exec(void)
{
    inherit();
    for (int fd = STDERR_FILENO + 1; fd < CONTROL; fd++)
        close(fd);
    cohort__inheritance_keep();
    use_all();
    CHECK_OK(cohort__inheritance_renew());
    int num = 0;
    for (int fd = STDERR_FILENO + 1; fd < 200; fd++) {
        int flags = fcntl(fd, F_GETFD);
        num += flags >= 0;
        CHECK(flags < 0 || flags & FD_CLOEXEC);
    }
    CHECK_INT(num, 2 * NUM_FILES);
}

TEST_CALL(close_on_exec, in_child(close_on_exec))

/* Descriptors of the program's are between those that are free. */
static void between(void)
{
    inherit();
    for (int fd = STDERR_FILENO + 1; fd < 60; fd++)
        close(fd);
    for (int fd = STDERR_FILENO + 3; fd < 60; fd += 3)
        CHECK_INT(dup2(STDERR_FILENO, fd), fd);
    int before = num_open();
    cohort__inheritance_keep();
    CHECK(cohort__inheritance_is_kept());
    CHECK_INT(num_open(), before + NUM_FILES);
    use_all();
    CHECK_OK(cohort__inheritance_renew());
    use_all();
    CHECK_INT(num_open(), before);
    for (int fd = STDERR_FILENO + 3; fd < 60; fd += 3)
        CHECK_INT(file_of(fd), file_of(STDERR_FILENO));
}

TEST_CALL(between, in_child(between))

static void allow(rlim_t num)
{
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = num;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* A start goes on without copies; a further one says why it can't. */
static void no_room_to_keep(void)
{
    inherit();
    for (int fd = STDERR_FILENO + 1; fd < CONTROL; fd++)
        close(fd);
    int before = num_open();
    allow(STDERR_FILENO + 1 + 4); /* for some, but not for all */
    cohort__inheritance_keep();
    allow(1000);
    CHECK(!cohort__inheritance_is_kept());
    CHECK_INT(num_open(), before);
    use_all();
    CHECK_OK(cohort__inheritance_renew());
    CHECK(!getenv("COHORT_CONTROL_FD"));
}

static void no_room_to_renew(void)
{
    inherit();
    cohort__inheritance_keep();
    use_all();
    allow(3);
    CHECK_FAILS(cohort__inheritance_renew(), COHORT_ERR_NO_MEMORY,
                "what COHORT_CONTROL_FD names, for a further start: ");
    allow(1000);
    CHECK_OK(cohort__inheritance_renew());
    use_all();
}

TEST(no_room)
{
    in_child(no_room_to_keep);
    in_child(no_room_to_renew);
}

/* Alone; with fewer variables; with such as the start refuses. */
static void nothing(void)
{
    cohort__inheritance_keep();
    CHECK(!cohort__inheritance_is_kept());
    CHECK_OK(cohort__inheritance_renew());
    CHECK(!getenv("COHORT_CONTROL_FD"));
}

static void only_control(void)
{
    inherit();
    CHECK_INT(unsetenv("COHORT_HUB"), 0);
    CHECK_INT(unsetenv("COHORT_LEDGER"), 0);
    CHECK_INT(unsetenv("COHORT_BINDING"), 0);
    cohort__inheritance_keep();
    CHECK(cohort__inheritance_is_kept());
    use_file(use("COHORT_CONTROL_FD", ""), 0);
    CHECK_OK(cohort__inheritance_renew());
    use_file(use("COHORT_CONTROL_FD", ""), 0);
    CHECK(!getenv("COHORT_HUB") && !getenv("COHORT_LEDGER") && !getenv("COHORT_BINDING"));
}

static const char *wrong_name, *wrong_value;

static void wrong(void)
{
    inherit();
    int before = num_open();
    CHECK_INT(setenv(wrong_name, wrong_value, 1), 0);
    cohort__inheritance_keep();
    CHECK(!cohort__inheritance_is_kept());
    CHECK_INT(num_open(), before);
}

TEST(other_values)
{
    static const char *const cases[][2] = {
        {"COHORT_CONTROL_FD", "no"},    {"COHORT_CONTROL_FD", "2"}, {"COHORT_CONTROL_FD", "-1"},
        {"COHORT_CONTROL_FD", "77777"}, {"COHORT_HUB", "110 4097"}, {"COHORT_HUB", "110 -1"},
        {"COHORT_HUB", "110 9"},
    };
    in_child(nothing);
    in_child(only_control);
    for (size_t i = 0; i < NUM_OF(cases); i++) {
        wrong_name = cases[i][0];
        wrong_value = cases[i][1];
        in_child(wrong);
    }
}
