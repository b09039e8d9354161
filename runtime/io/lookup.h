/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_IO_LOOKUP_H
#define COHORT_RUNTIME_IO_LOOKUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <uv.h>

#include "runtime/io/call.h"

/* Room for "[ADDRESS%INTERFACE]:PORT". */
enum { COHORT__ADDRESS_BYTES = 96 };

void cohort__address_text(const struct sockaddr *address, char ret_text[COHORT__ADDRESS_BYTES]);

/* Of an address of IPv4 or IPv6. */
socklen_t cohort__address_bytes(const struct sockaddr *address);
uint16_t cohort__address_port(const struct sockaddr *address);

/* A call that begins by looking up a host: what listen and connect have in common. The functions
 * below are for its kind, or for the kind's own to call. */
struct cohort__lookup_call {
    struct cohort__io_call call;
    uv_getaddrinfo_t request;
    struct addrinfo *first; /* of the addresses that were found */
    /* Called once, unless the call was cancelled before. ERROR is libuv's, or 0: then there is at
     * least one address, and all of them stay until the call ends. Holder only. */
    void (*found)(struct cohort__lookup_call *lookup, int error);
    int flags; /* AI_PASSIVE: to listen there */
    uint16_t port;
    char name[COHORT__ADDRESS_BYTES]; /* what was asked for, for messages */
    const char *host;                 /* NULL: all addresses of this machine, IPv6 first */
};

/* As cohort__io_call_create, for a struct of BYTES that begins with such a call. HOST is copied. */
void *cohort__lookup_call_create(size_t bytes, const struct cohort__io_call_kind *kind,
                                 const char *host, uint16_t port);

/* Calls found, which is set: at once if the host is in numbers or NULL, else later. */
void cohort__lookup_call_begin(struct cohort__io_call *call);

/* Ends it, whatever libuv's thread is doing. */
void cohort__lookup_call_cancel(struct cohort__io_call *call);

void cohort__lookup_call_release(struct cohort__io_call *call);

#endif
