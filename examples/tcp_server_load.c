/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/tcp_server_load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "examples/share.h"
#include "examples/tcp_server_request.h"

static const uint64_t limit = 300000000000; /* nanoseconds: then something is wrong */
enum { NUMBERS = 100 };                     /* of a request */

/* What the clients of a locality share. */
struct clients {
    struct tcp_server_load load;
    cohort_latch *connected; /* opens when all are */
    uint64_t num_right;      /* changed by one client at a time */
    cohort_mutex *mutex;
};

struct client {
    struct clients *all;
    uint32_t number;
};

static cohort_status ask(cohort_tcp *tcp, const struct tcp_server_request *request)
{
    uint64_t answer = 0, want = tcp_server_count(request, 0, 1);
    size_t got = 0;
    cohort_status status = cohort_await(cohort_tcp_write(tcp, request, sizeof(*request)));
    if (!status)
        status = tcp_server_receive(tcp, &answer, sizeof(answer), &got);
    if (!status && got < sizeof(answer))
        status = cohort_fail(COHORT_ERR_FAILED, "the server has ended the connection");
    if (!status && answer != want)
        status = cohort_fail(COHORT_ERR_FAILED, "%" PRIu64 " primes, not %" PRIu64, answer, want);
    return status;
}

static cohort_status ask_often(const struct client *client, cohort_tcp *tcp)
{
    struct clients *all = client->all;
    cohort_status status = cohort_latch_count_down(all->connected, 1);
    if (!status)
        status = cohort_latch_wait(all->connected, COHORT_NO_LIMIT);
    for (uint32_t i = 0; i < all->load.requests && !status; i++) {
        struct tcp_server_request request = {client->number * 31 + i * 1009, NUMBERS};
        status = ask(tcp, &request);
    }
    if (!status)
        status = cohort_mutex_lock(all->mutex, COHORT_NO_LIMIT);
    if (status)
        return status;
    all->num_right += all->load.requests;
    return cohort_mutex_unlock(all->mutex);
}

static cohort_status run_client(void *arg)
{
    const struct client *client = arg;
    cohort_tcp *tcp;
    cohort_status status =
        cohort_await(cohort_tcp_connect("127.0.0.1", (uint16_t)client->all->load.port, &tcp));
    if (status)
        return status;
    status = ask_often(client, tcp);
    cohort_tcp_unref(tcp); /* closes it */
    return status;
}

/* Runs clients FIRST to FIRST + NUM - 1 as tasks of a scope: the first one that fails ends all. */
static cohort_status run_clients(struct clients *all, uint32_t first, uint32_t num)
{
    cohort_scope *scope;
    struct client *clients = calloc(num + 1, sizeof(*clients));
    if (!clients)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for %" PRIu32 " clients", num);
    cohort_status status =
        cohort_scope_create(&(cohort_scope_options){.limit_nanoseconds = limit}, &scope);
    if (status) {
        free(clients);
        return status;
    }
    for (uint32_t i = 0; i < num && !status; i++) {
        clients[i] = (struct client){all, first + i};
        status = cohort_scope_async(scope, run_client, &clients[i]);
    }
    if (status)
        cohort_scope_fail(scope, status, "%s", cohort_error_message());
    status = cohort_scope_await(scope);
    free(clients);
    return status;
}

cohort_status tcp_server_load(const cohort_object *in, cohort_object *ret_out, void *context)
{
    struct clients all = {.num_right = 0};
    uint64_t *num_right = malloc(sizeof(*num_right));
    (void)context;
    if (!num_right || in->bytes != sizeof(all.load)) {
        free(num_right);
        return num_right ? cohort_fail(COHORT_ERR_PROTOCOL, "%zu bytes are no load", in->bytes)
                         : cohort_fail(COHORT_ERR_NO_MEMORY, "no memory for a number");
    }
    memcpy(&all.load, in->data, sizeof(all.load));
    uint32_t here = cohort_locality(), localities = cohort_num_localities();
    uint32_t first = (uint32_t)share_begin(all.load.connections, localities, here);
    uint32_t num = (uint32_t)share_begin(all.load.connections, localities, here + 1) - first;
    cohort_status status = cohort_latch_create(num, &all.connected);
    if (!status)
        status = cohort_mutex_create(&all.mutex);
    if (!status)
        status = run_clients(&all, first, num);
    cohort_mutex_unref(all.mutex);
    cohort_latch_unref(all.connected);
    *num_right = all.num_right;
    *ret_out = (cohort_object){num_right, sizeof(*num_right)};
    return status; /* on failure the library frees the number */
}
