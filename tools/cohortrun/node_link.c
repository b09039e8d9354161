/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: the connection between cohortrun and a daemon, and its kinds of messages. */
#include "tools/cohortrun/node_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/loop/stream.h"
#include "tools/cohortrun/bytes.h"

/* A sealed message holds the kind (u8), the locality (u32, little-endian) and the data. */
enum { HEAD_BYTES = 5, MAX_GREETING = 256 };

struct trunk {
    struct trunk_handlers handlers;
    struct seal seal;
    struct cohort__stream *stream;
    int fd; /* the stream's */
    enum { AWAITS_OFFER, AWAITS_CHALLENGE, AWAITS_PROOF, OPEN, ENDED } stage;
};

static void end(struct trunk *trunk, const char *why)
{
    if (trunk->stage == ENDED)
        return;
    trunk->stage = ENDED;
    trunk->handlers.ended(trunk->handlers.context, why);
}

/* A message that can't be sent is the end: what follows would not open. It shows as the end of the
 * connection, since nobody expects the trunk to end within trunk_send. */
static void give_up(struct trunk *trunk)
{
    shutdown(trunk->fd, SHUT_RDWR);
}

static void greet(struct trunk *trunk, const void *message, size_t bytes)
{
    if (cohort__stream_send(trunk->stream, message, bytes))
        give_up(trunk);
}

static void open_up(struct trunk *trunk)
{
    trunk->stage = OPEN;
    cohort__stream_limit(trunk->stream, TRUNK_MAX_MESSAGE);
    trunk->handlers.opened(trunk->handlers.context, trunk->seal.host);
}

static void take_offer(struct trunk *trunk, const void *message, size_t bytes)
{
    unsigned char challenge[SEAL_CHALLENGE_BYTES];
    if (!seal_take_offer(&trunk->seal, message, bytes)) {
        end(trunk, "it is no node daemon, or one of another version");
        return;
    }
    if (!trunk->handlers.is_awaited(trunk->handlers.context, trunk->seal.host)) {
        end(trunk, "it is the daemon of no host that is awaited");
        return;
    }
    seal_make_challenge(&trunk->seal, challenge);
    trunk->stage = AWAITS_PROOF;
    greet(trunk, challenge, sizeof(challenge));
}

static void take_challenge(struct trunk *trunk, const void *message, size_t bytes)
{
    unsigned char proof[SEAL_PROOF_BYTES];
    if (!seal_take_challenge(&trunk->seal, message, bytes)) {
        end(trunk, "it has not got the job's key");
        return;
    }
    seal_make_proof(&trunk->seal, proof);
    greet(trunk, proof, sizeof(proof));
    open_up(trunk);
}

static void take_sealed(struct trunk *trunk, const unsigned char *sealed, size_t bytes)
{
    unsigned char *message =
        bytes >= SEAL_EXTRA_BYTES + HEAD_BYTES ? malloc(bytes - SEAL_EXTRA_BYTES) : NULL;
    if (!message || !seal_open(&trunk->seal, sealed, bytes, message)) {
        free(message);
        end(trunk, "a message on the connection does not open");
        return;
    }
    trunk->handlers.message(trunk->handlers.context, (enum trunk_kind)message[0],
                            bytes_get_u32(message + 1), message + HEAD_BYTES,
                            bytes - SEAL_EXTRA_BYTES - HEAD_BYTES);
    free(message);
}

static void arrived(void *context, const void *message, size_t bytes)
{
    struct trunk *trunk = context;
    switch (trunk->stage) {
    case AWAITS_OFFER:
        take_offer(trunk, message, bytes);
        break;
    case AWAITS_CHALLENGE:
        take_challenge(trunk, message, bytes);
        break;
    case AWAITS_PROOF:
        if (seal_take_proof(&trunk->seal, message, bytes))
            open_up(trunk);
        else
            end(trunk, "it has not got the job's key");
        break;
    case OPEN:
        take_sealed(trunk, message, bytes);
        break;
    case ENDED:
        break;
    }
}

static void stream_ended(void *context, cohort_status status)
{
    struct trunk *trunk = context;
    end(trunk, status ? cohort_error_message() : "the connection was closed");
}

cohort_status trunk_open(struct trunk **ret_trunk, struct cohort__loop *loop, int fd,
                         enum seal_side side, const unsigned char key[SEAL_KEY_BYTES],
                         uint32_t host, const struct trunk_handlers *handlers)
{
    struct cohort__stream_handlers own = {.message = arrived, .ended = stream_ended};
    struct trunk *trunk = calloc(1, sizeof(*trunk));
    if (!trunk || !seal_init(&trunk->seal, side, key, host)) {
        close(fd);
        free(trunk);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "no memory or random numbers for a connection");
    }
    trunk->handlers = *handlers;
    trunk->stage = side == SEAL_LAUNCHER ? AWAITS_OFFER : AWAITS_CHALLENGE;
    trunk->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    own.context = trunk;
    cohort_status status =
        cohort__stream_open(&trunk->stream, loop, fd, "the other end", MAX_GREETING, &own);
    if (status) {
        trunk_close(trunk);
        return status;
    }
    if (side == SEAL_DAEMON) {
        unsigned char offer[SEAL_OFFER_BYTES];
        seal_make_offer(&trunk->seal, offer);
        greet(trunk, offer, sizeof(offer));
    }
    *ret_trunk = trunk;
    return COHORT_OK;
}

void trunk_hand_over(struct trunk *trunk, const struct trunk_handlers *handlers)
{
    trunk->handlers = *handlers;
}

void trunk_send(struct trunk *trunk, enum trunk_kind kind, uint32_t rank, const void *data,
                size_t bytes)
{
    if (trunk->stage != OPEN)
        return;
    unsigned char *message = malloc(HEAD_BYTES + bytes + SEAL_EXTRA_BYTES);
    if (!message) {
        give_up(trunk);
        return;
    }
    message[0] = (unsigned char)kind;
    bytes_put_u32(message + 1, rank);
    if (bytes > 0)
        memcpy(message + HEAD_BYTES, data, bytes);
    seal_close(&trunk->seal, message, HEAD_BYTES + bytes);
    if (cohort__stream_send(trunk->stream, message, HEAD_BYTES + bytes + SEAL_EXTRA_BYTES))
        give_up(trunk);
    free(message);
}

void trunk_close(struct trunk *trunk)
{
    if (!trunk)
        return;
    cohort__stream_close(trunk->stream);
    seal_fini(&trunk->seal);
    free(trunk);
}
