/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: proves who is at the other end of that connection, and encrypts it. */
#ifndef COHORT_TOOLS_COHORTRUN_SEAL_H
#define COHORT_TOOLS_COHORTRUN_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps strangers out of a connection between cohortrun and a node daemon. Both hold the key of the
 * job: 32 random bytes, which the daemon was given on its standard input.
 *
 *   daemon    -> cohortrun  OFFER      which host it is for, and a random number
 *   cohortrun -> daemon     CHALLENGE  another one, and a tag that can't be made without the key
 *   daemon    -> cohortrun  PROOF      such a tag as well
 *
 * A tag is a keyed hash (BLAKE2b) of the host, both random numbers and the side that makes it. So
 * neither side's tag can be taken from the other side or from an earlier connection. The same data
 * give two keys, one for each direction. Every later message is sealed with one of them
 * (ChaCha20-Poly1305, the nonce is its number): a message that was changed, left out, repeated or
 * put in another order does not open.
 *
 * A tag on each message would be enough to keep strangers out. The messages are encrypted because
 * they hold the user's whole environment, and what programs read and print. */

enum {
    SEAL_KEY_BYTES = 32,
    SEAL_EXTRA_BYTES = 16, /* a sealed message is longer by this */
    SEAL_RANDOM_BYTES = 32,
    SEAL_TAG_BYTES = 32,
    SEAL_OFFER_BYTES = 8 + 4 + SEAL_RANDOM_BYTES,
    SEAL_CHALLENGE_BYTES = SEAL_RANDOM_BYTES + SEAL_TAG_BYTES,
    SEAL_PROOF_BYTES = SEAL_TAG_BYTES,
};

enum seal_side { SEAL_LAUNCHER, SEAL_DAEMON };

struct seal {
    enum seal_side side;
    uint32_t host; /* at the launcher: known after the offer */
    unsigned char key[SEAL_KEY_BYTES];
    unsigned char randoms[2][SEAL_RANDOM_BYTES]; /* by side */
    unsigned char send_key[SEAL_KEY_BYTES];
    unsigned char receive_key[SEAL_KEY_BYTES];
    uint64_t num_sent;
    uint64_t num_received;
};

/* Makes a new key. False: no random numbers are available. */
bool seal_make_key(unsigned char ret_key[SEAL_KEY_BYTES]);

/* HOST: only at the daemon. False as above. */
bool seal_init(struct seal *seal, enum seal_side side, const unsigned char key[SEAL_KEY_BYTES],
               uint32_t host);
/* Wipes the keys. */
void seal_fini(struct seal *seal);

/* The three messages in their order, each made by one side and checked by the other. */
void seal_make_offer(const struct seal *seal, unsigned char ret_offer[SEAL_OFFER_BYTES]);
bool seal_take_offer(struct seal *seal, const void *offer, size_t bytes);
void seal_make_challenge(struct seal *seal, unsigned char ret_challenge[SEAL_CHALLENGE_BYTES]);
bool seal_take_challenge(struct seal *seal, const void *challenge, size_t bytes);
void seal_make_proof(const struct seal *seal, unsigned char ret_proof[SEAL_PROOF_BYTES]);
bool seal_take_proof(const struct seal *seal, const void *proof, size_t bytes);

/* Seals MESSAGE in place. Its buffer has room for SEAL_EXTRA_BYTES more. */
void seal_close(struct seal *seal, unsigned char *message, size_t bytes);

/* Opens SEALED into RET_MESSAGE, which is SEAL_EXTRA_BYTES shorter. False: it is not the next
 * message of the other side. */
bool seal_open(struct seal *seal, const unsigned char *sealed, size_t bytes,
               unsigned char *ret_message);

#endif
