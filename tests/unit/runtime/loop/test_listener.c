/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/loop/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/loop.h"
#include "tests/support/test.h"

struct door {
    struct cohort__listener *listener;
    int fds[8];
    unsigned num;
    unsigned close_after;
};

static void accepted(void *context, int fd)
{
    struct door *door = context;
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    door->fds[door->num++] = fd;
    if (door->num == door->close_after)
        cohort__listener_close(door->listener);
}

static int listen_here(struct sockaddr_in *ret_name)
{
    socklen_t bytes = sizeof(*ret_name);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *ret_name =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK_INT(bind(fd, (struct sockaddr *)ret_name, bytes), 0);
    CHECK_INT(listen(fd, 8), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)ret_name, &bytes), 0);
    return fd;
}

static int connect_to(const struct sockaddr_in *name)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)name, sizeof(*name)) == 0)
        return fd;
    close(fd);
    return -1;
}

TEST(accepts)
{
    struct cohort__loop *loop;
    struct sockaddr_in name;
    struct door door = {.close_after = 3};
    int clients[5];
    char byte = 0;
    CHECK_OK(cohort__loop_create(&loop));
    int fd = listen_here(&name);
    CHECK_OK(cohort__listener_open(&door.listener, loop, fd, accepted, &door));
    for (int i = 0; i < 5; i++)
        CHECK((clients[i] = connect_to(&name)) >= 0);
    PARK_WHILE(loop, door.num < 3);
    for (int i = 0; i < 1000; i++)
        cohort__loop_poll(loop);
    CHECK_INT(door.num, 3); /* it was closed during the third */
    CHECK_INT(connect_to(&name), -1);
    for (unsigned i = 0; i < door.num; i++) {
        CHECK(write(door.fds[i], "x", 1) == 1);
        close(door.fds[i]);
    }
    for (unsigned i = 0; i < 5; i++) { /* clients that were not accepted notice that */
        CHECK((read(clients[i], &byte, 1) == 1) == (i < 3));
        close(clients[i]);
    }
    cohort__listener_close(NULL);
    cohort__loop_destroy(loop);
}

/* The system's accept4. The test can make it run out of descriptors. */
static bool is_full;
static uint64_t num_refused;

int __real_accept4(int fd, struct sockaddr *name, socklen_t *bytes, int flags);

int __wrap_accept4(int fd, struct sockaddr *name, socklen_t *bytes, int flags)
{
    if (!is_full)
        return __real_accept4(fd, name, bytes, flags);
    num_refused++;
    errno = EMFILE;
    return -1;
}

/* A client that can't be accepted does not keep the loop busy, and is accepted later. */
TEST(without_descriptors)
{
    struct cohort__loop *loop;
    struct sockaddr_in name;
    struct door door = {0};
    CHECK_OK(cohort__loop_create(&loop));
    int fd = listen_here(&name);
    CHECK_OK(cohort__listener_open(&door.listener, loop, fd, accepted, &door));
    int client = connect_to(&name);
    CHECK(client >= 0);
    is_full = true;
    uint64_t start = cohort__clock_now();
    PARK_WHILE(loop, num_refused == 0);
    for (int i = 0; i < 1000; i++)
        cohort__loop_poll(loop);
    CHECK(num_refused <= 1 + (cohort__clock_now() - start) / 100000000);
    is_full = false;
    PARK_WHILE(loop, door.num < 1);
    close(door.fds[0]);
    close(client);
    is_full = true; /* and closed during a pause */
    client = connect_to(&name);
    num_refused = 0;
    PARK_WHILE(loop, num_refused == 0);
    cohort__listener_close(door.listener);
    cohort__loop_destroy(loop);
    close(client);
}
