/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the connection between cohortrun and a daemon: its messages and its heartbeats. */
#include "tools/cohortrun/node_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/clock.h"
#include "runtime/loop/stream.h"
#include "tools/cohortrun/bytes.h"

/* A sealed message holds the kind (u8), the locality (u32, little-endian) and the data. */
enum { HEAD_BYTES = 5, MAX_GREETING = 256 };

struct node_link {
    struct node_link_handlers handlers;
    struct seal seal;
    struct cohort__stream *stream;
    int fd; /* the stream's */
    enum { AWAITS_OFFER, AWAITS_CHALLENGE, AWAITS_PROOF, OPEN, ENDED } stage;
};

static void end(struct node_link *node_link, const char *why)
{
    if (node_link->stage == ENDED)
        return;
    node_link->stage = ENDED;
    node_link->handlers.ended(node_link->handlers.context, why);
}

/* A message that can't be sent is the end of the connection, since later ones would not open
 * (seal.h). This is reported later, as the end of the connection: nobody expects the node_link to
 * end within node_link_send. */
static void give_up(struct node_link *node_link)
{
    shutdown(node_link->fd, SHUT_RDWR);
}

static void greet(struct node_link *node_link, const void *message, size_t bytes)
{
    if (cohort__stream_send(node_link->stream, message, bytes))
        give_up(node_link);
}

static void open_up(struct node_link *node_link)
{
    node_link->stage = OPEN;
    cohort__stream_limit(node_link->stream, NODE_LINK_MAX_MESSAGE);
    node_link->handlers.opened(node_link->handlers.context, node_link->seal.host);
}

static void take_offer(struct node_link *node_link, const void *message, size_t bytes)
{
    unsigned char challenge[SEAL_CHALLENGE_BYTES];
    if (!seal_take_offer(&node_link->seal, message, bytes)) {
        end(node_link, "it is no node daemon, or one of another version");
        return;
    }
    if (!node_link->handlers.is_awaited(node_link->handlers.context, node_link->seal.host)) {
        end(node_link, "it is the daemon of no host that is awaited");
        return;
    }
    seal_make_challenge(&node_link->seal, challenge);
    node_link->stage = AWAITS_PROOF;
    greet(node_link, challenge, sizeof(challenge));
}

static void take_challenge(struct node_link *node_link, const void *message, size_t bytes)
{
    unsigned char proof[SEAL_PROOF_BYTES];
    if (!seal_take_challenge(&node_link->seal, message, bytes)) {
        end(node_link, "it has not got the job's key");
        return;
    }
    seal_make_proof(&node_link->seal, proof);
    greet(node_link, proof, sizeof(proof));
    open_up(node_link);
}

static void take_sealed(struct node_link *node_link, const unsigned char *sealed, size_t bytes)
{
    unsigned char *message =
        bytes >= SEAL_EXTRA_BYTES + HEAD_BYTES ? malloc(bytes - SEAL_EXTRA_BYTES) : NULL;
    if (!message || !seal_open(&node_link->seal, sealed, bytes, message)) {
        free(message);
        end(node_link, "a message on the connection does not open");
        return;
    }
    node_link->handlers.message(node_link->handlers.context, (enum node_link_kind)message[0],
                                bytes_get_u32(message + 1), message + HEAD_BYTES,
                                bytes - SEAL_EXTRA_BYTES - HEAD_BYTES);
    free(message);
}

static void arrived(void *context, const void *message, size_t bytes)
{
    struct node_link *node_link = context;
    switch (node_link->stage) {
    case AWAITS_OFFER:
        take_offer(node_link, message, bytes);
        break;
    case AWAITS_CHALLENGE:
        take_challenge(node_link, message, bytes);
        break;
    case AWAITS_PROOF:
        if (seal_take_proof(&node_link->seal, message, bytes))
            open_up(node_link);
        else
            end(node_link, "it has not got the job's key");
        break;
    case OPEN:
        take_sealed(node_link, message, bytes);
        break;
    case ENDED:
        break;
    }
}

static void stream_ended(void *context, cohort_status status)
{
    struct node_link *node_link = context;
    end(node_link, status ? cohort_error_message() : "the connection was closed");
}

cohort_status node_link_open(struct node_link **ret_node_link, struct cohort__loop *loop, int fd,
                             enum seal_side side, const unsigned char key[SEAL_KEY_BYTES],
                             uint32_t host, const struct node_link_handlers *handlers)
{
    struct cohort__stream_handlers own = {.message = arrived, .ended = stream_ended};
    struct node_link *node_link = calloc(1, sizeof(*node_link));
    if (!node_link || !seal_init(&node_link->seal, side, key, host)) {
        close(fd);
        free(node_link);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory or random numbers for a connection");
    }
    node_link->handlers = *handlers;
    node_link->stage = side == SEAL_LAUNCHER ? AWAITS_OFFER : AWAITS_CHALLENGE;
    node_link->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    own.context = node_link;
    cohort_status status =
        cohort__stream_open(&node_link->stream, loop, fd, "the other end", MAX_GREETING, &own);
    if (status) {
        node_link_close(node_link);
        return status;
    }
    if (side == SEAL_DAEMON) {
        unsigned char offer[SEAL_OFFER_BYTES];
        seal_make_offer(&node_link->seal, offer);
        greet(node_link, offer, sizeof(offer));
    }
    *ret_node_link = node_link;
    return COHORT_OK;
}

void node_link_hand_over(struct node_link *node_link, const struct node_link_handlers *handlers)
{
    node_link->handlers = *handlers;
}

void node_link_send(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                    const void *data, size_t bytes)
{
    if (node_link->stage != OPEN)
        return;
    unsigned char *message = malloc(HEAD_BYTES + bytes + SEAL_EXTRA_BYTES);
    if (!message) {
        give_up(node_link);
        return;
    }
    message[0] = (unsigned char)kind;
    bytes_put_u32(message + 1, rank);
    if (bytes > 0)
        memcpy(message + HEAD_BYTES, data, bytes);
    seal_close(&node_link->seal, message, HEAD_BYTES + bytes);
    if (cohort__stream_send(node_link->stream, message, HEAD_BYTES + bytes + SEAL_EXTRA_BYTES))
        give_up(node_link);
    free(message);
}

void node_link_send_struct(struct node_link *node_link, enum node_link_kind kind, uint32_t rank,
                           const struct cohort__schema *schema, const void *from)
{
    struct cohort__packer packer = {0};
    cohort__schema_pack(&packer, schema, from);
    if (packer.status)
        give_up(node_link);
    else
        node_link_send(node_link, kind, rank, packer.data, packer.bytes);
    cohort__packer_fini(&packer);
}

void node_link_close(struct node_link *node_link)
{
    if (!node_link)
        return;
    cohort__stream_close(node_link->stream);
    seal_fini(&node_link->seal);
    free(node_link);
}

void pulse_start(struct pulse *pulse, uint64_t interval_ns, uint64_t timeout_ns)
{
    uint64_t now = cohort__clock_now();
    *pulse = (struct pulse){interval_ns, timeout_ns, now, now};
}

void pulse_heard(struct pulse *pulse)
{
    pulse->heard = cohort__clock_now();
}

bool pulse_is_silent(struct pulse *pulse)
{
    uint64_t now = cohort__clock_now();
    /* If this process was stopped or suspended, it has not listened: what came meanwhile has still
     * to be read. */
    if (now - pulse->looked > pulse->interval_ns + pulse->timeout_ns / 2)
        pulse->heard = now;
    pulse->looked = now;
    return now - pulse->heard >= pulse->timeout_ns;
}
