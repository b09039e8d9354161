/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-bench: runs libfabric's fi_pingpong, with which a row of --peers is compared. */
#include "tools/bench/pingpong.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/share/child.h"

enum { FEW = 50, MOST = 100000, MAX_TRIES = 2000, TRY_NS = 5 * 1000 * 1000, TCP_LISTEN = 10 };

static bool failed(const char *what, int error)
{
    fprintf(stderr, "%s: fi_pingpong: %s: %s\n", program_invocation_short_name, what,
            strerror(error));
    return false;
}

/* Finds a port that nobody uses now. As long as *RET_FD is open, only the server can use it: it
 * sets SO_REUSEADDR, too, so it can share the port with a socket that does not listen. */
static bool reserve_port(int *ret_fd, uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return failed("socket", errno);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
        bind(fd, (struct sockaddr *)&address, length) ||
        getsockname(fd, (struct sockaddr *)&address, &length)) {
        int error = errno;
        close(fd);
        return failed("a free port", error);
    }
    *ret_fd = fd;
    *ret_port = ntohs(address.sin_port);
    return true;
}

/* Asks the kernel. It does not connect, since the server takes the first connection for its
 * client. */
static bool is_listening(uint16_t port)
{
    char line[256];
    unsigned local, state;
    bool is_found = false;
    FILE *file = fopen("/proc/net/tcp", "re");
    if (!file)
        return false;
    while (!is_found && fgets(line, sizeof(line), file))
        is_found = sscanf(line, " %*d: %*8x:%4x %*x:%*x %2x", &local, &state) == 2 &&
                   local == port && state == TCP_LISTEN;
    fclose(file);
    return is_found;
}

/* The one that Cohort uses with the libfabric of Debian 12, if nothing else is wanted. */
static const char *provider(void)
{
    const char *wanted = getenv("COHORT_OFI_PROVIDER");
    return wanted && *wanted ? wanted : "net";
}

static bool wait_for_server(const struct child *server, uint16_t port)
{
    for (int i = 0; i < MAX_TRIES && child_is_running(server); i++) {
        if (is_listening(port))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = TRY_NS}, NULL);
    }
    fprintf(stderr,
            "%s: fi_pingpong's server does not listen on port %u, with provider %s "
            "(COHORT_OFI_PROVIDER)\n",
            program_invocation_short_name, (unsigned)port, provider());
    return false;
}

/* "8  2k  =2k  31k  0.12s  0.25  30.11  0.03": the last but one is what is wanted. */
static bool take_line(void *context, const char *line)
{
    double us;
    if (sscanf(line, "%*[0-9kmg] %*s %*s %*s %*s %*f %lf", &us) == 1)
        *(double *)context = us;
    return true;
}

static bool run_at(uint16_t port, const char *size, unsigned num, double *ret_us)
{
    char number[16], text[16];
    struct child server;
    snprintf(number, sizeof(number), "%u", num);
    snprintf(text, sizeof(text), "%u", (unsigned)port);
    /* Neither of the two waits for ever for the other one, if this process is killed. */
    const char *const server_args[] = {"timeout",  "--foreground", "600", "fi_pingpong", "-p",
                                       provider(), "-e",           "rdm", "-I",          number,
                                       "-S",       size,           "-B",  text,          NULL};
    enum { NUM = sizeof(server_args) / sizeof(server_args[0]) - 1 };
    const char *client_args[NUM + 2];
    memcpy(client_args, server_args, sizeof(server_args));
    client_args[NUM - 2] = "-P";
    client_args[NUM] = "127.0.0.1";
    client_args[NUM + 1] = NULL;
    *ret_us = 0;
    if (!child_start(&server, (char *const *)server_args))
        return false;
    bool is_done =
        wait_for_server(&server, port) && child_run((char *const *)client_args, take_line, ret_us);
    bool has_ended = child_end(&server, !is_done);
    if (is_done && !(*ret_us > 0))
        fprintf(stderr, "%s: fi_pingpong has printed no time\n", program_invocation_short_name);
    return is_done && has_ended && *ret_us > 0;
}

static bool run_once(const char *size, unsigned num, double *ret_us)
{
    int fd;
    uint16_t port;
    if (!reserve_port(&fd, &port))
        return false;
    bool is_done = run_at(port, size, num, ret_us);
    close(fd);
    return is_done;
}

bool pingpong_run(uint64_t bytes, double seconds, double *ret_us)
{
    char size[24];
    double us;
    snprintf(size, sizeof(size), "%" PRIu64, bytes);
    if (!run_once(size, FEW, &us))
        return false;
    double num = seconds * 1e6 / (2 * us);
    return run_once(size, num < FEW ? FEW : num > MOST ? MOST : (unsigned)num, ret_us);
}
