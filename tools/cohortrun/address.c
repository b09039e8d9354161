/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: addresses of this host that others can connect to, and connections. */
#include "tools/cohortrun/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 128, HOST_BYTES = 256 };

void address_text(const struct address *address, bool with_port, char ret_text[ADDRESS_TEXT_BYTES])
{
    char host[ADDRESS_TEXT_BYTES - 16], port[8];
    if (getnameinfo((const struct sockaddr *)&address->socket, address->bytes, host, sizeof(host),
                    port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(ret_text, ADDRESS_TEXT_BYTES, "nowhere");
    else if (!with_port)
        snprintf(ret_text, ADDRESS_TEXT_BYTES, "%s", host);
    else
        snprintf(ret_text, ADDRESS_TEXT_BYTES, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

uint16_t address_port(const struct address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->socket;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->socket;
    return ntohs(address->socket.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
}

/* Finds the addresses of HOST, which the caller frees by freeaddrinfo. Returns getaddrinfo's error.
 * "localhost" is this host even if neither a file nor a server says so (RFC 6761, section 6.3). */
static int resolve(const char *host, const char *port, int flags, struct addrinfo **ret_list)
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM, .ai_flags = flags};
    int error = getaddrinfo(host, port, &hints, ret_list);
    if (error && strcmp(host, "localhost") == 0)
        error = getaddrinfo("127.0.0.1", port, &hints, ret_list);
    return error;
}

static cohort_status fail_to_resolve(const char *host, int error)
{
    return cohort_fail(COHORT_ERR_NETWORK, "%s: %s", host,
                       error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
}

/* Only an address of this host can be bound to. */
static bool is_own(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool own = bind(fd, info->ai_addr, info->ai_addrlen) == 0;
    close(fd);
    return own;
}

bool address_is_here(const char *host)
{
    char own[HOST_BYTES] = "";
    struct addrinfo *list;
    gethostname(own, sizeof(own) - 1);
    if (strcmp(host, "localhost") == 0 || strcmp(host, own) == 0)
        return true;
    if (strchr(host, '@') || resolve(host, NULL, 0, &list))
        return false;
    bool own_address = is_own(list);
    freeaddrinfo(list);
    return own_address;
}

/* Asks the kernel: connecting a datagram socket gives it a local address, and nothing is sent. */
static bool find_source(const struct addrinfo *info, struct address *ret_address)
{
    int fd = socket(info->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    ret_address->bytes = sizeof(ret_address->socket);
    bool found = connect(fd, info->ai_addr, info->ai_addrlen) == 0 &&
                 getsockname(fd, (struct sockaddr *)&ret_address->socket, &ret_address->bytes) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return found;
}

static void set_port(struct address *address, uint16_t port)
{
    if (address->socket.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address->socket)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)&address->socket)->sin_port = htons(port);
}

cohort_status address_towards(const char *host, struct address *ret_address)
{
    struct addrinfo *list;
    const char *at = strrchr(host, '@');
    const char *name = at ? at + 1 : host;
    int error = resolve(name, "9", 0, &list); /* any port will do */
    if (error)
        return fail_to_resolve(name, error);
    struct address address;
    bool found = false;
    for (const struct addrinfo *info = list; info && !found; info = info->ai_next)
        found = find_source(info, &address);
    if (!found)
        error = errno;
    freeaddrinfo(list);
    if (!found)
        return cohort_fail(COHORT_ERR_NETWORK, "%s: %s", name, strerror(error));
    set_port(&address, 0);
    *ret_address = address;
    return COHORT_OK;
}

static bool is_wildcard(const struct address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->socket;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->socket;
    return address->socket.ss_family == AF_INET6 ? IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr)
                                                 : v4->sin_addr.s_addr == htonl(INADDR_ANY);
}

cohort_status address_parse(const char *text, struct address *ret_address)
{
    struct addrinfo *list;
    int error = resolve(text, NULL, 0, &list);
    if (error)
        return fail_to_resolve(text, error);
    bool own = is_own(list);
    struct address address = {.bytes = list->ai_addrlen};
    memcpy(&address.socket, list->ai_addr, list->ai_addrlen);
    freeaddrinfo(list);
    if (!own || is_wildcard(&address))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s is no address of this host", text);
    *ret_address = address;
    return COHORT_OK;
}

cohort_status address_listen(struct address *address, int *ret_fd)
{
    char text[ADDRESS_TEXT_BYTES];
    int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t bytes = sizeof(address->socket);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address->socket, address->bytes) == 0 &&
        listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&address->socket, &bytes) == 0) {
        *ret_fd = fd;
        return COHORT_OK;
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    address_text(address, false, text);
    return cohort_fail(COHORT_ERR_NETWORK, "cannot listen at %s: %s", text, strerror(error));
}

/* Returns 0 or errno. */
static int connect_within(int fd, const struct addrinfo *info, int milliseconds)
{
    int error = 0;
    socklen_t bytes = sizeof(error);
    struct pollfd pollfd = {.fd = fd, .events = POLLOUT};
    if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    if (poll(&pollfd, 1, milliseconds) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) ? errno : error;
}

cohort_status address_connect(const char *address, uint16_t port, int milliseconds, int *ret_fd)
{
    char service[8];
    struct addrinfo *info;
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    int error = resolve(address, service, AI_NUMERICHOST | AI_NUMERICSERV, &info);
    if (error)
        return fail_to_resolve(address, error);
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    error = fd < 0 ? errno : connect_within(fd, info, milliseconds);
    freeaddrinfo(info);
    if (!error) {
        *ret_fd = fd;
        return COHORT_OK;
    }
    if (fd >= 0)
        close(fd);
    return cohort_fail(COHORT_ERR_NETWORK, "cannot connect to cohortrun at %s port %u: %s", address,
                       (unsigned)port, strerror(error));
}

void address_peer(int fd, struct address *ret_address)
{
    ret_address->bytes = sizeof(ret_address->socket);
    if (getpeername(fd, (struct sockaddr *)&ret_address->socket, &ret_address->bytes))
        *ret_address = (struct address){.bytes = sizeof(struct sockaddr_in)};
}
