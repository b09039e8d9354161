/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Sockets of the program's own host: under a port of 127.0.0.1 is a local socket in this process.
 * What is written there can be read at once, whatever the kernel does, and in the same order each
 * time, which can't be said of TCP. For libuv, too. */

#define SEEN __attribute__((visibility("default")))

static struct sockaddr_un local_address(uint16_t port, socklen_t *ret_bytes)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int bytes = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cross-%d-%u",
                         (int)getpid(), port);
    *ret_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
    return address;
}

static int call_with(long number, int fd, const struct sockaddr *address, socklen_t bytes,
                     uint16_t port)
{
    if (address->sa_family != AF_INET)
        return (int)syscall(number, fd, address, bytes, 0, 0, 0);
    struct sockaddr_un local = local_address(port, &bytes);
    return (int)syscall(number, fd, &local, bytes, 0, 0, 0);
}

static uint16_t port_of(const struct sockaddr *address)
{
    return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

/* A peer that has connected has no port. */
static int name_of(long number, int fd, struct sockaddr *address, socklen_t *bytes)
{
    struct sockaddr_un local = {.sun_family = AF_UNSPEC};
    socklen_t local_bytes = sizeof(local) - 1;
    unsigned port = 0;
    if (syscall(number, fd, &local, &local_bytes, 0, 0, 0))
        return -1;
    if (local.sun_family != AF_UNIX)
        return (int)syscall(number, fd, address, bytes, 0, 0, 0);
    (void)!sscanf(local.sun_path + 1, "cross-%*d-%u", &port);
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    memcpy(address, &name, *bytes < sizeof(name) ? *bytes : sizeof(name));
    *bytes = sizeof(name);
    return 0;
}

/* It takes little at once, so that writes have to wait for reads. */
SEEN int socket(int domain, int type, int protocol)
{
    int fd, few = 1;
    if (domain != AF_INET)
        return (int)syscall(SYS_socket, domain, type, protocol, 0, 0, 0);
    fd = (int)syscall(SYS_socket, AF_UNIX, type, protocol, 0, 0, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &few, sizeof(few));
    return fd;
}

SEEN int bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    static uint16_t last_port;
    return call_with(SYS_bind, fd, address, bytes, ++last_port);
}

SEEN int connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
    return call_with(SYS_connect, fd, address, bytes, port_of(address));
}

SEEN int getsockname(int fd, struct sockaddr *address, socklen_t *bytes)
{
    return name_of(SYS_getsockname, fd, address, bytes);
}

SEEN int getpeername(int fd, struct sockaddr *address, socklen_t *bytes)
{
    return name_of(SYS_getpeername, fd, address, bytes);
}

/* Data is sent at once. */
SEEN int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
    return level == IPPROTO_TCP ? 0
                                : (int)syscall(SYS_setsockopt, fd, level, option, value, bytes, 0);
}
