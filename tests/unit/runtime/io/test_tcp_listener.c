/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/await_within.h"
#include "tests/unit/runtime/io/names.h"
#include "tests/unit/runtime/io/run_io.h"

/* With which error the next accept4 fails, or 0. */
static atomic_int next_error;

__attribute__((visibility("default"))) int accept4(int fd, struct sockaddr *address,
                                                   socklen_t *bytes, int flags)
{
    static int (*real)(int, struct sockaddr *, socklen_t *, int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "accept4");
    errno = atomic_exchange(&next_error, 0);
    return errno ? -1 : real(fd, address, bytes, flags);
}

static cohort_tcp_listener *listen_at(const char *host, uint16_t port)
{
    cohort_tcp_listener *listener;
    CHECK_OK(cohort_await(cohort_tcp_listen(host, port, &listener)));
    return listener;
}

static cohort_tcp *connect_to(const char *host, const cohort_tcp_listener *listener)
{
    cohort_tcp *tcp;
    CHECK_OK(cohort_await(cohort_tcp_connect(host, cohort_tcp_listener_port(listener), &tcp)));
    return tcp;
}

static cohort_tcp *accept_from(cohort_tcp_listener *listener)
{
    cohort_tcp *tcp;
    CHECK_OK(cohort_await(cohort_tcp_accept(listener, &tcp)));
    return tcp;
}

/* --- addresses --- */

