/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_probe.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/net/ofi_address.h"

static enum cohort__ofi_probe verdict(int error)
{
    switch (error) {
    case EINPROGRESS:
        return COHORT__OFI_PROBE_PENDING;
    case ECONNREFUSED:
    case ECONNRESET:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return COHORT__OFI_PROBE_DEAD;
    default: /* connected, or something is missing here, which proves nothing */
        return COHORT__OFI_PROBE_ALIVE;
    }
}

static int begin(const void *address, size_t bytes, int *ret_fd)
{
    struct sockaddr_storage name;
    if (bytes < sizeof(sa_family_t) || bytes > sizeof name)
        return EINVAL;
    memcpy(&name, address, bytes);
    int fd = socket(name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    *ret_fd = fd;
    return connect(fd, (struct sockaddr *)&name, (socklen_t)bytes) == 0 ? 0 : errno;
}

static int look(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};
    if (poll(&entry, 1, 0) == 0)
        return EINPROGRESS;
    int error = 0;
    socklen_t bytes = sizeof error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

enum cohort__ofi_probe cohort__ofi_probe(const struct fi_info *info, const void *address,
                                         size_t bytes, int *fd)
{
    if (!cohort__ofi_address_is_tcp(info))
        return COHORT__OFI_PROBE_ALIVE;
    enum cohort__ofi_probe v = verdict(*fd < 0 ? begin(address, bytes, fd) : look(*fd));
    if (v != COHORT__OFI_PROBE_PENDING)
        cohort__ofi_probe_end(fd);
    return v;
}

void cohort__ofi_probe_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
