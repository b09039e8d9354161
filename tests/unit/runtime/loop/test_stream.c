/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/stream.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/loop/loop.h"
#include "tests/support/test.h"

enum { MAX_MESSAGE = 1 << 20, NUM_MESSAGES = 2000 };

/* One end. It expects messages number 0, 1, ... with the lengths of check_message. */
struct end {
    struct cohort__stream *stream;
    unsigned received;
    unsigned close_after; /* messages; 0: never */
    unsigned num_ended;
    cohort_status status;
    char text[128];
};

static size_t bytes_of(unsigned number)
{
    return number % 97 == 0 ? 200000 + number : number % 61;
}

static void message(void *context, const void *data, size_t bytes)
{
    struct end *end = context;
    CHECK_INT((long long)bytes, (long long)bytes_of(end->received));
    for (size_t i = 0; i < bytes; i++)
        CHECK(((const unsigned char *)data)[i] == (unsigned char)(end->received + i));
    if (++end->received == end->close_after) {
        cohort__stream_close(end->stream);
        end->stream = NULL;
    }
}

static void ended(void *context, cohort_status status)
{
    struct end *end = context;
    end->num_ended++;
    end->status = status;
    if (status)
        strncpy(end->text, cohort_error_message(), sizeof(end->text) - 1);
}

static void open_end(struct end *end, struct cohort__loop *loop, int fd, size_t max_message)
{
    struct cohort__stream_handlers handlers = {end, message, ended};
    CHECK_OK(cohort__stream_open(&end->stream, loop, fd, "the peer", max_message, &handlers));
}

static void send_number(struct end *end, unsigned number)
{
    static unsigned char data[MAX_MESSAGE];
    size_t bytes = bytes_of(number);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(number + i);
    CHECK_OK(cohort__stream_send(end->stream, data, bytes));
}

static struct cohort__loop *create(int fds[2])
{
    struct cohort__loop *loop;
    CHECK_OK(cohort__loop_create(&loop));
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    return loop;
}

static void exchange(bool clear)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end left = {0}, right = {0};
    open_end(&left, loop, fds[0], MAX_MESSAGE);
    open_end(&right, loop, fds[1], MAX_MESSAGE);
    for (int i = 0; clear && i < 2; i++)
        CHECK_INT(fcntl(fds[i], F_SETFL, 0), 0);
    for (unsigned i = 0; i < NUM_MESSAGES; i++) {
        send_number(&left, i);
        send_number(&right, i);
    }
    PARK_WHILE(loop, left.received < NUM_MESSAGES || right.received < NUM_MESSAGES);
    cohort__stream_close(left.stream);
    PARK_WHILE(loop, right.num_ended == 0);
    CHECK_OK(right.status);
    CHECK_INT(left.num_ended, 0);
    cohort__stream_close(right.stream);
    cohort__loop_destroy(loop);
}

TEST_CALL(messages, exchange(false))

/* As whoever has inherited the sockets can. Long messages fill what is read, and what the sockets
 * take, to the brim. */
TEST_CALL(flag_cleared, exchange(true))

TEST(close_in_handler)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end left = {0}, right = {.close_after = 3};
    open_end(&left, loop, fds[0], MAX_MESSAGE);
    open_end(&right, loop, fds[1], MAX_MESSAGE);
    for (unsigned i = 1; i < 40; i++)
        send_number(&left, i);
    right.received = 1;
    PARK_WHILE(loop, left.num_ended == 0);
    CHECK_INT(right.received, 3);
    CHECK_INT(right.num_ended, 0);
    cohort__stream_close(left.stream);
    cohort__loop_destroy(loop);
}

/* Called instead of the real function (--wrap). */
void *__real_realloc(void *memory, size_t bytes);
static bool has_no_memory;

void *__wrap_realloc(void *memory, size_t bytes)
{
    return has_no_memory ? NULL : __real_realloc(memory, bytes);
}

TEST(no_memory)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end left = {0}, right = {0};
    open_end(&left, loop, fds[0], MAX_MESSAGE);
    open_end(&right, loop, fds[1], MAX_MESSAGE);
    has_no_memory = true;
    send_number(&left, 0);
    PARK_WHILE(loop, right.num_ended == 0);
    has_no_memory = false;
    CHECK_INT(right.status, COHORT_ERR_NO_MEMORY);
    CHECK_TEXT(right.text, "connection to the peer: out of memory");
    cohort__stream_close(left.stream);
    cohort__stream_close(right.stream);
    cohort__loop_destroy(loop);
}

static void write_all(int fd, const void *data, size_t bytes)
{
    CHECK(write(fd, data, bytes) == (ssize_t)bytes);
}

TEST(too_long)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end end = {.received = 1};
    open_end(&end, loop, fds[0], 100);
    write_all(fds[1], "\x01\x00\x00\x00\x01\xff\xff\xff\xff", 9);
    PARK_WHILE(loop, end.num_ended == 0);
    CHECK_INT(end.received, 2);
    CHECK_INT(end.status, COHORT_ERR_PROTOCOL);
    CHECK_TEXT(end.text, "the peer sent a message of 4294967295 bytes, where 100 are allowed");
    cohort__stream_close(end.stream);
    close(fds[1]);
    cohort__loop_destroy(loop);
}

/* A message that arrives byte by byte, and then one that is never complete. */
TEST(pieces)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end end = {.received = 2};
    open_end(&end, loop, fds[0], 100);
    static const char pieces[] = "\x02\x00\x00\x00\x02\x03";
    for (int i = 0; i < 6; i++) {
        write_all(fds[1], &pieces[i], 1);
        cohort__loop_park(loop);
    }
    CHECK_INT(end.received, 3);
    write_all(fds[1], "\x02\x00", 2);
    close(fds[1]);
    PARK_WHILE(loop, end.num_ended == 0);
    CHECK_INT(end.status, COHORT_ERR_PROTOCOL);
    CHECK_TEXT(end.text, "the peer ended within a message");
    cohort__stream_close(end.stream);
    cohort__loop_destroy(loop);
}

TEST(write_to_closed)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end end = {0};
    open_end(&end, loop, fds[0], 100);
    close(fds[1]);
    send_number(&end, 5);
    PARK_WHILE(loop, end.num_ended == 0);
    send_number(&end, 6); /* nothing happens */
    cohort__loop_poll(loop);
    CHECK_INT(end.num_ended, 1);
    cohort__stream_close(end.stream);
    cohort__loop_destroy(loop);
}

TEST(close_with_queue)
{
    int fds[2];
    struct cohort__loop *loop = create(fds);
    struct end end = {0};
    open_end(&end, loop, fds[0], 100);
    for (int i = 0; i < 100; i++)
        send_number(&end, 97);
    cohort__stream_close(end.stream);
    cohort__loop_destroy(loop);
    CHECK_INT(end.num_ended, 0);
    close(fds[1]);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    return tests_run(argc, argv);
}
