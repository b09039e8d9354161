/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/hub_share.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/net/hub.h"
#include "runtime/net/shm_memory.h"
#include "tests/support/test.h"
#include "tests/support/thread.h"

/* Localities 10, 11, ... of a host. Each is a thread, or the test itself, which then sends whatever
 * it likes. */

#define TIMEOUT 60000000000ull /* reached only on failure */
#define SHORT 50000000ull      /* expires in the test */

enum { FIRST_RANK = 10, KEY = 4711, NOBODY = 65534 };

static uint64_t id_of(const struct cohort__hub *hub)
{
    struct cohort__shm_head head;
    CHECK_INT(pread(hub->memory, &head, sizeof head, 0), sizeof head);
    return head.id;
}

static struct cohort__hub_party party(uint64_t listener_id, uint32_t slot, uint32_t size,
                                      uint64_t timeout)
{
    return (struct cohort__hub_party){.listener_id = listener_id,
                                      .key = KEY,
                                      .rank = FIRST_RANK + slot,
                                      .slot = slot,
                                      .size = size,
                                      .timeout_ns = timeout};
}

static struct cohort__hub_share listener_id(void)
{
    struct cohort__hub_share share = {.listener = -1};
    CHECK_OK(cohort__hub_share_init(&share));
    return share;
}

/* The server, in a thread of its own ----------------------------------------------------------- */

struct server {
    struct cohort__hub_share share;
    struct cohort__hub_party party;
    struct cohort__hub *hub;
    cohort_status status;
    char message[512];
    pthread_t thread;
};

static void *server_run(void *arg)
{
    struct server *server = arg;
    server->status = cohort__hub_share_meet(&server->share, &server->party, &server->hub);
    snprintf(server->message, sizeof server->message, "%s", cohort_error_message());
    return NULL;
}

/* Its listener exists, but the server does not accept clients yet. */
static void server_open(struct server *server, uint32_t size, uint64_t timeout)
{
    *server = (struct server){.share = listener_id()};
    server->party = party(server->share.listener_id, 0, size, timeout);
}

static void server_start(struct server *server)
{
    server->thread = new_thread(server_run, server);
}

static void server_begin(struct server *server, uint32_t size, uint64_t timeout)
{
    server_open(server, size, timeout);
    server_start(server);
}

static void server_end(struct server *server, cohort_status status)
{
    end_thread(server->thread);
    CHECK_INT(server->status, status);
    CHECK(!server->hub == (status != COHORT_OK));
    cohort__hub_destroy(server->hub);
}

/* Clients -------------------------------------------------------------------------------------- */

static cohort_status fetch(uint64_t of, uint32_t slot, uint32_t size, struct cohort__hub **ret_hub)
{
    struct cohort__hub_share share = listener_id();
    struct cohort__hub_party own = party(of, slot, size, TIMEOUT);
    return cohort__hub_share_meet(&share, &own, ret_hub);
}

/* Lets the slots FIRST to END-1 meet the server, one after the other. */
struct clients {
    uint64_t listener_id;
    uint32_t first, end, size;
    uint64_t id; /* of the hub that they got */
    pthread_t thread;
};

static void *guests_run(void *arg)
{
    struct clients *clients = arg;
    for (uint32_t slot = clients->first; slot < clients->end; slot++) {
        struct cohort__hub *hub = NULL;
        CHECK_OK(fetch(clients->listener_id, slot, clients->size, &hub));
        CHECK_INT(hub->size, clients->size);
        CHECK(clients->id == 0 || clients->id == id_of(hub));
        clients->id = id_of(hub);
        uint64_t rings = 1; /* at the end the test checks the sum for all slots */
        CHECK_INT(write(hub->doorbells[slot], &rings, sizeof rings), sizeof rings);
        cohort__hub_destroy(hub);
    }
    return NULL;
}

static void guests_begin(struct clients *clients, const struct server *server, uint32_t first,
                         uint32_t end)
{
    *clients = (struct clients){server->share.listener_id, first, end, server->party.size, 0, 0};
    clients->thread = new_thread(guests_run, clients);
}

static void guests_end(struct clients *clients, const struct server *server)
{
    end_thread(clients->thread);
    CHECK(clients->first == clients->end || clients->id == id_of(server->hub));
}

