/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/loop/lines.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/outlet.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

static struct cohort__loop *create(int fds[2])
{
    struct cohort__loop *loop;
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    return loop;
}

struct collected {
    struct cohort__lines *lines;
    char text[4 * COHORT__LINES_MAX_PIECE];
    size_t bytes;
    unsigned num_pieces;
    unsigned num_ended;
    bool pause; /* after each piece */
};

static void piece(void *context, const char *text, size_t bytes)
{
    struct collected *collected = context;
    CHECK(bytes > 0 && bytes <= COHORT__LINES_MAX_PIECE);
    CHECK(!memchr(text, '\n', bytes - 1));
    CHECK(collected->bytes + bytes <= sizeof(collected->text));
    memcpy(collected->text + collected->bytes, text, bytes);
    collected->bytes += bytes;
    collected->num_pieces++;
    if (collected->pause)
        cohort__lines_pause(collected->lines, true);
}

static void lines_ended(void *context)
{
    struct collected *collected = context;
    collected->num_ended++;
}

static void open_lines(struct collected *collected, struct cohort__loop *loop, int fd)
{
    struct cohort__lines_handlers handlers = {collected, piece, lines_ended};
    memset(collected, 0, sizeof(*collected));
    CHECK_OK(cohort__lines_open(&collected->lines, loop, fd, &handlers));
}

TEST(lines)
{
    static struct collected collected;
    int fds[2];
    struct cohort__loop *loop = create(fds);
    open_lines(&collected, loop, fds[0]);
    CHECK(write(fds[1], "one\ntwo\n\nfo", 11) == 11);
    PARK_WHILE(loop, collected.num_pieces < 3);
    CHECK(write(fds[1], "ur\nlast", 7) == 7);
    close(fds[1]);
    PARK_WHILE(loop, !collected.num_ended);
    CHECK_INT(collected.num_pieces, 5);
    CHECK_TEXT(collected.text, "one\ntwo\n\nfour\nlast");
    cohort__lines_close(collected.lines);
    cohort__loop_destroy(loop);
}

/* Without a pipe: data that is fed is handed out in the same way, and no more is kept than there is
 * room for. */
TEST(fed_lines)
{
    static struct collected collected;
    static char block[COHORT__LINES_MAX_PIECE];
    struct cohort__loop *loop;
    struct cohort__lines_handlers handlers = {&collected, piece, lines_ended};
    memset(&collected, 0, sizeof(collected));
    memset(block, 'x', sizeof(block));
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_OK(cohort__lines_create(&collected.lines, loop, &handlers));
    CHECK(cohort__lines_feed(collected.lines, "one\ntw", 6));
    CHECK_INT(collected.num_pieces, 1);
    CHECK(cohort__lines_feed(collected.lines, "o\n", 2));
    CHECK_TEXT(collected.text, "one\ntwo\n");
    cohort__lines_pause(collected.lines, true);
    CHECK(cohort__lines_feed(collected.lines, block, sizeof(block) - 1));
    CHECK(!cohort__lines_feed(collected.lines, "ab", 2));
    CHECK(cohort__lines_feed(collected.lines, "\n", 1));
    cohort__lines_feed_end(collected.lines);
    CHECK(!cohort__lines_feed(collected.lines, "", 0)); /* after the end */
    CHECK_INT(collected.num_pieces, 2);
    cohort__lines_pause(collected.lines, false);
    PARK_WHILE(loop, !collected.num_ended);
    CHECK_INT(collected.num_pieces, 3);
    CHECK_INT((long long)collected.bytes, 8 + (long long)sizeof(block));
    cohort__lines_close(collected.lines);
    cohort__loop_destroy(loop);
}

static void *write_long_line(void *arg)
{
    static char block[COHORT__LINES_MAX_PIECE * 5 / 2];
    memset(block, 'x', sizeof(block));
    block[sizeof(block) - 1] = '\n';
    int fd = *(int *)arg;
    for (size_t done = 0; done < sizeof(block);) {
        ssize_t written = write(fd, block + done, sizeof(block) - done);
        CHECK(written > 0);
        done += (size_t)written;
    }
    CHECK(write(fd, "end\n", 4) == 4);
    close(fd);
    return NULL;
}

/* In pieces, with a pause after each. Data that is in the buffer also comes after the pause. */
TEST(long_line_paused)
{
    static struct collected collected;
    int fds[2];
    struct cohort__loop *loop = create(fds);
    open_lines(&collected, loop, fds[0]);
    collected.pause = true;
    pthread_t thread = new_thread(write_long_line, &fds[1]);
    while (!collected.num_ended) {
        unsigned before = collected.num_pieces;
        cohort__loop_park(loop);
        CHECK(collected.num_pieces <= before + 1);
        cohort__lines_pause(collected.lines, false);
    }
    end_thread(thread);
    CHECK_INT(collected.num_pieces, 4);
    CHECK_INT((long long)collected.bytes, COHORT__LINES_MAX_PIECE * 5 / 2 + 4);
    CHECK(memcmp(collected.text + collected.bytes - 6, "x\nend\n", 6) == 0);
    cohort__lines_close(collected.lines);
    cohort__loop_destroy(loop);
}

