/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_EXAMPLES_TCP_SERVER_LOAD_H
#define COHORT_EXAMPLES_TCP_SERVER_LOAD_H

#include <stdint.h>

#include <cohort/cohort.h>

/* The clients of tcp_server: each is a task with a connection. All connections of a locality are
 * open before the first of them sends a request. */
struct tcp_server_load {
    uint32_t port;        /* of the server, on this host */
    uint32_t connections; /* of all localities */
    uint32_t requests;    /* of each connection */
};

/* A remote function. IN: a struct tcp_server_load. Runs this locality's share of the clients. OUT:
 * how many answers were right, a uint64_t. Fails if one was wrong. */
cohort_status tcp_server_load(const cohort_object *in, cohort_object *ret_out, void *context);

#endif