/* All others come, in NUM threads. Then the server has succeeded. */
static void all_come(struct server *server, uint32_t num)
{
    struct clients clients[8];
    uint32_t size = server->party.size, others = size - 1;
    for (uint32_t i = 0; i < num; i++)
        guests_begin(&clients[i], server, 1 + others * i / num, 1 + others * (i + 1) / num);
    end_thread(server->thread);
    CHECK_OK(server->status);
    for (uint32_t i = 0; i < num; i++)
        guests_end(&clients[i], server);
    for (uint32_t slot = 1; slot < size; slot++) {
        uint64_t rings = 0;
        CHECK_INT(read(server->hub->doorbells[slot], &rings, sizeof rings), sizeof rings);
        CHECK(rings == 1);
    }
    cohort__hub_destroy(server->hub);
}

#define TEST_SHARE(name)                                                                           \
    TEST_WITH(name, int, before, test_num_entries("/proc/self/fd"),                                \
              CHECK_INT(test_num_entries("/proc/self/fd"), before))

TEST_SHARE(alone)
{
    struct server server;
    server_begin(&server, 1, TIMEOUT);
    server_end(&server, COHORT_OK);
}

/* Also with as many descriptors as just fit into one message, and one more. A message has at most
 * 250. */
TEST(all_come)
{
    static const uint32_t sizes[] = {2, 5, 40, 249, 250, 501};
    int before = test_num_entries("/proc/self/fd");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct server server;
        server_begin(&server, sizes[i], TIMEOUT);
        all_come(&server, i % 4 + 1);
        CHECK_INT(test_num_entries("/proc/self/fd"), before);
    }
}

/* By hand ------------------------------------------------------------------------------------- */

