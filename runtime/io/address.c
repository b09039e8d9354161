/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/io/address.h"

#include <inttypes.h>
#include <net/if.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
