/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: addresses of this host that others can connect to, and connections. */
#ifndef COHORT_TOOLS_COHORTRUN_REACH_H
#define COHORT_TOOLS_COHORTRUN_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "cohort/status.h"

/* Which local addresses there are between this host and others, and connections on them. All of
 * this may wait, for name servers and the like. */
struct reach_address {
    struct sockaddr_storage socket;
    socklen_t bytes;
};

enum { REACH_TEXT_BYTES = 80 };

/* In digits; with its port where WITH_PORT. */
void reach_text(const struct reach_address *address, bool with_port,
                char ret_text[REACH_TEXT_BYTES]);

/* Whether HOST is this one: by its name, or since its address is one of ours. */
bool reach_is_here(const char *host);

/* The address of this host from which HOST ("name" or "user@name") is reached. */
cohort_status reach_towards(const char *host, struct reach_address *ret_address);

/* TEXT is an address of this host. */
cohort_status reach_parse(const char *text, struct reach_address *ret_address);

/* A socket that listens at ADDRESS, at a port of the kernel's choice, which is put there. */
cohort_status reach_listen(struct reach_address *address, int *ret_fd);

/* To ADDRESS in digits, within MILLISECONDS. */
cohort_status reach_connect(const char *address, uint16_t port, int milliseconds, int *ret_fd);

/* Who is at the other end of FD. */
void reach_peer(int fd, struct reach_address *ret_address);

uint16_t reach_port(const struct reach_address *address);

#endif
