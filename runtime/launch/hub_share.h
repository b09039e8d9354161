/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_HUB_SHARE_H
#define COHORT_RUNTIME_LAUNCH_HUB_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cohort/status.h"

struct cohort__hub;

/* How the localities of one host get one common hub (runtime/net/hub.h) if no common parent can
 * pass it to them. One of them, the server, creates the hub and sends its descriptors to
 * the others, the clients, through a socket. The socket has an abstract name. So it is not in the
 * file system, and nothing is left behind, no matter which process is killed at what time.
 *
 * Each locality opens a listener before it knows its place. When all know the listeners of all, the
 * clients connect to that of slot 0. It is open by then, so no client has to try twice:
 *
 *     client                              server
 *     HELLO slot          ->              serves one client at a time, since the kernel limits how
 *                         <-  PIECE       many descriptors may be under way; at most 250 a message
 *     TAKEN               ->              and so on, until the client has all
 *
 * If one side fails, it sends FAILED with the reason before it ends. So each locality knows the
 * reason, and it doesn't matter which of them the launcher allows to print it.
 *
 * All users of the machine can see the names of sockets, so the name of the listener is random and
 * contains no information. Each message carries the job's key, which only the localities know.
 * Connections of other users, or without the key, are dropped and do no harm. */
struct cohort__hub_share {
    int listener;
    uint64_t listener_id; /* random; the name of the listener is made from it */
};

/* The description of a share and of this locality's place in it. */
struct cohort__hub_party {
    uint64_t listener_id; /* the listener of slot 0 */
    uint64_t key;         /* the job's key */
    uint32_t rank;        /* of this locality; the ranks of all that share are consecutive */
    uint32_t slot;
    uint32_t size; /* number of slots */
    uint64_t timeout_ns;
};

/* Opens a listener. COHORT_ERR_SYSTEM, COHORT_ERR_NO_MEMORY. */
cohort_status cohort__hub_share_init(struct cohort__hub_share *share);

/* Closes the listener. May be called twice. */
void cohort__hub_share_fini(struct cohort__hub_share *share);

/* Waits until this locality has the hub, and in slot 0, until all have it. Then closes the
 * listener. Error messages say which locality has waited for which. COHORT_ERR_PEER_DIED,
 * COHORT_ERR_TIMEOUT after PARTY->timeout_ns, COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY if there
 * are not enough descriptors, COHORT_ERR_SYSTEM. Once. */
cohort_status cohort__hub_share_meet(struct cohort__hub_share *share,
                                     const struct cohort__hub_party *party,
                                     struct cohort__hub **ret_hub);

/* --- the messages between server and client: for hub_share.c, and tests that play one of them ---
 */

enum {
    COHORT__HUB_SHARE_PIECE_DESCRIPTORS = 250, /* the kernel allows 253 in one message */
};

enum cohort__hub_note_kind {
    COHORT__HUB_NOTE_HELLO = 1,
    COHORT__HUB_NOTE_PIECE,  /* carries `num` descriptors; the number of the first one is `first` */
    COHORT__HUB_NOTE_TAKEN,  /* the client has all descriptors before `first` */
    COHORT__HUB_NOTE_FAILED, /* a text follows that says why the sender gives up */
};

/* Sent in the same form as it has in memory, since both sides are on one machine, and mostly run
 * the same program. */
struct cohort__hub_note {
    uint64_t key;
    uint32_t kind;
    uint32_t slot; /* the slot of the client */
    uint32_t first;
    uint32_t num;
};

/* A note that is received, perhaps with a text after it. */
struct cohort__hub_words {
    struct cohort__hub_note note;
    char text[512];
};

/* Sends NOTE with NUM of DESCRIPTORS. Returns what send(2) returns. */
ssize_t cohort__hub_share_send(int socket, const struct cohort__hub_note *note,
                               const int *descriptors, uint32_t num);

/* Sends the message in the error slot to the other side, if that still reads. */
void cohort__hub_share_tell(int socket, uint64_t key, uint32_t slot);

/* Whether WORDS, of which GOT bytes came from locality RANK, are such a message. If so, it is now
 * in the error slot. */
bool cohort__hub_share_is_told(struct cohort__hub_words *words, ssize_t got, uint64_t key,
                               uint32_t slot, uint32_t rank);

/* Makes the address of the listener with LISTENER_ID. Returns its size in bytes. */
socklen_t cohort__hub_share_address(uint64_t listener_id, struct sockaddr_un *ret_address);

#endif
