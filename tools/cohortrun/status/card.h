/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: what it tells of its job to whoever asks how that is. */
#ifndef COHORT_TOOLS_COHORTRUN_STATUS_CARD_H
#define COHORT_TOOLS_COHORTRUN_STATUS_CARD_H

#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"

/* cohortrun listens at a socket with an abstract name, so nothing of it is left over, whoever is
 * killed. Whoever connects gets one byte, and with it the descriptor of this host's ledger, if
 * there is one; then one message (runtime/loop/stream.h): the card, a msgpack map. So cohortrun
 * itself reads no ledger, and the one who asks needs no answer of any locality. */
struct card {
    uint32_t pid;        /* of cohortrun */
    uint32_t size;       /* localities */
    uint32_t first, num; /* those that are in the ledger, by slots */
    const char *program; /* with its arguments */
    struct card_locality {
        uint32_t pid;     /* 0: it has not been started */
        const char *host; /* "": that of cohortrun */
        const char *end;  /* "locality 1 (pid 7) exited with status 0"; "": it runs */
    } * localities;
};

/* After that come messages of these kinds (u8), about the localities of other hosts. */
enum card_message {
    CARD_LOOK, /* u32 rank, u8 enum node_fetch_kind, data: see node_fetch.h */
    CARD_END,  /* the last one */
};
enum { CARD_LOOK_HEAD_BYTES = 6 };

enum { CARD_VERSION = 3, CARD_MAX_BYTES = 8 << 20, CARD_NAME_BYTES = 64 };

/* The name of the socket, without the 0 in front of it, for the job of cohortrun PID. */
void card_name(uint32_t user, int pid, char ret_name[CARD_NAME_BYTES]);
#define CARD_NAME_FORMAT "cohort-job-%u-%d" /* user, pid */

/* Appends CARD to PACKER, whose status says whether that succeeded. */
void card_pack(struct cohort__packer *packer, const struct card *card);

/* On success the card is one block of memory, which the caller frees. COHORT_ERR_PROTOCOL: it makes
 * no sense, or is of another version. */
cohort_status card_read(struct card **ret_card, const void *message, size_t bytes);

#endif
