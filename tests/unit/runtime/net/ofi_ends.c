/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/runtime/net/ofi_ends.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/net/ofi.h"
#include "tests/support/test.h"

enum { SOCKET = 3 };

void ofi_end_open(struct station *station, uint32_t number)
{
    memset(station, 0, sizeof *station);
    struct cohort__net_handlers handlers = station_handlers(station);
    cohort_status st = cohort__ofi_create(&handlers, number, NULL, &station->net);
    if (st != COHORT_OK)
        FAIL("%s", cohort_error_message());
}

void ofi_end_know(struct station *station, uint32_t number, const struct station *other)
{
    CHECK_OK(
        cohort__net_add_peer(station->net, number, other->net->address, other->net->address_bytes));
}

/* Two ends that know each other as 1 and 0; A drives both. */
void ofi_pair_open(struct station *a, struct station *b)
{
    ofi_end_open(a, 0);
    ofi_end_open(b, 1);
    ofi_end_know(a, 1, b);
    ofi_end_know(b, 0, a);
    a->peer = b;
}

void ofi_pair_close(struct station *a, struct station *b)
{
    cohort__net_destroy(a->net);
    cohort__net_destroy(b->net);
}

/* The other process. */

unsigned char ofi_pattern(size_t at)
{
    return (unsigned char)(at * 13 + (at >> 12) + (at >> 20));
}

void *ofi_mapping(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED);
    return base;
}

struct peer_state {
    bool is_done;
    unsigned long num_counted;
    unsigned char reply[16384];
    size_t reply_bytes;
};

static void obey(struct station *station, const struct cohort__net_message *message)
{
    struct peer_state *state = station->data;
    struct cohort__net_token token;
    size_t bytes;
    void *region;
    switch (message->data[0]) {
    case OFI_PEER_ECHO:
        state->reply_bytes = message->bytes;
        memcpy(state->reply, message->data, message->bytes);
        break;
    case OFI_PEER_EXPOSE:
        memcpy(&bytes, message->data + 1, sizeof bytes);
        unsigned char *base = ofi_mapping(bytes);
        for (size_t i = 0; i < bytes; i++)
            base[i] = ofi_pattern(i);
        CHECK_OK(cohort__net_expose(station->net, 0, base, bytes, &region, &token));
        state->reply_bytes = sizeof token;
        memcpy(state->reply, &token, sizeof token);
        break;
    case OFI_PEER_COUNT:
        state->num_counted++;
        break;
    case OFI_PEER_REPORT:
        state->reply_bytes = sizeof state->num_counted;
        memcpy(state->reply, &state->num_counted, sizeof state->num_counted);
        break;
    case OFI_PEER_QUIT:
        state->is_done = true;
        break;
    default:
        FAIL("a message changed on its way");
    }
}

int ofi_peer_main(void)
{
    static struct peer_state state;
    struct station station;
    unsigned char address[128];
    ofi_end_open(&station, 1);
    station.data = &state;
    station.on_message = obey;
    CHECK(write(SOCKET, station.net->address, station.net->address_bytes) > 0);
    ssize_t n = read(SOCKET, address, sizeof address);
    CHECK(n > 0);
    CHECK_OK(cohort__net_add_peer(station.net, 0, address, (size_t)n));
    while (!state.is_done && station.num_unreachable[0] == 0) {
        if (!station_turn(&station))
            station_block(&station, 10000);
        if (state.reply_bytes > 0) {
            size_t bytes = state.reply_bytes;
            state.reply_bytes = 0;
            station_send(&station, 0, state.reply, bytes);
        }
    }
    cohort__net_destroy(station.net);
    return 0;
}

/* As in tests/multi/lsan.supp: this process and the peer may connect to each other at the same
 * time. */
static void forgive_libfabric(void)
{
    static const char suppressions[] = "leak:libfabric.so\n";
    char options[80];
    int fd = memfd_create("suppressions", 0);
    CHECK_INT(write(fd, suppressions, sizeof suppressions - 1), sizeof suppressions - 1);
    snprintf(options, sizeof options, "print_suppressions=0:suppressions=/proc/self/fd/%d", fd);
    setenv("LSAN_OPTIONS", options, 1);
}

/* Starts the process, which becomes peer 1 of STATION. */
pid_t ofi_peer_start(struct station *station)
{
    int sockets[2];
    unsigned char address[128];
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if a check fails here */
        dup2(sockets[1], SOCKET);
        forgive_libfabric();
        execl("/proc/self/exe", "test_ofi", "peer", (char *)NULL);
        _exit(127);
    }
    close(sockets[1]);
    CHECK(write(sockets[0], station->net->address, station->net->address_bytes) > 0);
    ssize_t n = read(sockets[0], address, sizeof address);
    CHECK(n > 0);
    close(sockets[0]);
    CHECK_OK(cohort__net_add_peer(station->net, 1, address, (size_t)n));
    return pid;
}

void ofi_peer_stop(struct station *station, pid_t pid)
{
    unsigned char order = OFI_PEER_QUIT;
    int status;
    CHECK_INT(station_send(station, 1, &order, 1), COHORT__NET_SENT);
    /* The order may still be on its way in this process. */
    while (waitpid(pid, &status, WNOHANG) == 0)
        station_turn(station);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void ofi_peer_kill(pid_t pid)
{
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

void ofi_remember(struct station *station, const struct cohort__net_message *message)
{
    memcpy(station->data, message->data, message->bytes);
}

/* A block of BYTES bytes in the other process, filled with the pattern. */
struct cohort__net_token ofi_peer_block(struct station *station, size_t bytes)
{
    unsigned char order[1 + sizeof bytes] = {OFI_PEER_EXPOSE};
    struct cohort__net_token token;
    unsigned char answer[sizeof token];
    unsigned long before = station->num_messages;
    memcpy(order + 1, &bytes, sizeof bytes);
    station->data = answer;
    station->on_message = ofi_remember;
    CHECK_INT(station_send(station, 1, order, sizeof order), COHORT__NET_SENT);
    station_until(station, &station->num_messages, before + 1);
    station->on_message = NULL;
    memcpy(&token, answer, sizeof token);
    return token;
}