static cohort_status addresses(void *arg)
{
    char text[100];
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    snprintf(text, sizeof(text), "127.0.0.1:%d", cohort_tcp_listener_port(listener));
    CHECK(cohort_tcp_listener_port(listener) > 0);
    CHECK_TEXT(cohort_tcp_listener_address(listener), text);
    cohort_tcp *tcp = connect_to("127.0.0.1", listener);
    CHECK_TEXT(cohort_tcp_peer(tcp), text);
    cohort_tcp *accepted = accept_from(listener);
    CHECK_CONTAINS(cohort_tcp_peer(accepted), "127.0.0.1:");
    cohort_tcp_unref(tcp);
    cohort_tcp_unref(accepted);
    cohort_tcp_listener_unref(listener);

    listener = listen_at("::1", 0);
    snprintf(text, sizeof(text), "[::1]:%d", cohort_tcp_listener_port(listener));
    CHECK_TEXT(cohort_tcp_listener_address(listener), text);
    tcp = connect_to("::1", listener);
    CHECK_TEXT(cohort_tcp_peer(tcp), text);
    cohort_tcp_unref(tcp);
    cohort_tcp_listener_unref(listener);

    listener = listen_at(NULL, 0); /* both */
    CHECK_CONTAINS(cohort_tcp_listener_address(listener), "[::]:");
    cohort_tcp_unref(connect_to("::1", listener));
    cohort_tcp_unref(connect_to("127.0.0.1", listener));
    cohort_tcp_unref(accept_from(listener));
    accepted = accept_from(listener);
    CHECK_CONTAINS(cohort_tcp_peer(accepted), "127.0.0.1");
    cohort_tcp_unref(accepted);
    cohort_tcp_listener_unref(listener);

    listener = listen_at("two.test", 0);
    CHECK_CONTAINS(cohort_tcp_listener_address(listener), "[::1]:");
    cohort_tcp_listener_unref(listener);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(addresses, run_io(addresses))

/* --- what goes wrong --- */

static cohort_status wrong_calls(void *arg)
{
    cohort_tcp_listener *listener = (void *)&wrong_calls, *as_before = listener;
    cohort_tcp *tcp = (void *)&wrong_calls;
    check_fails(cohort_tcp_listen("127.0.0.1", 0, NULL), COHORT_ERR_BAD_PARAMETER,
                "cohort_tcp_listen: ret_listener is NULL");
    check_fails(cohort_tcp_accept(NULL, &tcp), COHORT_ERR_BAD_PARAMETER, "listener is NULL");
    check_fails(cohort_tcp_listener_close(NULL), COHORT_ERR_BAD_PARAMETER, "listener is NULL");
    check_fails(cohort_tcp_listen("none.test", 80, &listener), COHORT_ERR_SYSTEM,
                "cohort_tcp_listen: none.test:80: unknown node or service (EAI_NONAME)");
    check_fails(cohort_tcp_listen("192.0.2.7", 0, &listener), COHORT_ERR_SYSTEM,
                "cohort_tcp_listen: 192.0.2.7:0: address not available (EADDRNOTAVAIL)");
    CHECK(listener == as_before && tcp == (void *)&wrong_calls);
    CHECK_TEXT(cohort_tcp_listener_address(NULL), "");
    CHECK_INT(cohort_tcp_listener_port(NULL), 0);
    CHECK(!cohort_tcp_listener_ref(NULL));
    cohort_tcp_listener_unref(NULL);

    listener = listen_at("127.0.0.1", 0);
    check_fails(cohort_tcp_accept(listener, NULL), COHORT_ERR_BAD_PARAMETER, "ret_tcp is NULL");
    cohort_tcp_listener *second = NULL;
    uint16_t port = cohort_tcp_listener_port(listener);
    check_fails(cohort_tcp_listen("127.0.0.1", port, &second), COHORT_ERR_SYSTEM,
                ": address already in use (EADDRINUSE)");
    CHECK_CONTAINS(cohort_error_message(), cohort_tcp_listener_address(listener));
    CHECK(!second);
    cohort_tcp *ends[] = {connect_to("127.0.0.1", listener), accept_from(listener)};
    CHECK_OK(cohort_await(cohort_tcp_close(ends[1])));
    for (int i = 0; i < 2; i++)
        cohort_tcp_unref(ends[i]);
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    cohort_tcp_listener_unref(listener);
    /* The port is free again at once, whatever the system remembers of a connection. */
    cohort_tcp_listener_unref(listen_at("127.0.0.1", port));
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(wrong_calls, run_io(wrong_calls))

/* A connection to LISTENER that needs no descriptor any more. */
static int connect_later(const cohort_tcp_listener *listener, struct sockaddr_in *ret_address)
{
    *ret_address = (struct sockaddr_in){.sin_family = AF_INET};
    ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ret_address->sin_port = htons(cohort_tcp_listener_port(listener));
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void connect_now(int fd, const struct sockaddr_in *address)
{
    CHECK_INT(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
}

/* All accepts say that no descriptor is left, and the connection waits for the next one. */
static cohort_status no_descriptors(void *arg)
{
    struct sockaddr_in address;
    struct rlimit limit, none;
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    cohort_tcp *tcp, *never = NULL;
    cohort_future *accepts[2];
    char byte = 0;
    size_t bytes;
    int fd = connect_later(listener, &address);
    for (int i = 0; i < 2; i++)
        accepts[i] = cohort_tcp_accept(listener, &never);
    let_begin();
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = (rlim_t)dup(0);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
    close((int)none.rlim_cur);
    connect_now(fd, &address);
    for (int i = 0; i < 2; i++) {
        CHECK_FAILS(await_within(accepts[i], 10000000000), COHORT_ERR_NO_MEMORY,
                    "cohort_tcp_accept: 127.0.0.1:");
        CHECK_CONTAINS(cohort_error_message(), ": too many open files (EMFILE)");
    }
    check_fails(cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(listener), &never),
                COHORT_ERR_NO_MEMORY, "too many open files (EMFILE)");
    cohort_tcp_listener *none_there = NULL;
    check_fails(cohort_tcp_listen("127.0.0.1", 0, &none_there), COHORT_ERR_NO_MEMORY, "(EMFILE)");
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK(!never && !none_there);
    tcp = accept_from(listener);
    CHECK_INT(write(fd, "x", 1), 1);
    CHECK_OK(cohort_await(cohort_tcp_read(tcp, &byte, 1, &bytes)));
    CHECK_INT(byte, 'x');
    close(fd);
    cohort_tcp_unref(tcp);
    cohort_tcp_listener_unref(listener);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(no_descriptors)
{
    run_io_with(1, false, no_descriptors);
    CHECK_TEXT(logged, "");
}

/* A connection for which there is no memory waits for the next accept; none of those that are there
 * waits for ever. */
static cohort_status no_memory(void *arg)
{
    struct sockaddr_in address;
    cohort_tcp *tcp, *none = NULL;
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0), *no_listener = NULL;
    cohort_future *accepts[2];
    int fd = connect_later(listener, &address);
    for (int i = 0; i < 2; i++)
        accepts[i] = cohort_tcp_accept(listener, &none);
    let_begin();
    has_no_memory = true;
    connect_now(fd, &address);
    for (int yields = 0; yields < 1000000 && !cohort_future_ready(accepts[1]); yields++)
        cohort_yield(); /* a wait with a limit needs memory */
    for (int i = 0; i < 2; i++) {
        CHECK(cohort_future_ready(accepts[i]));
        check_fails(accepts[i], COHORT_ERR_NO_MEMORY, "cohort_tcp_accept: 127.0.0.1:");
    }
    check_fails(cohort_tcp_accept(listener, &none), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_tcp_listen("::1", 0, &no_listener), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_tcp_connect("::1", 1, &none), COHORT_ERR_NO_MEMORY, "out of memory");
    check_fails(cohort_tcp_listener_close(listener), COHORT_ERR_NO_MEMORY, "out of memory");
    has_no_memory = false;
    cohort_future *listening = cohort_tcp_listen("slow.test", 0, &no_listener);
    cohort_future *connecting = cohort_tcp_connect("slow.test", 1, &none);
    let_begin();
    wait_for_asking();
    wait_for_asking();
    has_no_memory = true;
    let_name_be_found();
    let_name_be_found();
    check_fails(listening, COHORT_ERR_NO_MEMORY, "(ENOMEM)");
    check_fails(connecting, COHORT_ERR_NO_MEMORY, "(ENOMEM)");
    has_no_memory = false;
    CHECK(!none && !no_listener);
    CHECK_OK(cohort_await(cohort_tcp_accept(listener, &tcp)));
    cohort_tcp_unref(tcp);
    close(fd);
    cohort_tcp_listener_unref(listener);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(no_memory)
{
    run_io_with(1, false, no_memory);
    CHECK_TEXT(logged, "");
}

/* What says only that there is no connection does not end an accept; the rest ends one. */
TEST_TASK(wrong_connections, run_io(task))
{
    static const int harmless[] = {EAGAIN, EINTR, ECONNABORTED};
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    cohort_tcp *tcp, *never = NULL;
    for (int i = 0; i < 3; i++) {
        next_error = harmless[i];
        tcp = connect_to("127.0.0.1", listener);
        cohort_tcp_unref(accept_from(listener));
        CHECK_INT(next_error, 0);
        cohort_tcp_unref(tcp);
    }
    next_error = EPERM;
    tcp = connect_to("127.0.0.1", listener);
    check_fails(cohort_tcp_accept(listener, &never), COHORT_ERR_SYSTEM,
                ": operation not permitted (EPERM)");
    CHECK(!never);
    cohort_tcp_unref(accept_from(listener));
    cohort_tcp_unref(tcp);
    cohort_tcp_listener_unref(listener);
}

/* --- accepting --- */

/* Each accept gets a connection, whoever comes first; what nobody accepts waits. */
TEST_TASK(accept, run_io(task))
{
    enum { NUM = 20 };
    cohort_tcp *accepted[NUM], *connected[NUM];
    cohort_future *accepts[NUM];
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    for (int i = 0; i < NUM / 2; i++)
        accepts[i] = cohort_tcp_accept(listener, &accepted[i]);
    for (int i = 0; i < NUM; i++)
        connected[i] = connect_to("127.0.0.1", listener);
    CHECK_OK(cohort_await(cohort_when_all(accepts, NUM / 2)));
    for (int i = NUM / 2; i < NUM; i++)
        accepted[i] = accept_from(listener);
    for (int i = 0; i < NUM; i++) {
        char byte = 0;
        size_t bytes;
        CHECK_OK(cohort_await(cohort_tcp_write(connected[i], "x", 1)));
        CHECK_OK(cohort_await(cohort_tcp_read(accepted[i], &byte, 1, &bytes)));
        CHECK_INT(byte, 'x'); /* they came in order */
        cohort_tcp_unref(connected[i]);
        cohort_tcp_unref(accepted[i]);
    }
    cohort_tcp_listener_unref(listener);
}

/* While nobody accepts, a connection that waits does not keep the loop busy. */
static void count_turn(uv_prepare_t *prepare)
{
    ++*(unsigned *)prepare->data;
}

static cohort_status start_counting(uv_loop_t *loop, void *prepare)
{
    CHECK_INT(uv_prepare_init(loop, prepare), 0);
    return uv_prepare_start(prepare, count_turn) ? COHORT_ERR_FAILED : COHORT_OK;
}

static cohort_status stop_counting(uv_loop_t *loop, void *prepare)
{
    uv_close(prepare, NULL);
    return loop ? COHORT_OK : COHORT_ERR_FAILED;
}

TEST_TASK(let_wait, run_io_with(1, false, task))
{
    static uv_prepare_t prepare;
    unsigned num_turns = 0;
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    cohort_tcp *first = connect_to("127.0.0.1", listener);
    cohort_tcp_unref(accept_from(listener));
    cohort_tcp *second = connect_to("127.0.0.1", listener);
    prepare.data = &num_turns;
    CHECK_OK(cohort_await(cohort_run_on_loop(start_counting, &prepare)));
    CHECK_OK(cohort_await(cohort_sleep(20000000)));
    CHECK(num_turns < 100);
    CHECK_OK(cohort_await(cohort_run_on_loop(stop_counting, &prepare)));
    cohort_tcp_unref(accept_from(listener));
    cohort_tcp_unref(first);
    cohort_tcp_unref(second);
    cohort_tcp_listener_unref(listener);
}

/* Calls that begin and end at once leave libuv its turns: it reads what has come. */
static cohort_status fail_at_once(void *arg)
{
    struct sockaddr_in address;
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0), *never = NULL;
    int fd = connect_later(listener, &address);
    char byte;
    size_t bytes;
    connect_now(fd, &address);
    cohort_tcp *tcp = accept_from(listener);
    cohort_future *read = cohort_tcp_read(tcp, &byte, 1, &bytes);
    let_begin();
    CHECK_INT(write(fd, "x", 1), 1);
    for (int i = 0; i < 10000 && !cohort_future_ready(read); i++)
        CHECK_INT(cohort_await(cohort_tcp_listen("192.0.2.7", 0, &never)), COHORT_ERR_SYSTEM);
    CHECK(cohort_future_ready(read));
    CHECK_OK(cohort_await(read));
    close(fd);
    cohort_tcp_unref(tcp);
    cohort_tcp_listener_unref(listener);
    return arg || never ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST_CALL(fail_at_once, run_io(fail_at_once))

static void check_closed(cohort_tcp_listener *listener)
{
    cohort_tcp *tcp = NULL;
    check_fails(cohort_tcp_accept(listener, &tcp), COHORT_ERR_GONE, "it was closed here");
    check_fails(cohort_tcp_connect("127.0.0.1", cohort_tcp_listener_port(listener), &tcp),
                COHORT_ERR_SYSTEM, "(ECONNREFUSED)");
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    CHECK(!tcp);
}

TEST_TASK(close, run_io(task))
{
    cohort_tcp *tcp[2];
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0);
    cohort_future *accept = cohort_tcp_accept(listener, &tcp[0]);
    cohort_future *another = cohort_tcp_accept(listener, &tcp[1]);
    let_begin();
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    check_fails(accept, COHORT_ERR_GONE, "cohort_tcp_accept: 127.0.0.1:");
    check_fails(another, COHORT_ERR_GONE, "it was closed here");
    check_closed(listener);
    cohort_tcp_listener_unref(listener);

    listener = listen_at("127.0.0.1", 0); /* the last reference */
    accept = cohort_tcp_accept(listener, &tcp[0]);
    cohort_tcp_listener_unref(listener);
    check_fails(accept, COHORT_ERR_GONE, "it was closed here");

    listener = listen_at("127.0.0.1", 0); /* with connections that nobody has accepted */
    cohort_tcp *waiting[3];
    for (int i = 0; i < 3; i++)
        waiting[i] = connect_to("127.0.0.1", listener);
    CHECK_OK(cohort_await(cohort_tcp_listener_close(listener)));
    for (int i = 0; i < 3; i++) {
        char byte;
        size_t bytes = 1;
        cohort_status status = cohort_await(cohort_tcp_read(waiting[i], &byte, 1, &bytes));
        CHECK(status == COHORT_ERR_SYSTEM || bytes == 0);
        cohort_tcp_unref(waiting[i]);
    }
    check_closed(listener);
    cohort_tcp_listener_unref(listener);
}

/* --- scopes, and the end --- */

static cohort_future *call_accept(void *listener)
{
    static cohort_tcp *tcp;
    return cohort_tcp_accept(listener, &tcp);
}

static cohort_future *call_listen(void *ret_listener)
{
    return cohort_tcp_listen("slow.test", 0, ret_listener);
}

TEST_TASK(cancel, run_io(task))
{
    cohort_tcp_listener *listener = listen_at("127.0.0.1", 0), *never = NULL;
    check_cancel(call_accept, listener, NULL);
    cohort_tcp *tcp = connect_to("127.0.0.1", listener);
    cohort_tcp_unref(accept_from(listener)); /* it is there still */
    cohort_tcp_unref(tcp);
    cohort_tcp_listener_unref(listener);
    check_cancel(call_listen, &never, wait_for_asking); /* it does not wait for the name */
    CHECK(!never);
    let_name_be_found();
}

static struct {
    cohort_tcp_listener *listener, *never;
    cohort_tcp *tcp;
    cohort_future *accept, *listen;
    struct at_end at_end;
} left;

static cohort_status leave(void *arg)
{
    left.listener = listen_at("127.0.0.1", 0);
    left.accept = cohort_tcp_accept(left.listener, &left.tcp);
    left.listen = call_listen(&left.never);
    let_begin();
    wait_for_asking();
    at_end_start(&left.at_end, left.listen, let_name_be_found);
    return arg ? COHORT_ERR_FAILED : COHORT_OK;
}

TEST(end)
{
    run_io_with(1, false, leave);
    at_end_join(&left.at_end);
    CHECK_CONTAINS(logged, "the program has left 1 TCP listener open at its end; closed now\n");
    check_fails(left.accept, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    check_fails(left.listen, COHORT_ERR_CANCELLED, ": the runtime has ended before");
    CHECK(!left.tcp && !left.never);
    check_fails(cohort_tcp_accept(left.listener, &left.tcp), COHORT_ERR_STATE,
                "cohort_tcp_accept: the runtime is not up");
    cohort_tcp_listener_unref(left.listener);
    check_fails(cohort_tcp_listen(NULL, 0, &left.listener), COHORT_ERR_STATE,
                "cohort_tcp_listen: ");
}

int main(int argc, char **argv)
{
    sem_init(&name_is_asked_for, 0, 0);
    sem_init(&name_may_be_found, 0, 0);
    return tests_run(argc, argv);
}