struct written {
    unsigned num_drained;
    int error;
};

static void drained(void *context)
{
    ((struct written *)context)->num_drained++;
}

static void failed(void *context, int error)
{
    struct written *written = context;
    CHECK_INT(written->error, 0);
    written->error = error;
}

static struct cohort__outlet *open_outlet(struct written *written, struct cohort__loop *loop,
                                          int fd)
{
    struct cohort__outlet *outlet;
    struct cohort__outlet_handlers handlers = {written, drained, failed};
    *written = (struct written){0};
    CHECK_OK(cohort__outlet_create(&outlet, loop, fd, &handlers));
    return outlet;
}

enum { NUM_BLOCKS = 300, BLOCK = 9973 };

static void *read_slowly(void *arg)
{
    int fd = *(int *)arg;
    size_t total = 0;
    unsigned char buffer[1500];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t i = 0; i < got; i++, total++)
            CHECK(buffer[i] == (unsigned char)(total % 251));
    CHECK_INT((long long)total, (long long)NUM_BLOCKS * BLOCK);
    return NULL;
}

TEST(outlet_pipe)
{
    int fds[2];
    struct written written;
    struct cohort__loop *loop = create(fds);
    struct cohort__outlet *outlet = open_outlet(&written, loop, fds[1]);
    static unsigned char block[BLOCK];
    size_t total = 0;
    for (int i = 0; i < NUM_BLOCKS; i++) {
        for (size_t k = 0; k < BLOCK; k++)
            block[k] = (unsigned char)(total++ % 251);
        cohort__outlet_write(outlet, block, BLOCK); /* no reader: must not block */
    }
    CHECK(cohort__outlet_queued(outlet) > 0);
    CHECK((fcntl(fds[1], F_GETFL) & O_NONBLOCK) == 0);
    pthread_t thread = new_thread(read_slowly, &fds[0]);
    PARK_WHILE(loop, written.num_drained == 0);
    CHECK_INT((long long)cohort__outlet_queued(outlet), 0);
    cohort__outlet_destroy(outlet);
    close(fds[1]);
    end_thread(thread);
    close(fds[0]);
    CHECK_INT(written.error, 0);
    cohort__loop_destroy(loop);
}

TEST(outlet_broken)
{
    int fds[2];
    struct written written;
    struct cohort__loop *loop = create(fds);
    struct cohort__outlet *outlet = open_outlet(&written, loop, fds[1]);
    close(fds[0]);
    cohort__outlet_write(outlet, "x", 1);
    PARK_WHILE(loop, !written.error);
    CHECK_INT(written.error, EPIPE);
    cohort__outlet_write(outlet, "x", 1);
    CHECK_INT((long long)cohort__outlet_queued(outlet), 0);
    cohort__loop_poll(loop);
    cohort__outlet_destroy(outlet);
    close(fds[1]);
    cohort__loop_destroy(loop);
}

/* The reader closes while much data is queued. */
TEST(outlet_broken_later)
{
    int fds[2];
    struct written written;
    struct cohort__loop *loop = create(fds);
    struct cohort__outlet *outlet = open_outlet(&written, loop, fds[1]);
    static char block[1 << 20];
    cohort__outlet_write(outlet, block, sizeof(block));
    CHECK(cohort__outlet_queued(outlet) > 0);
    close(fds[0]);
    PARK_WHILE(loop, !written.error);
    CHECK_INT(written.error, EPIPE);
    CHECK_INT((long long)cohort__outlet_queued(outlet), 0);
    cohort__outlet_destroy(outlet);
    close(fds[1]);
    cohort__loop_destroy(loop);
}

TEST(outlet_file)
{
    int fds[2];
    char name[] = "/tmp/cohort-test-XXXXXX";
    struct written written;
    struct cohort__loop *loop = create(fds);
    int fd = mkstemp(name);
    CHECK(fd >= 0 && unlink(name) == 0);
    struct cohort__outlet *outlet = open_outlet(&written, loop, fd);
    static char block[1 << 20];
    cohort__outlet_write(outlet, block, sizeof(block));
    cohort__outlet_write(outlet, "x", 1);
    CHECK_INT((long long)cohort__outlet_queued(outlet), 1); /* there was much left */
    PARK_WHILE(loop, written.num_drained == 0);
    CHECK_INT((long long)lseek(fd, 0, SEEK_END), sizeof(block) + 1);
    cohort__outlet_destroy(outlet);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    outlet = open_outlet(&written, loop, full);
    cohort__outlet_write(outlet, "x", 1);
    PARK_WHILE(loop, !written.error);
    CHECK_INT(written.error, ENOSPC);
    cohort__outlet_destroy(outlet);
    cohort__loop_destroy(loop);
    close(full);
    close(fd);
    close(fds[0]);
    close(fds[1]);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    return tests_run(argc, argv);
}
