/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/runtime/io/names.h"
#include "tests/unit/runtime/io/run_io.h"

/* A port at which nobody listens. */
static uint16_t free_port(void)
{
    cohort_tcp_listener *listener;
    CHECK_OK(cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener)));
    uint16_t port = cohort_tcp_listener_port(listener);
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    cohort_tcp_listener_unref(listener);
    return port;
}

/* --- names --- */

/* The first address refuses, the second one does not. */
static cohort_status names(void *arg)
{
    static const char *const hosts[] = {"two.test", "one.test", "127.0.0.1"};
    cohort_tcp_listener *listener;
    CHECK_OK(cohort_await(cohort_tcp_listen("127.0.0.1", 0, &listener)));
    for (int i = 0; i < 3; i++) {
        cohort_tcp *tcp, *accepted;
        cohort_future *accept = cohort_tcp_accept(listener, &accepted);
        uint16_t port = cohort_tcp_listener_port(listener);
        CHECK_OK(cohort_await(cohort_tcp_connect(hosts[i], port, &tcp)));
        CHECK_TEXT(cohort_tcp_peer(tcp), cohort_tcp_listener_address(listener));
        CHECK_OK(cohort_await(accept));
        cohort_tcp_unref(tcp);
        cohort_tcp_unref(accepted);
    }
    cohort_tcp_listener_unref(listener);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(names, run_io(names))

/* --- what goes wrong --- */

static cohort_status wrong_calls(void *arg)
{
    char text[100], name[400];
    cohort_tcp *tcp = (void *)&wrong_calls;
    uint16_t port = free_port();
    check_fails(cohort_tcp_connect(NULL, 1, &tcp), COHORT_ERR_BAD_PARAMETER,
                "cohort_tcp_connect: host is NULL");
    check_fails(cohort_tcp_connect("::1", 1, NULL), COHORT_ERR_BAD_PARAMETER, "ret_tcp is NULL");
    check_fails(cohort_tcp_connect("none.test", 80, &tcp), COHORT_ERR_SYSTEM,
                "cohort_tcp_connect: none.test:80: unknown node or service (EAI_NONAME)");
    snprintf(text, sizeof(text), "connect: 127.0.0.1:%d: connection refused (ECONNREFUSED)", port);
    check_fails(cohort_tcp_connect("127.0.0.1", port, &tcp), COHORT_ERR_SYSTEM, text);
    snprintf(text, sizeof(text), "two.test:%d (127.0.0.1:%d): connection refused", port, port);
    check_fails(cohort_tcp_connect("two.test", port, &tcp), COHORT_ERR_SYSTEM, text);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    check_fails(cohort_tcp_connect(name, 80, &tcp), COHORT_ERR_SYSTEM, "aaaa:80: ");
    CHECK(tcp == (void *)&wrong_calls);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(wrong_calls, run_io(wrong_calls))

/* --- one that nobody answers --- */

/* The system answers no more than a few when nobody accepts them. */
enum { NUM_FILLERS = 8 };
static struct {
    int listener, fillers[NUM_FILLERS];
    struct sockaddr_in address;
} deaf;

static void deaf_open(void)
{
    socklen_t bytes = sizeof(deaf.address);
    deaf.address = (struct sockaddr_in){.sin_family = AF_INET};
    deaf.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    deaf.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(deaf.listener >= 0);
    CHECK_INT(bind(deaf.listener, (struct sockaddr *)&deaf.address, bytes), 0);
    CHECK_INT(listen(deaf.listener, 0), 0);
    CHECK_INT(getsockname(deaf.listener, (struct sockaddr *)&deaf.address, &bytes), 0);
    for (int i = 0; i < NUM_FILLERS; i++) {
        deaf.fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(deaf.fillers[i], (struct sockaddr *)&deaf.address, bytes);
    }
}

static void deaf_close(void)
{
    for (int i = 0; i < NUM_FILLERS; i++)
        close(deaf.fillers[i]);
    close(deaf.listener);
}

static cohort_future *call_connect(void *ret_tcp)
{
    return cohort_tcp_connect("127.0.0.1", ntohs(deaf.address.sin_port), ret_tcp);
}

static cohort_future *call_slow(void *ret_tcp)
{
    return cohort_tcp_connect("slow.test", 80, ret_tcp);
}

static int first_free_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

TEST_TASK(cancel, run_io(task))
{
    cohort_tcp *tcp = NULL;
    deaf_open();
    check_cancel(call_connect, &tcp, NULL); /* with libuv's first connection it opens a reserve */
    int before = first_free_descriptor();
    check_cancel(call_connect, &tcp, NULL);
    CHECK_INT(first_free_descriptor(), before);
    deaf_close();
    check_cancel(call_slow, &tcp, wait_for_asking); /* while the name is looked up */
    let_name_be_found();
    CHECK(!tcp);
}

static struct {
    cohort_future *connect, *slow;
    cohort_tcp *tcp;
    struct at_end at_end;
} left;

static cohort_status leave(void *arg)
{
    left.connect = call_connect(&left.tcp);
    left.slow = call_slow(&left.tcp);
    let_begin();
    wait_for_asking();
    at_end_start(&left.at_end, left.slow, let_name_be_found);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(end)
{
    deaf_open();
    run_io_with(1, false, leave);
    at_end_join(&left.at_end);
    CHECK_TEXT(logged, ""); /* the program has got nothing that it could close */
    check_fails(left.connect, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.slow, COHORT_ERR_CANCELLED, "slow.test:80: the runtime has ended before");
    CHECK(!left.tcp);
    deaf_close();
    check_fails(cohort_tcp_connect("127.0.0.1", 1, &left.tcp), COHORT_ERR_STATE,
                "cohort_tcp_connect: ");
}

int main(int argc, char **argv)
{
    sem_init(&name_is_asked_for, 0, 0);
    sem_init(&name_may_be_found, 0, 0);
    return tests_run(argc, argv);
}
