/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/place.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

cohort_status cohort__place_identify(char host[COHORT__PLACE_HOST_BYTES])
{
    static const char boot_path[] = "/proc/sys/kernel/random/boot_id";
    static const char net_path[] = "/proc/self/ns/net";
    char boot[40] = "";
    struct stat net;
    FILE *file = fopen(boot_path, "re");
    if (!file || !fgets(boot, sizeof(boot), file)) {
        cohort_status status = cohort_fail(COHORT_ERR_SYSTEM, "which host this is: %s: %s",
                                           boot_path, file ? "can't be read" : strerror(errno));
        if (file)
            fclose(file);
        return status;
    }
    fclose(file);
    if (stat(net_path, &net))
        return cohort_fail(COHORT_ERR_SYSTEM, "which host this is: %s: %s", net_path,
                           strerror(errno));
    boot[strcspn(boot, "\n")] = 0;
    snprintf(host, COHORT__PLACE_HOST_BYTES, "%s/%llu", boot, (unsigned long long)net.st_ino);
    return COHORT_OK;
}

/* The number of HOST among the NUM known hosts, or NUM if it is a new one. FIRST[h] is the first
 * process of host h. */
static uint32_t host_number(const char *const *hosts, const uint32_t *first, uint32_t num,
                            const char *host)
{
    uint32_t h = 0;
    while (h < num && strcmp(hosts[first[h]], host) != 0)
        h++;
    return h;
}

cohort_status cohort__place_find(const char *const *hosts, uint32_t size, uint32_t me,
                                 struct cohort__place *ret_place, uint32_t *ret_processes)
{
    uint32_t *first = malloc(2 * size * sizeof(*first));
    if (!first)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "places of the localities: out of memory");
    uint32_t *host_of = first + size;
    struct cohort__place place = {0};
    for (uint32_t i = 0; i < size; i++) {
        host_of[i] = host_number(hosts, first, place.num_hosts, hosts[i]);
        if (host_of[i] == place.num_hosts)
            first[place.num_hosts++] = i;
        if (i == me)
            place.host = host_of[i];
    }
    for (uint32_t h = 0, rank = 0; h < place.num_hosts; h++) {
        for (uint32_t i = first[h]; i < size; i++) {
            if (host_of[i] != h)
                continue;
            if (i == me) {
                place.rank = rank;
                place.slot = place.sharing;
            }
            place.sharing += h == place.host;
            ret_processes[rank++] = i;
        }
    }
    free(first);
    *ret_place = place;
    return COHORT_OK;
}

static bool print_address(const struct sockaddr *address, socklen_t bytes, char *ret_address,
                          size_t capacity)
{
    return getnameinfo(address, bytes, ret_address, (socklen_t)capacity, NULL, 0, NI_NUMERICHOST) ==
           0;
}

/* To connect a datagram socket sends nothing, but makes the kernel look up the route. */
static bool route_to(const struct addrinfo *target, char *ret_address, size_t capacity)
{
    struct sockaddr_storage local;
    socklen_t bytes = sizeof(local);
    int fd = socket(target->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool found = connect(fd, target->ai_addr, target->ai_addrlen) == 0 &&
                 getsockname(fd, (struct sockaddr *)&local, &bytes) == 0 &&
                 print_address((struct sockaddr *)&local, bytes, ret_address, capacity) &&
                 strncmp(ret_address, "127.", 4) != 0 && strcmp(ret_address, "::1") != 0;
    close(fd);
    return found;
}

static bool any_address(char *ret_address, size_t capacity)
{
    struct ifaddrs *interfaces;
    bool found = false;
    if (getifaddrs(&interfaces))
        return false;
    for (struct ifaddrs *i = interfaces; i && !found; i = i->ifa_next)
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP &&
            !(i->ifa_flags & IFF_LOOPBACK))
            found = print_address(i->ifa_addr, sizeof(struct sockaddr_in), ret_address, capacity);
    freeifaddrs(interfaces);
    return found;
}

cohort_status cohort__place_address(const char *name, char *ret_address, size_t capacity)
{
    struct addrinfo *targets = NULL;
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    bool found = false;
    if (getaddrinfo(name, "9", &hints, &targets) == 0) {
        for (struct addrinfo *t = targets; t && !found; t = t->ai_next)
            found = route_to(t, ret_address, capacity);
        freeaddrinfo(targets);
    }
    if (found || any_address(ret_address, capacity))
        return COHORT_OK;
    return cohort_fail(COHORT_ERR_NETWORK,
                       "no network interface leads to host %s, where other localities are", name);
}
