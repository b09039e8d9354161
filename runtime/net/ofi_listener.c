/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/ofi_listener.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/base/log.h"
#include "runtime/net/ofi_address.h"

/* How long a caller may send nothing before the kernel passes it to the provider, where it takes a
 * descriptor. */
static const int silent_seconds = 3600;

static bool is_listener(int fd, const void *address, size_t bytes)
{
    struct sockaddr_storage name;
    socklen_t name_bytes = sizeof name;
    int listens = 0;
    socklen_t listens_bytes = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_bytes) == 0 && listens &&
           getsockname(fd, (struct sockaddr *)&name, &name_bytes) == 0 && name_bytes == bytes &&
           memcmp(&name, address, bytes) == 0;
}

static int find(const void *address, size_t bytes)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return -1;
    int found = -1;
    for (struct dirent *entry; found < 0 && (entry = readdir(folder));) {
        int fd = (int)strtol(entry->d_name, NULL, 10); /* 0 for names that are not numbers */
        found = is_listener(fd, address, bytes) ? fd : -1;
    }
    closedir(folder);
    return found;
}

void cohort__ofi_listener_defer(const struct fi_info *info, const void *address, size_t bytes)
{
    if (!cohort__ofi_address_is_tcp(info))
        return;
    int fd = find(address, bytes);
    if (fd < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_seconds, sizeof silent_seconds) != 0)
        cohort__log(COHORT__LOG_INFO, "net: callers that say nothing each take a descriptor");
}
