/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/test.h"

static void check_sorted(const char *text, size_t bytes, const char *want)
{
    char *sorted = NULL;
    CHECK_OK(lines_sorted(text, bytes, &sorted));
    CHECK(memcmp(sorted, want, bytes) == 0);
    free(sorted);
}

TEST(sorted)
{
    check_sorted("", 0, "");
    check_sorted("\n", 1, "\n");
    check_sorted("b\na\n", 4, "a\nb\n");
    check_sorted("ab\na\n\nabc\n", 10, "\na\nab\nabc\n");
    check_sorted("\xff\n\x7f\n", 4, "\x7f\n\xff\n");
    check_sorted("\0\0\n\0\nA\n", 7, "\0\n\0\0\nA\n");
}

TEST(next)
{
    static const char text[] = "ab\n\ncd\n";
    static const size_t want[] = {0, 3, 3, 3, 4, 7, 7, 7};
    for (size_t i = 0; i < 8; i++)
        CHECK_INT(lines_next(text, 7, i), (long long)want[i]);
    CHECK_INT(lines_next(text, 0, 0), 0);
}

TEST(read)
{
    char name[] = "/tmp/cohort-lines-XXXXXX";
    int fd = mkstemp(name);
    char *text = NULL;
    size_t bytes = 77;
    CHECK(fd >= 0);
    CHECK_OK(lines_read(name, &text, &bytes));
    CHECK_INT(bytes, 0);
    free(text);
    CHECK(write(fd, "a\nb", 3) == 3);
    CHECK_OK(lines_read(name, &text, &bytes));
    CHECK(bytes == 4 && memcmp(text, "a\nb\n", 4) == 0);
    free(text);
    close(fd);
    CHECK(unlink(name) == 0);
    CHECK_FAILS(lines_read(name, &text, &bytes), COHORT_ERR_SYSTEM,
                ": cannot read: No such file or directory");
    CHECK_INT(lines_read("/", &text, &bytes), COHORT_ERR_BAD_PARAMETER);
    CHECK_TEXT(cohort_error_message(), "/: cannot read: a directory");
}
