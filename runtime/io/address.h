/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_ADDRESS_H
#define COHORT_RUNTIME_IO_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

/* Addresses of TCP: as text, and of hosts' names. */

/* Room for "[ADDRESS%INTERFACE]:PORT". */
enum { COHORT__ADDRESS_BYTES = 96 };

void cohort__address_text(const struct sockaddr *address, char ret_text[COHORT__ADDRESS_BYTES]);

/* The same for HOST, cut where there is no room; NULL is "*". */
void cohort__address_name(const char *host, uint16_t port, char ret_text[COHORT__ADDRESS_BYTES]);

/* Of an address of IPv4 or IPv6. */
socklen_t cohort__address_bytes(const struct sockaddr *address);
uint16_t cohort__address_port(const struct sockaddr *address);

/* The addresses of a host. */
struct cohort__lookup {
    uv_getaddrinfo_t request;
    struct addrinfo *first; /* of the list that was found */
    /* Called once. ERROR is libuv's, or 0: then there is at least one. */
    void (*found)(struct cohort__lookup *lookup, int error);
};

/* Looks up HOST, for listening or connecting. Calls found, which the caller has set: at once if
 * HOST is in numbers or NULL (all addresses of this machine, IPv6 first), else later. LOOKUP has to
 * stay until found was called, also if it is cancelled. Holder only. */
void cohort__lookup_start(struct cohort__lookup *lookup, uv_loop_t *loop, const char *host,
                          uint16_t port, bool is_to_listen);

/* found is called as soon as possible, which may be only when the thread has returned. */
void cohort__lookup_cancel(struct cohort__lookup *lookup);

/* Gives back what was found. */
void cohort__lookup_fini(struct cohort__lookup *lookup);

#endif