static int go(uint64_t to)
{
    struct sockaddr_un address;
    socklen_t bytes = cohort__hub_share_address(to, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_INT(connect(fd, (struct sockaddr *)&address, bytes), 0);
    return fd;
}

static void say(int fd, uint64_t key, uint32_t kind, uint32_t slot, uint32_t first)
{
    struct cohort__hub_note note = {.key = key, .kind = kind, .slot = slot, .first = first};
    CHECK_INT(send(fd, &note, sizeof note, MSG_NOSIGNAL), sizeof note);
}

static int hello(uint64_t to, uint32_t slot)
{
    int fd = go(to);
    say(fd, KEY, COHORT__HUB_NOTE_HELLO, slot, 0);
    return fd;
}

/* The other side has closed without a message. */
static void expect_end(int fd)
{
    char byte;
    CHECK(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
}

/* Receives no descriptors, so the kernel closes them. False: the other side has closed. */
static bool get_piece(int fd, uint32_t first, uint32_t num)
{
    struct cohort__hub_note piece;
    ssize_t got = recv(fd, &piece, sizeof piece, 0);
    if (got <= 0)
        return false;
    CHECK_INT(got, sizeof piece);
    CHECK_INT(piece.kind, COHORT__HUB_NOTE_PIECE);
    CHECK_INT(piece.first, first);
    CHECK_INT(piece.num, num);
    return true;
}

static void expect_piece(int fd, uint32_t first, uint32_t num)
{
    CHECK(get_piece(fd, first, num));
}

/* The other side says why it gives up, and closes. */
static void expect_failure(int fd, const char *text)
{
    struct cohort__hub_words words;
    ssize_t got = recv(fd, &words, sizeof words, 0);
    CHECK(cohort__hub_share_is_told(&words, got, KEY, words.note.slot, FIRST_RANK));
    CHECK_CONTAINS(cohort_error_message(), "locality 10 says: ");
    CHECK_CONTAINS(cohort_error_message(), text);
    expect_end(fd);
}

/* The clients from slot FIRST on, except EXCEPT, come and are told TEXT. */
static void rest_hear(const struct server *server, uint32_t first, uint32_t except,
                      const char *text)
{
    for (uint32_t slot = first; slot < server->party.size; slot++)
        if (slot != except)
            expect_failure(hello(server->share.listener_id, slot), text);
}

static void send_rubbish(uint64_t to, size_t bytes, bool with_descriptors)
{
    static const char rubbish[512] = "rubbish";
    int fd = go(to), descriptors[2] = {fd, fd};
    if (with_descriptors) {
        const struct cohort__hub_note note = {.key = 1};
        CHECK_INT(cohort__hub_share_send(fd, &note, descriptors, 2), sizeof note);
    } else {
        CHECK_INT(send(fd, rubbish, bytes, MSG_NOSIGNAL), bytes);
    }
    expect_end(fd);
}

/* Strangers do not disturb the server, and are told nothing. */
TEST_SHARE(strangers)
{
    static const struct {
        uint64_t key;
        uint32_t kind, slot;
    } wrong[] = {
        {KEY + 1, COHORT__HUB_NOTE_HELLO, 1}, {KEY, COHORT__HUB_NOTE_TAKEN, 1},
        {KEY, COHORT__HUB_NOTE_PIECE, 1},     {KEY, 0, 1},
        {KEY, COHORT__HUB_NOTE_HELLO, 0},     {KEY, COHORT__HUB_NOTE_HELLO, 6},
        {KEY, COHORT__HUB_NOTE_HELLO, ~0u},
    };
    struct server server;
    server_begin(&server, 6, TIMEOUT);
    int silent = go(server.share.listener_id);
    for (unsigned i = 0; i < 100; i++) /* more than the server accepts at a time */
        close(go(server.share.listener_id));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int fd = go(server.share.listener_id);
        say(fd, wrong[i].key, wrong[i].kind, wrong[i].slot, 0);
        expect_end(fd);
    }
    send_rubbish(server.share.listener_id, 1, false);
    send_rubbish(server.share.listener_id, sizeof(struct cohort__hub_note), false);
    send_rubbish(server.share.listener_id, 512, false);
    send_rubbish(server.share.listener_id, 0, true);
    int first = hello(server.share.listener_id, 5);
    expect_piece(first, 0, 7);
    say(first, KEY, COHORT__HUB_NOTE_TAKEN, 5, 7);
    expect_end(first);
    expect_end(hello(server.share.listener_id, 5)); /* a second time */
    struct clients clients;
    guests_begin(&clients, &server, 1, 5);
    end_thread(server.thread);
    CHECK_OK(server.status);
    guests_end(&clients, &server);
    cohort__hub_destroy(server.hub);
    expect_end(silent);
}

TEST_SHARE(client_dies)
{
    struct server server;
    server_begin(&server, 3, TIMEOUT);
    int fd = hello(server.share.listener_id, 2);
    expect_piece(fd, 0, 4);
    close(fd);
    rest_hear(&server, 1, 2, "locality 12 has ended while locality 10 gave it");
    server_end(&server, COHORT_ERR_PEER_DIED);
    CHECK_CONTAINS(server.message, "locality 12 has ended while locality 10 gave it");
    server_begin(&server, 300, TIMEOUT); /* ends with a piece that it has not read */
    fd = hello(server.share.listener_id, 1);
    expect_piece(fd, 0, 250);
    say(fd, KEY, COHORT__HUB_NOTE_TAKEN, 1, 250);
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    CHECK_INT(poll(&pollfd, 1, -1), 1);
    close(fd);
    rest_hear(&server, 2, 0, "locality 11 has ended");
    server_end(&server, COHORT_ERR_PEER_DIED);
    server_begin(&server, 2, TIMEOUT); /* ends before it was answered */
    close(hello(server.share.listener_id, 1));
    server_end(&server, COHORT_ERR_PEER_DIED);
}

TEST_SHARE(client_answers_rubbish)
{
    struct server server;
    for (unsigned i = 0; i < 4; i++) {
        server_begin(&server, 2, TIMEOUT);
        int fd = hello(server.share.listener_id, 1);
        expect_piece(fd, 0, 3);
        if (i < 3)
            say(fd, KEY + (i == 0), COHORT__HUB_NOTE_TAKEN, 1 + (i == 1), 3 - (i == 2));
        else
            CHECK_INT(send(fd, "?", 1, 0), 1);
        server_end(&server, COHORT_ERR_PROTOCOL);
        CHECK_CONTAINS(server.message, "locality 11 answers locality 10");
        expect_failure(fd, server.message);
    }
}

TEST_SHARE(client_is_late)
{
    struct server server;
    server_begin(&server, 4, SHORT); /* no client comes */
    server_end(&server, COHORT_ERR_TIMEOUT);
    CHECK_TEXT(server.message, "locality 10 has waited 0.05 s for locality 11 and 2 others to take "
                               "the memory that this host's localities share");
}

/* A client comes and does not take its piece. On a busy machine it takes longer until it gets one.
 */
TEST_SHARE(client_takes_nothing)
{
    struct server server;
    bool is_given = false;
    for (uint64_t timeout = SHORT; !is_given && timeout < TIMEOUT; timeout *= 4) {
        server_open(&server, 2, timeout);
        int fd = hello(server.share.listener_id, 1);
        server_start(&server);
        server_end(&server, COHORT_ERR_TIMEOUT);
        CHECK_CONTAINS(server.message, "for locality 11 to take");
        is_given = get_piece(fd, 0, 3);
        if (is_given)
            expect_failure(fd, server.message);
        else
            close(fd);
    }
    CHECK(is_given);
}

/* A client that gives up says why. Then the other clients say so too. */
TEST_SHARE(client_fails)
{
    struct server server;
    server_begin(&server, 3, TIMEOUT);
    int fd = hello(server.share.listener_id, 1);
    expect_piece(fd, 0, 4);
    (void)cohort_fail(COHORT_ERR_SYSTEM, "the reason");
    cohort__hub_share_tell(fd, KEY, 1);
    expect_failure(fd, "locality 11 says: the reason");
    rest_hear(&server, 2, 0, "locality 11 says: the reason");
    server_end(&server, COHORT_ERR_PEER_DIED);
    CHECK_TEXT(server.message, "locality 11 says: the reason");
}

/* A client in a thread of its own. The test plays its server. */
struct visit {
    struct cohort__hub_share share; /* of the server */
    uint32_t size;
    uint64_t timeout;
    cohort_status status;
    char message[512];
    pthread_t thread;
    int fd; /* the server's end of the connection */
};

static void *visit_run(void *arg)
{
    struct visit *visit = arg;
    struct cohort__hub *none = NULL;
    struct cohort__hub_share share = listener_id();
    struct cohort__hub_party own = party(visit->share.listener_id, 1, visit->size, visit->timeout);
    visit->status = cohort__hub_share_meet(&share, &own, &none);
    snprintf(visit->message, sizeof visit->message, "%s", cohort_error_message());
    CHECK(!none);
    return NULL;
}

/* Runs the client until it has said hello. */
static void visit_begin(struct visit *visit, uint32_t size, uint64_t timeout)
{
    struct cohort__hub_note note;
    struct pollfd pollfd = {.events = POLLIN};
    *visit = (struct visit){.share = listener_id(), .size = size, .timeout = timeout};
    visit->thread = new_thread(visit_run, visit);
    pollfd.fd = visit->share.listener;
    CHECK_INT(poll(&pollfd, 1, -1), 1);
    visit->fd = accept4(visit->share.listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(visit->fd >= 0);
    CHECK_INT(recv(visit->fd, &note, sizeof note, 0), sizeof note);
    CHECK(note.key == KEY && note.kind == COHORT__HUB_NOTE_HELLO && note.slot == 1);
}

static void visit_end(struct visit *visit, cohort_status status, const char *message)
{
    end_thread(visit->thread);
    CHECK_INT(visit->status, status);
    CHECK_CONTAINS(visit->message, "locality 11 ");
    CHECK_CONTAINS(visit->message, "locality 10");
    CHECK_CONTAINS(visit->message, message);
    close(visit->fd);
    cohort__hub_share_fini(&visit->share);
}

TEST_SHARE(server_dies)
{
    struct visit visit;
    struct cohort__hub *none = NULL;
    struct cohort__hub_share gone = listener_id();
    cohort__hub_share_fini(&gone);
    CHECK_INT(fetch(gone.listener_id, 1, 2, &none),
              COHORT_ERR_PEER_DIED); /* ends before the client comes */
    CHECK_CONTAINS(cohort_error_message(), "locality 11 waits");
    CHECK_CONTAINS(cohort_error_message(), "locality 10, which gives it, has ended");
    visit_begin(&visit, 2, TIMEOUT);
    shutdown(visit.fd, SHUT_RDWR);
    visit_end(&visit, COHORT_ERR_PEER_DIED, "has ended");
    visit_begin(&visit, 2, TIMEOUT); /* ends between two pieces */
    struct cohort__hub_note piece = {.key = KEY, .kind = COHORT__HUB_NOTE_PIECE, .slot = 1};
    piece.num = 2;
    CHECK(cohort__hub_share_send(visit.fd, &piece, (int[]){visit.fd, visit.fd}, 2) > 0);
    CHECK_INT(recv(visit.fd, &piece, sizeof piece, 0), sizeof piece);
    CHECK_INT(piece.first, 2);
    shutdown(visit.fd, SHUT_RDWR);
    visit_end(&visit, COHORT_ERR_PEER_DIED, "has ended");
    CHECK(!none);
}

TEST_SHARE(server_is_late)
{
    struct visit visit;
    visit_begin(&visit, 2, SHORT);
    visit_end(&visit, COHORT_ERR_TIMEOUT, "has waited 0.05 s");
}

/* All descriptors that come with the message are closed. */
TEST_SHARE(server_sends_rubbish)
{
    static const struct {
        struct cohort__hub_note note;
        uint32_t num;
    } wrong[] = {
        {{KEY + 1, COHORT__HUB_NOTE_PIECE, 1, 0, 3}, 3},
        {{KEY, COHORT__HUB_NOTE_TAKEN, 1, 0, 3}, 3},
        {{KEY, COHORT__HUB_NOTE_PIECE, 2, 0, 3}, 3},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 1, 3}, 3},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, 3}, 2},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, 3}, 0},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, 2}, 3},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, 0}, 0},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, 200}, 200},
        {{KEY, COHORT__HUB_NOTE_PIECE, 1, 0, ~0u}, 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct visit visit;
        int descriptors[200];
        visit_begin(&visit, 2, TIMEOUT);
        for (uint32_t k = 0; k < 200; k++)
            descriptors[k] = visit.fd;
        CHECK(cohort__hub_share_send(visit.fd, &wrong[i].note, descriptors, wrong[i].num) > 0);
        visit_end(&visit, COHORT_ERR_PROTOCOL, "no piece of the memory");
        CHECK_INT(test_num_entries("/proc/self/fd"), before);
    }
    struct visit visit;
    struct cohort__hub_words words = {
        .note = {.key = KEY, .kind = COHORT__HUB_NOTE_FAILED, .slot = 2}};
    visit_begin(&visit, 2, TIMEOUT);
    CHECK_INT(send(visit.fd, "?", 1, 0), 1);
    visit_end(&visit, COHORT_ERR_PROTOCOL, "1 bytes with 0 descriptors");
    /* A failure that belongs to another client, and a failure that is cut off. */
    visit_begin(&visit, 2, TIMEOUT);
    CHECK(send(visit.fd, &words, sizeof words - 1, 0) > 0);
    visit_end(&visit, COHORT_ERR_PROTOCOL, "no piece");
    words.note.slot = 1;
    visit_begin(&visit, 2, TIMEOUT);
    CHECK(send(visit.fd, &words, sizeof words, 0) > 0);
    visit_end(&visit, COHORT_ERR_PROTOCOL, "no piece");
    memset(words.text, 'x', sizeof words.text);
    memcpy(words.text, "locality 11 ", 12);
    visit_begin(&visit, 2, TIMEOUT);
    CHECK(send(visit.fd, &words, sizeof words - 1, 0) > 0);
    visit_end(&visit, COHORT_ERR_PEER_DIED, "says: locality 11 xxxxx");
}

