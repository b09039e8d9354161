/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: addresses of this host that others can connect to, and connections. */
#ifndef COHORT_TOOLS_COHORTRUN_ADDRESS_H
#define COHORT_TOOLS_COHORTRUN_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "cohort/status.h"

/* The local addresses by which other hosts reach this one, and connections to addresses. All of
 * these functions may block, for example for a name server. */
struct address {
    struct sockaddr_storage socket;
    socklen_t bytes;
};

enum { ADDRESS_TEXT_BYTES = 80 };

/* The address in digits, with its port if WITH_PORT. */
void address_text(const struct address *address, bool with_port, char ret_text[ADDRESS_TEXT_BYTES]);

/* Whether HOST is this host: it has the same name, or an address of this host. */
bool address_is_here(const char *host);

/* The address of this host from which HOST ("name" or "user@name") is reached. */
cohort_status address_towards(const char *host, struct address *ret_address);

/* Reads TEXT, which has to be an address of this host. */
cohort_status address_parse(const char *text, struct address *ret_address);

/* Makes a socket that listens at ADDRESS. The kernel chooses the port, which is put into
 * ADDRESS. */
cohort_status address_listen(struct address *address, int *ret_fd);

/* Connects to ADDRESS, which is in digits, within MILLISECONDS. */
cohort_status address_connect(const char *address, uint16_t port, int milliseconds, int *ret_fd);

/* The address of the other end of FD. */
void address_peer(int fd, struct address *ret_address);

uint16_t address_port(const struct address *address);

#endif
