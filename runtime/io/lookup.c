/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/lookup.h"

#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/container.h"
#include "runtime/loop/guest.h"

/* The same for HOST, cut where there is no room; NULL is "*". */
static void address_name(const char *host, uint16_t port, char ret_text[COHORT__ADDRESS_BYTES])
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
    address_name(host, cohort__address_port(address), ret_text);
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

static struct cohort__lookup_call *lookup_of(struct cohort__io_call *call)
{
    return COHORT_CONTAINER_OF(call, struct cohort__lookup_call, call);
}

void *cohort__lookup_call_create(size_t bytes, const struct cohort__io_call_kind *kind,
                                 const char *host, uint16_t port)
{
    size_t host_bytes = host ? strlen(host) + 1 : 0;
    struct cohort__lookup_call *lookup = cohort__io_call_create(bytes + host_bytes, kind);
    if (!lookup)
        return NULL;
    address_name(host, port, lookup->name);
    lookup->port = port;
    lookup->host = host ? memcpy((char *)lookup + bytes, host, host_bytes) : NULL;
    return lookup;
}

/* The thread can't always be stopped, so the call may have ended. */
static void found(uv_getaddrinfo_t *request, int error, struct addrinfo *addresses)
{
    struct cohort__lookup_call *lookup =
        COHORT_CONTAINER_OF(request, struct cohort__lookup_call, request);
    cohort__loop_note(lookup->call.loop);
    if (lookup->call.has_ended) {
        uv_freeaddrinfo(addresses);
    } else {
        lookup->first = addresses;
        lookup->found(lookup, error);
    }
    cohort__io_call_drop(&lookup->call);
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

void cohort__lookup_call_begin(struct cohort__io_call *call)
{
    struct cohort__lookup_call *lookup = lookup_of(call);
    char service[8];
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST | lookup->flags,
    };
    snprintf(service, sizeof(service), "%" PRIu16, lookup->port);
    /* This asks nobody. If the host is no number, libuv looks it up; if something else is wrong,
     * libuv says what. */
    if (getaddrinfo(lookup->host, service, &hints, &lookup->first) == 0) {
        if (!lookup->host)
            put_ipv6_first(&lookup->first);
        lookup->found(lookup, 0);
        return;
    }
    lookup->first = NULL;
    hints.ai_flags &= ~AI_NUMERICHOST;
    int error = uv_getaddrinfo(cohort__loop_uv(call->loop), &lookup->request, found, lookup->host,
                               service, &hints);
    if (error)
        lookup->found(lookup, error);
    else
        cohort__io_call_keep(call);
}

void cohort__lookup_call_cancel(struct cohort__io_call *call)
{
    struct cohort__lookup_call *lookup = lookup_of(call);
    uv_cancel((uv_req_t *)&lookup->request);
    cohort__io_call_end_early(call, lookup->name);
}

void cohort__lookup_call_release(struct cohort__io_call *call)
{
    uv_freeaddrinfo(lookup_of(call)->first);
}