/* In processes of their own ------------------------------------------------------------------- */

static pid_t begin(void (*run)(void *arg), void *arg)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(arg);
        _exit(0);
    }
    return pid;
}

static void end(pid_t pid)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void limit(int what, rlim_t most)
{
    struct rlimit limit = {most, most};
    CHECK_INT(setrlimit(what, &limit), 0);
}

static void be_guest_of_few(void *arg)
{
    struct cohort__hub *none = NULL;
    int before = test_num_entries("/proc/self/fd");
    limit(RLIMIT_NOFILE, 60); /* one message has more */
    CHECK_FAILS(fetch(*(uint64_t *)arg, 1, 100, &none), COHORT_ERR_NO_MEMORY, "locality 11");
    CHECK_CONTAINS(cohort_error_message(), "101 descriptors, and it may have 60 open");
    CHECK(!none);
    CHECK_INT(test_num_entries("/proc/self/fd"), before);
}

TEST_SHARE(few_descriptors)
{
    struct server server;
    server_open(&server, 100, TIMEOUT);
    pid_t pid =
        begin(be_guest_of_few, &server.share.listener_id); /* before there is a hub to inherit */
    server_start(&server);
    end(pid);
    rest_hear(&server, 2, 0, "101 descriptors, and it may have 60 open");
    server_end(&server, COHORT_ERR_PEER_DIED);
}

