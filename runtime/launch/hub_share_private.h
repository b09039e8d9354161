/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_LAUNCH_HUB_SHARE_PRIVATE_H
#define COHORT_RUNTIME_LAUNCH_HUB_SHARE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cohort/status.h"
#include "runtime/launch/hub_share.h"

/* The messages between host and guest. */

enum {
    COHORT__HUB_SHARE_PIECE_DESCRIPTORS = 250, /* the kernel allows 253 in one message */
};

enum cohort__hub_note_kind {
    COHORT__HUB_NOTE_HELLO = 1,
    COHORT__HUB_NOTE_PIECE,  /* carries `num` descriptors; the number of the first one is `first` */
    COHORT__HUB_NOTE_TAKEN,  /* the guest has all descriptors before `first` */
    COHORT__HUB_NOTE_FAILED, /* a text follows that says why the sender gives up */
};

/* Sent in the same form as it has in memory, since both sides are on one machine, and mostly run
 * the same program. */
struct cohort__hub_note {
    uint64_t key;
    uint32_t kind;
    uint32_t slot; /* the slot of the guest */
    uint32_t first;
    uint32_t num;
};

struct cohort__hub;

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
