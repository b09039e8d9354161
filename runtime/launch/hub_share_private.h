/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_PROC_HUB_SHARE_PRIVATE_H
#define COHORT_RUNTIME_PROC_HUB_SHARE_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "cohort/status.h"
#include "runtime/launch/hub_share.h"

/* What host (hub_share_host.c) and guest (hub_share_guest.c) say to each other. */

enum {
    COHORT__HUB_SHARE_PIECE_DESCRIPTORS = 250, /* the kernel takes 253 with one message */
};

enum cohort__hub_note_kind {
    COHORT__HUB_NOTE_HELLO = 1,
    COHORT__HUB_NOTE_PIECE,  /* `num` descriptors come with it, the first of which is `first` */
    COHORT__HUB_NOTE_TAKEN,  /* the guest has those before `first` */
    COHORT__HUB_NOTE_FAILED, /* a text follows: why whoever sends it gives up */
};

/* Of one machine, and mostly of one program: as it is in memory. */
struct cohort__hub_note {
    uint64_t key;
    uint32_t kind;
    uint32_t slot; /* the guest's */
    uint32_t first;
    uint32_t num;
};

struct cohort__hub;

/* A note as it is received. */
struct cohort__hub_words {
    struct cohort__hub_note note;
    char text[512];
};

/* Both work until DEADLINE. Where HUB is NULL, as the error slot says why, the guests are told. */
cohort_status cohort__hub_share_serve(int listener, const struct cohort__hub_party *party,
                                      uint64_t deadline, const struct cohort__hub *hub);
cohort_status cohort__hub_share_fetch(const struct cohort__hub_party *party, uint64_t deadline,
                                      struct cohort__hub **ret_hub);

/* Whether the other side of SOCKET runs for the same user. */
bool cohort__hub_share_is_same_user(int socket);

/* Milliseconds until DEADLINE, as poll takes them. */
int cohort__hub_share_rest(uint64_t deadline);

/* Waits until something has come: false after DEADLINE. */
bool cohort__hub_share_wait(int socket, uint64_t deadline);

/* Sends NOTE with NUM of DESCRIPTORS; as send(2). */
ssize_t cohort__hub_share_send(int socket, const struct cohort__hub_note *note,
                               const int *descriptors, uint32_t num);

/* Tells the other side what the error slot says, as far as it listens. */
void cohort__hub_share_tell(int socket, uint64_t key, uint32_t slot);

/* Whether WORDS, of which GOT bytes came from locality RANK, are that: it is in the error slot. */
bool cohort__hub_share_is_told(struct cohort__hub_words *words, ssize_t got, uint64_t key,
                               uint32_t slot, uint32_t rank);

/* As errno says. PARTY is NULL where nobody knows who is who yet. */
cohort_status cohort__hub_share_fail(const struct cohort__hub_party *party, const char *what);

/* The name of the listener with LISTENER_ID; returns its bytes. */
socklen_t cohort__hub_share_address(uint64_t listener_id, struct sockaddr_un *ret_address);

#endif
