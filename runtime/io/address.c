/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/address.h"

#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"

void cohort__address_name(const char *host, uint16_t port, char ret_text[COHORT__ADDRESS_BYTES])
{
    bool is_ipv6 = host && strchr(host, ':');
    snprintf(ret_text, COHORT__ADDRESS_BYTES, "%s%.80s%s:%" PRIu16, is_ipv6 ? "[" : "",
             host ? host : "*", is_ipv6 ? "]" : "", port);
}

void cohort__address_text(const struct sockaddr *address, char ret_text[COHORT__ADDRESS_BYTES])
{
    char host[NI_MAXHOST] = "?";
    getnameinfo(address, cohort__address_bytes(address), host, sizeof(host), NULL, 0,
                NI_NUMERICHOST);
    cohort__address_name(host, cohort__address_port(address), ret_text);
}

socklen_t cohort__address_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

uint16_t cohort__address_port(const struct sockaddr *address)
{
    return ntohs(address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                : ((const struct sockaddr_in *)address)->sin_port);
}

/* --- lookups --- */

static void found(uv_getaddrinfo_t *request, int error, struct addrinfo *addresses)
{
    struct cohort__lookup *lookup = COHORT_CONTAINER_OF(request, struct cohort__lookup, request);
    lookup->first = addresses;
    lookup->found(lookup, error);
}

/* A listener at IPv6's "all addresses" is one for IPv4, too, and not the reverse. */
static void put_ipv6_first(struct addrinfo **first)
{
    for (struct addrinfo **link = first; *link; link = &(*link)->ai_next) {
        struct addrinfo *address = *link;
        if (address->ai_family != AF_INET6)
            continue;
        *link = address->ai_next;
        address->ai_next = *first;
        *first = address;
        return;
    }
}

void cohort__lookup_start(struct cohort__lookup *lookup, uv_loop_t *loop, const char *host,
                          uint16_t port, bool is_to_listen)
{
    char service[8];
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST | (is_to_listen ? AI_PASSIVE : 0),
    };
    snprintf(service, sizeof(service), "%" PRIu16, port);
    /* This asks nobody. If HOST is no number, libuv looks it up; if something else is wrong, libuv
     * says what. */
    if (getaddrinfo(host, service, &hints, &lookup->first) == 0) {
        if (!host)
            put_ipv6_first(&lookup->first);
        lookup->found(lookup, 0);
        return;
    }
    lookup->first = NULL;
    hints.ai_flags &= ~AI_NUMERICHOST;
    int error = uv_getaddrinfo(loop, &lookup->request, found, host, service, &hints);
    if (error)
        lookup->found(lookup, error);
}

void cohort__lookup_cancel(struct cohort__lookup *lookup)
{
    uv_cancel((uv_req_t *)&lookup->request);
}

void cohort__lookup_fini(struct cohort__lookup *lookup)
{
    if (lookup->first)
        uv_freeaddrinfo(lookup->first);
    lookup->first = NULL;
}
