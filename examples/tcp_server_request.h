/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TCP_SERVER_REQUEST_H
#define COHORT_EXAMPLES_TCP_SERVER_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include <cohort/cohort.h>

/* What the clients of tcp_server ask for: how many primes there are from FIRST on, among NUM
 * numbers. The answer is a uint64_t. Both travel in the byte order of the machine. */
struct tcp_server_request {
    uint32_t first;
    uint32_t num;
};

/* How many of them are in part PART of PARTS. */
uint64_t tcp_server_count(const struct tcp_server_request *request, uint32_t part, uint32_t parts);

/* Reads BYTES from TCP, in as many pieces as they come in. *ret_got is how many: fewer only if the
 * peer has ended its data. */
cohort_status tcp_server_receive(cohort_tcp *tcp, void *buffer, size_t bytes, size_t *ret_got);

#endif
