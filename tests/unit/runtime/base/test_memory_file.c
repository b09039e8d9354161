/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/test.h"

TEST(sealed)
{
    const char *what = NULL;
    char text[4] = "";
    int memory = cohort__memory_file_create("test", 1 << 20, "abc", 4, &what);
    CHECK(memory >= 0);
    CHECK_INT(fcntl(memory, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    CHECK_INT(pread(memory, text, 4, 0), 4);
    CHECK_TEXT(text, "abc");
    CHECK(ftruncate(memory, 0) != 0 && errno == EPERM);
    CHECK(cohort__memory_file_holds(memory, 1 << 20));
    CHECK(!cohort__memory_file_holds(memory, (1 << 20) + 1));
    close(memory);
    CHECK(!cohort__memory_file_holds(memory, 1));
    int plain = memfd_create("test", MFD_CLOEXEC);
    CHECK(!cohort__memory_file_holds(plain, 0));
    close(plain);
}

/* The limit is as before afterwards, and no signal comes. */
TEST(limit_of_files)
{
    struct rlimit before, after;
    const char *what = NULL;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = {4096, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int memory = cohort__memory_file_create("test", 1 << 20, "abc", 4, &what);
    getrlimit(RLIMIT_FSIZE, &after);
    CHECK_INT(after.rlim_cur, 4096);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(memory >= 0);
    close(memory);
}

TEST(no_descriptor)
{
    struct rlimit before;
    const char *what = NULL;
    getrlimit(RLIMIT_NOFILE, &before);
    struct rlimit none = {0, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    int memory = cohort__memory_file_create("test", 1 << 20, "abc", 4, &what);
    int error = errno;
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_INT(memory, -1);
    CHECK_INT(error, EMFILE);
    CHECK_TEXT(what, "memfd_create");
}
