/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose answers all localities compute, and its clients:
 *
 *     cohortrun -n 4 tcp_server --connections 2000
 *
 * Locality 0 listens. Each connection is a task there: it reads a request, calls a remote task in
 * all localities, each of which counts the primes in its part of the numbers, and answers with the
 * sum. The clients are tasks of all localities (tcp_server_load.c). When they have all their
 * answers the server ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "examples/command.h"
#include "examples/tcp_server_load.h"
#include "examples/tcp_server_request.h"

/* A remote function. IN: a request. OUT: how many primes are in this locality's part. */
static cohort_status count(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct tcp_server_request request;
    (void)context;
    if (in->bytes != sizeof(request))
        return cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no request", in->bytes);
    memcpy(&request, in->data, sizeof(request));
    uint64_t *num = malloc(sizeof(*num));
    if (!num)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a number");
    *num = tcp_server_count(&request, cohort_locality(), cohort_num_localities());
    *ret_out = (cohort_object){num, sizeof(*num)};
    return COHORT_OK;
}

/* The sum of OUTS, each of which is a uint64_t. Frees them. */
static uint64_t take_sum(cohort_object *outs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < cohort_num_localities(); i++) {
        if (outs[i].bytes == sizeof(uint64_t))
            sum += *(const uint64_t *)outs[i].data;
        cohort_object_fini(&outs[i]);
    }
    return sum;
}

/* Runs the remote function NAME everywhere, with BYTES of DATA, and adds up the results. */
static cohort_status reduce(const char *name, const void *data, size_t bytes, uint64_t *ret_sum)
{
    cohort_object *outs = calloc(cohort_num_localities(), sizeof(*outs));
    if (!outs)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for the results of %s", name);
    cohort_status status =
        cohort_await(cohort_async_everywhere(name, &(cohort_object){(void *)data, bytes}, outs));
    uint64_t sum = take_sum(outs);
    if (!status)
        *ret_sum = sum;
    free(outs);
    return status;
}

struct server {
    cohort_scope *scope; /* of its tasks */
    cohort_tcp_listener *listener;
    uint64_t num_accepted; /* by the one task that accepts */
};

/* Answers one client until that has no more requests. A client that goes away in the middle harms
 * nobody else; an answer that can't be computed ends the server. */
static cohort_status serve(void *arg)
{
    cohort_tcp *tcp = arg;
    cohort_status status = COHORT_OK;
    struct tcp_server_request request;
    size_t got;
    while (!status && !tcp_server_receive(tcp, &request, sizeof(request), &got) &&
           got == sizeof(request)) {
        uint64_t sum = 0;
        status = reduce("tcp_server.count", &request, sizeof(request), &sum);
        if (!status && cohort_await(cohort_tcp_write(tcp, &sum, sizeof(sum))))
            break;
    }
    cohort_tcp_unref(tcp);
    return status;
}

/* Starts a task for each connection, until the listener is closed. */
static cohort_status accept_all(void *arg)
{
    struct server *server = arg;
    cohort_tcp *tcp;
    cohort_status status;
    while (!(status = cohort_await(cohort_tcp_accept(server->listener, &tcp)))) {
        server->num_accepted++;
        status = cohort_scope_async(server->scope, serve, tcp);
        if (status) {
            cohort_tcp_unref(tcp);
            return status;
        }
    }
    return status == COHORT_ERR_GONE ? COHORT_OK : status;
}

/* Lets the clients ask, and ends the server when they are through. */
static cohort_status run_load(struct server *server, struct tcp_server_load *load)
{
    uint64_t num_right = 0;
    load->port = cohort_tcp_listener_port(server->listener);
    cohort_status status = reduce("tcp_server.load", load, sizeof(*load), &num_right);
    if (status) {
        char why[512]; /* of the clients: what follows may set a message of its own */
        snprintf(why, sizeof(why), "%s", cohort_error_message());
        return cohort_scope_fail(server->scope, status, "%s", why);
    }
    printf("answers: %" PRIu64 ", all right\n", num_right);
    return cohort_await(cohort_tcp_listener_close(server->listener));
}

static cohort_status run_server(struct tcp_server_load *load)
{
    struct server server = {.num_accepted = 0};
    cohort_status status = cohort_await(cohort_tcp_listen("127.0.0.1", 0, &server.listener));
    if (status)
        return status;
    status = cohort_scope_create(NULL, &server.scope);
    if (!status) {
        status = cohort_scope_async(server.scope, accept_all, &server);
        if (!status)
            status = run_load(&server, load);
        if (status)
            cohort_scope_fail(server.scope, status, "%s", cohort_error_message());
        status = cohort_scope_await(server.scope);
    }
    cohort_tcp_listener_unref(server.listener);
    if (!status)
        printf("connections: %" PRIu64 " to %" PRIu32 " localities\n", server.num_accepted,
               cohort_num_localities());
    return status;
}

/* So many connections are possible, as each takes a descriptor here, and another one in the
 * locality of its client, which may be this one. */
static uint32_t most_connections(void)
{
    enum { OTHERS = 200 }; /* descriptors, of the runtime above all */
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= OTHERS)
        return 0;
    uint64_t most = (files.rlim_cur - OTHERS) * cohort_num_localities() /
                    (cohort_num_localities() + (uint64_t)1);
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static cohort_status run(void *arg)
{
    struct tcp_server_load *load = arg;
    if (cohort_locality() > 0)
        return COHORT_OK; /* it runs what it is called for, until the job ends */
    if (load->connections > most_connections()) {
        load->connections = most_connections();
        printf("the limit of open files (RLIMIT_NOFILE) allows only %" PRIu32 " connections\n",
               load->connections);
    }
    return run_server(load);
}

/* As far as the system lets it. Who may not have more goes on with less. */
static void raise_limit_of_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

int main(int argc, char **argv)
{
    struct tcp_server_load load = {.connections = 2000, .requests = 2};
    const struct command_option rows[] = {
        {"connections", "N", "how many, all at once; 2000", .number = &load.connections, .min = 1,
         .max = 1000000},
        {"requests", "N", "of each connection; 2", .number = &load.requests, .min = 1,
         .max = 1000000},
    };
    const struct command command = {
        .name = "tcp_server",
        .about = "Serves TCP connections in locality 0: all localities compute each answer. The "
                 "clients\nare tasks of all localities, and check what they get.",
        .options = rows,
        .num_options = sizeof(rows) / sizeof(*rows),
    };
    enum command_result result = command_parse(&command, argc, argv);
    if (result != COMMAND_RUN)
        return result == COMMAND_HELP ? 0 : 2;
    raise_limit_of_files();
    if (cohort_remote_register("tcp_server.count", count, NULL) ||
        cohort_remote_register("tcp_server.load", tcp_server_load, NULL)) {
        fprintf(stderr, "tcp_server: %s\n", cohort_error_message());
        return 1;
    }
    return cohort_main(argc, argv, run, &load);
}