/* As if no memory were available. */
static void be_host_without_memory(void *arg)
{
    struct cohort__hub_share *share = arg;
    struct cohort__hub *none = NULL;
    struct cohort__hub_party own = party(share->listener_id, 0, 2, TIMEOUT);
    limit(RLIMIT_FSIZE, 0);
    CHECK_FAILS(cohort__hub_share_meet(share, &own, &none), COHORT_ERR_SYSTEM, "shared memory");
    CHECK(!none);
}

TEST_SHARE(no_memory)
{
    struct cohort__hub_share share = listener_id();
    struct cohort__hub *none = NULL;
    pid_t pid = begin(be_host_without_memory, &share);
    cohort__hub_share_fini(&share);
    CHECK_FAILS(fetch(share.listener_id, 1, 2, &none), COHORT_ERR_PEER_DIED,
                "locality 10 says: shared memory of this host: ");
    CHECK_CONTAINS(cohort_error_message(), strerror(EFBIG));
    CHECK(!none);
    end(pid);
}

static void be_nobody(void *arg)
{
    CHECK_INT(setresuid(NOBODY, NOBODY, NOBODY), 0);
    expect_end(go(*(uint64_t *)arg)); /* before it could say anything */
}

static void be_host_of_nobody(void *arg)
{
    CHECK_INT(setresuid(NOBODY, NOBODY, NOBODY), 0);
    struct cohort__hub_share share = listener_id();
    struct pollfd pollfd = {.fd = share.listener, .events = POLLIN};
    CHECK_INT(write(*(int *)arg, &share.listener_id, sizeof share.listener_id),
              sizeof share.listener_id);
    CHECK_INT(poll(&pollfd, 1, -1), 1);
    int fd = accept4(share.listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(fd >= 0);
    expect_end(fd); /* it is told nothing */
}

/* A process of another user is not accepted as a client, and not visited as a server. Only root can
 * change its user for this. */
TEST(other_user)
{
    struct server server;
    int pipes[2];
    uint64_t theirs;
    struct cohort__hub *none = NULL;
    if (geteuid() != 0)
        return;
    server_open(&server, 2, TIMEOUT);
    pid_t nobody = begin(be_nobody, &server.share.listener_id);
    server_start(&server);
    end(nobody);
    all_come(&server, 1);
    CHECK_INT(pipe(pipes), 0);
    pid_t pid = begin(be_host_of_nobody, &pipes[1]);
    CHECK_INT(read(pipes[0], &theirs, sizeof theirs), sizeof theirs);
    CHECK_FAILS(fetch(theirs, 1, 2, &none), COHORT_ERR_PROTOCOL,
                "locality 10 of this host, which is another user's");
    CHECK(!none);
    end(pid);
    close(pipes[0]);
    close(pipes[1]);
}

/* The user has the maximum of descriptors under way. The server waits until there are fewer. */
static void be_busy(void *arg)
{
    enum { LIMIT = 300 };
    struct server server;
    struct cohort__hub_note note = {.key = 1};
    int pair[2], descriptors[COHORT__HUB_SHARE_PIECE_DESCRIPTORS];
    if (geteuid() == 0)
        CHECK_INT(setresuid(NOBODY, NOBODY, NOBODY), 0);
    limit(RLIMIT_NOFILE, LIMIT);
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    for (size_t i = 0; i < sizeof descriptors / sizeof descriptors[0]; i++)
        descriptors[i] = STDIN_FILENO;
    while (cohort__hub_share_send(pair[0], &note, descriptors,
                                  COHORT__HUB_SHARE_PIECE_DESCRIPTORS) > 0)
        ;
    CHECK_INT(errno, ETOOMANYREFS);
    server_begin(&server, 2, TIMEOUT);
    int fd = hello(server.share.listener_id, 1);
    struct pollfd pollfd = {.fd = fd, .events = POLLIN};
    CHECK_INT(poll(&pollfd, 1, 20), 0); /* nothing can arrive */
    while (recv(pair[1], &note, sizeof note, MSG_DONTWAIT) > 0)
        ;
    expect_piece(fd, 0, 3);
    say(fd, KEY, COHORT__HUB_NOTE_TAKEN, 1, 3);
    expect_end(fd);
    server_end(&server, COHORT_OK);
    close(pair[0]);
    close(pair[1]);
}

TEST_CALL(busy, end(begin(be_busy, NULL)))
