/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/intake.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/loop.h"
#include "tests/support/test.h"

struct collected {
    struct cohort__intake *intake;
    char text[256];
    size_t bytes;
    unsigned num_ended;
    size_t allow; /* how much more to allow after each piece */
};

static void arrived(void *context, const void *data, size_t bytes)
{
    struct collected *collected = context;
    CHECK(collected->bytes + bytes < sizeof(collected->text));
    memcpy(collected->text + collected->bytes, data, bytes);
    collected->bytes += bytes;
    cohort__intake_allow(collected->intake, collected->allow);
}

static void ended(void *context)
{
    ((struct collected *)context)->num_ended++;
}

static struct cohort__loop *open_intake(struct collected *collected, int fd)
{
    struct cohort__loop *loop;
    struct cohort__intake_handlers handlers = {collected, arrived, ended};
    memset(collected, 0, sizeof(*collected));
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_OK(cohort__intake_open(&collected->intake, loop, fd, &handlers));
    return loop;
}

static void close_intake(struct collected *collected, struct cohort__loop *loop)
{
    cohort__intake_close(collected->intake);
    cohort__loop_destroy(loop);
}

/* Turns the loop more often than necessary, since polling alone may check nothing for a while. */
static void turn(struct cohort__loop *loop)
{
    for (int i = 0; i < 10; i++) {
        cohort__loop_wake(loop);
        cohort__loop_park(loop);
    }
}

TEST(pipe)
{
    struct collected collected;
    int fds[2];
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    struct cohort__loop *loop = open_intake(&collected, fds[0]);
    CHECK(write(fds[1], "0123456789", 10) == 10);
    turn(loop);
    CHECK_INT((long long)collected.bytes, 0); /* nothing was allowed */
    cohort__intake_allow(collected.intake, 4);
    PARK_WHILE(loop, collected.bytes < 4);
    turn(loop);
    CHECK_TEXT(collected.text, "0123");
    close(fds[1]);
    cohort__intake_allow(collected.intake, 100);
    PARK_WHILE(loop, !collected.num_ended);
    CHECK_TEXT(collected.text, "0123456789");
    cohort__intake_allow(collected.intake, 100);
    turn(loop);
    CHECK_INT(collected.num_ended, 1);
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    close_intake(&collected, loop);
    close(fds[0]);
}

TEST(file)
{
    struct collected collected;
    FILE *file = tmpfile();
    CHECK(file && fputs("a file can't be polled", file) >= 0 && fflush(file) == 0);
    CHECK(lseek(fileno(file), 0, SEEK_SET) == 0);
    struct cohort__loop *loop = open_intake(&collected, fileno(file));
    collected.allow = 3;
    cohort__intake_allow(collected.intake, 3);
    PARK_WHILE(loop, !collected.num_ended);
    CHECK_TEXT(collected.text, "a file can't be polled");
    close_intake(&collected, loop);
    fclose(file);
}

/* Closed while there is data to read. */
TEST(closed)
{
    struct collected collected;
    int fds[2];
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    struct cohort__loop *loop = open_intake(&collected, fds[0]);
    CHECK(write(fds[1], "x", 1) == 1);
    cohort__intake_allow(collected.intake, 1);
    cohort__intake_close(collected.intake);
    cohort__intake_close(NULL);
    turn(loop);
    CHECK_INT((long long)collected.bytes, 0);
    cohort__loop_destroy(loop);
    close(fds[0]);
    close(fds[1]);
}
