/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/counters.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/ledger.h"
#include "tests/support/test.h"

static char folder[] = "/tmp/cohort-test-XXXXXX";
static char file[64];

TEST(names)
{
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++) {
        CHECK(cohort__counter_name(i));
        for (unsigned j = 0; j < i; j++)
            CHECK(strcmp(cohort__counter_name(i), cohort__counter_name(j)) != 0);
    }
    CHECK_TEXT(cohort__counter_name(COHORT__NUM_COUNTERS - 1), "ended_check");
}

TEST(line)
{
    static struct cohort__counters_line line;
    struct cohort__counters in = {.at = 5, .rank = 3}, out;
    for (unsigned i = 0; i < COHORT__NUM_COUNTERS; i++)
        in.of[i] = i * i + 1;
    cohort__counters_publish(&in, &line);
    cohort__counters_take(&out, &line);
    CHECK_INT(out.at, 5);
    CHECK_INT(out.rank, 3);
    CHECK_INT(memcmp(in.of, out.of, sizeof(in.of)), 0);
    CHECK_INT(cohort__ledger_stride(COHORT__LEDGER_COUNTERS) % 64, 0);
}

/* The longest line fits. */
TEST(json)
{
    char text[COHORT__COUNTERS_JSON_BYTES];
    struct cohort__counters counters = {.at = UINT64_C(1700000000012345678), .rank = 3};
    counters.of[0] = 7;
    size_t bytes = cohort__counters_json(text, &counters);
    CHECK_INT(bytes, strlen(text));
    CHECK_CONTAINS(text,
                   "{\"time\":1700000000.012,\"locality\":3,\"tasks_started\":7,\"tasks_ended\""
                   ":0,");
    memset(&counters, 0xff, sizeof(counters));
    bytes = cohort__counters_json(text, &counters);
    CHECK_TEXT(text + bytes - 36, "\"ended_check\":18446744073709551615}\n");
    CHECK(bytes < sizeof(text) - 1);
}

TEST(file)
{
    int fd, again;
    char text[2 * COHORT__COUNTERS_JSON_BYTES] = "";
    const struct cohort__counters counters = {.at = 1};
    CHECK_OK(cohort__counters_open(file, &fd));
    CHECK_OK(cohort__counters_open(file, &again));
    CHECK(cohort__counters_append(fd, &counters));
    CHECK(cohort__counters_append(again, &counters));
    CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    close(again);
    fd = open(file, O_RDONLY);
    ssize_t bytes = read(fd, text, sizeof(text) - 1);
    close(fd);
    CHECK_INT(bytes % 2, 0);
    CHECK_INT(memcmp(text, text + bytes / 2, (size_t)bytes / 2), 0);
    CHECK_OK(cohort__counters_open("/dev/full", &fd));
    CHECK(!cohort__counters_append(fd, &counters));
    CHECK_INT(errno, ENOSPC);
    close(fd);
}

TEST(refused)
{
    char pipe_name[80];
    int fd = 77;
    CHECK_INT(cohort__counters_open("/nowhere/at/all", &fd), COHORT_ERR_SYSTEM);
    CHECK_TEXT(cohort_error_message(), "environment variable COHORT_STATS: /nowhere/at/all can't "
                                       "be written: No such file or directory");
    CHECK_FAILS(cohort__counters_open(folder, &fd), COHORT_ERR_SYSTEM, "Is a directory");
    snprintf(pipe_name, sizeof(pipe_name), "%s/pipe", folder);
    CHECK_INT(mkfifo(pipe_name, 0600), 0);
    int reader = open(pipe_name, O_RDONLY | O_NONBLOCK);
    CHECK_FAILS(cohort__counters_open(pipe_name, &fd), COHORT_ERR_SYSTEM, "it is no regular file");
    close(reader);
    CHECK_INT(cohort__counters_open(pipe_name, &fd), COHORT_ERR_SYSTEM); /* and does not block */
    CHECK_INT(fd, 77);
    unlink(pipe_name);
}

static void print(char *text, size_t bytes, const struct cohort__counters *counters, uint32_t num)
{
    FILE *to = fmemopen(text, bytes, "w");
    CHECK(to);
    cohort__counters_print(to, counters, num);
    fclose(to);
}

TEST(table)
{
    char text[2000];
    const struct cohort__counters counters[] = {
        {.rank = 4, .of = {5, 0, 1}}, {.rank = 5, .of = {3, 0, 0}}, {.rank = 6, .of = {5, 0, 2}}};
    print(text, sizeof(text), counters, 3);
    CHECK_TEXT(text, "  counter                                 sum                least (at)"
                     "                 most (at)\n"
                     "  tasks_started                            13                    3 (5)"
                     "                    5 (4)\n"
                     "  tasks_in_place                            3                    0 (5)"
                     "                    2 (6)\n");
    print(text, sizeof(text), counters, 1);
    CHECK_TEXT(text, "  counter                                 sum\n"
                     "  tasks_started                             5\n"
                     "  tasks_in_place                            1\n");
}

int main(int argc, char **argv)
{
    CHECK(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/stats", folder);
    int status = tests_run(argc, argv);
    unlink(file);
    rmdir(folder);
    return status;
}
