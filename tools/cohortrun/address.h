/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: addresses of this host that others can connect to, and connections. */
#ifndef COHORT_TOOLS_COHORTRUN_ADDRESS_H
#define COHORT_TOOLS_COHORTRUN_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "cohort/status.h"

/* Which local addresses there are between this host and others, and connections on them. All of
 * this may wait, for name servers and the like. */
struct address {
    struct sockaddr_storage socket;
    socklen_t bytes;
};

enum { ADDRESS_TEXT_BYTES = 80 };

/* In digits; with its port where WITH_PORT. */
void address_text(const struct address *address, bool with_port, char ret_text[ADDRESS_TEXT_BYTES]);

/* Whether HOST is this one: by its name, or since its address is one of ours. */
bool address_is_here(const char *host);

/* The address of this host from which HOST ("name" or "user@name") is reached. */
cohort_status address_towards(const char *host, struct address *ret_address);

/* TEXT is an address of this host. */
cohort_status address_parse(const char *text, struct address *ret_address);

/* A socket that listens at ADDRESS, at a port of the kernel's choice, which is put there. */
cohort_status address_listen(struct address *address, int *ret_fd);

/* To ADDRESS in digits, within MILLISECONDS. */
cohort_status address_connect(const char *address, uint16_t port, int milliseconds, int *ret_fd);

/* Who is at the other end of FD. */
void address_peer(int fd, struct address *ret_address);

uint16_t address_port(const struct address *address);

#endif
