/* SPDX-License-Identifier: Apache-2.0 */
/* cohortrun: proves who is at the other end of that connection, and encrypts it. */
#include "tools/cohortrun/seal.h"

#include <sodium.h>
#include <string.h>

#include "tools/cohortrun/bytes.h"

/* The last byte is the version of what is sent on such a connection, also of node_link.h. */
static const unsigned char magic[] = {'C', 'O', 'H', 'O', 'R', 'T', 'R', 6};

/* What a hash under the job's key is for. */
enum purpose { TAG_OF_LAUNCHER = 1, TAG_OF_DAEMON, KEY_OF_LAUNCHER, KEY_OF_DAEMON };

static void derive(const struct seal *seal, enum purpose purpose, unsigned char ret[32])
{
    unsigned char text[sizeof(magic) + 1 + 4 + sizeof(seal->randoms)];
    memcpy(text, magic, sizeof(magic));
    text[sizeof(magic)] = (unsigned char)purpose;
    bytes_put_u32(text + sizeof(magic) + 1, seal->host);
    memcpy(text + sizeof(magic) + 5, seal->randoms, sizeof(seal->randoms));
    crypto_generichash(ret, 32, text, sizeof(text), seal->key, SEAL_KEY_BYTES);
}

static void derive_keys(struct seal *seal)
{
    bool is_launcher = seal->side == SEAL_LAUNCHER;
    derive(seal, is_launcher ? KEY_OF_LAUNCHER : KEY_OF_DAEMON, seal->send_key);
    derive(seal, is_launcher ? KEY_OF_DAEMON : KEY_OF_LAUNCHER, seal->receive_key);
}

static bool is_tag(const struct seal *seal, enum purpose purpose, const void *tag)
{
    unsigned char own[SEAL_TAG_BYTES];
    derive(seal, purpose, own);
    return sodium_memcmp(own, tag, sizeof(own)) == 0;
}

bool seal_make_key(unsigned char ret_key[SEAL_KEY_BYTES])
{
    if (sodium_init() < 0)
        return false;
    randombytes_buf(ret_key, SEAL_KEY_BYTES);
    return true;
}

bool seal_init(struct seal *seal, enum seal_side side, const unsigned char key[SEAL_KEY_BYTES],
               uint32_t host)
{
    if (sodium_init() < 0)
        return false;
    *seal = (struct seal){.side = side, .host = host};
    memcpy(seal->key, key, SEAL_KEY_BYTES);
    randombytes_buf(seal->randoms[side], SEAL_RANDOM_BYTES);
    return true;
}

void seal_fini(struct seal *seal)
{
    sodium_memzero(seal, sizeof(*seal));
}

void seal_make_offer(const struct seal *seal, unsigned char ret_offer[SEAL_OFFER_BYTES])
{
    memcpy(ret_offer, magic, sizeof(magic));
    bytes_put_u32(ret_offer + sizeof(magic), seal->host);
    memcpy(ret_offer + sizeof(magic) + 4, seal->randoms[SEAL_DAEMON], SEAL_RANDOM_BYTES);
}

bool seal_take_offer(struct seal *seal, const void *offer, size_t bytes)
{
    const unsigned char *from = offer;
    if (bytes != SEAL_OFFER_BYTES || memcmp(from, magic, sizeof(magic)) != 0)
        return false;
    seal->host = bytes_get_u32(from + sizeof(magic));
    memcpy(seal->randoms[SEAL_DAEMON], from + sizeof(magic) + 4, SEAL_RANDOM_BYTES);
    return true;
}

void seal_make_challenge(struct seal *seal, unsigned char ret_challenge[SEAL_CHALLENGE_BYTES])
{
    memcpy(ret_challenge, seal->randoms[SEAL_LAUNCHER], SEAL_RANDOM_BYTES);
    derive(seal, TAG_OF_LAUNCHER, ret_challenge + SEAL_RANDOM_BYTES);
    derive_keys(seal);
}

bool seal_take_challenge(struct seal *seal, const void *challenge, size_t bytes)
{
    const unsigned char *from = challenge;
    if (bytes != SEAL_CHALLENGE_BYTES)
        return false;
    memcpy(seal->randoms[SEAL_LAUNCHER], from, SEAL_RANDOM_BYTES);
    if (!is_tag(seal, TAG_OF_LAUNCHER, from + SEAL_RANDOM_BYTES))
        return false;
    derive_keys(seal);
    return true;
}

void seal_make_proof(const struct seal *seal, unsigned char ret_proof[SEAL_PROOF_BYTES])
{
    derive(seal, TAG_OF_DAEMON, ret_proof);
}

bool seal_take_proof(const struct seal *seal, const void *proof, size_t bytes)
{
    return bytes == SEAL_PROOF_BYTES && is_tag(seal, TAG_OF_DAEMON, proof);
}

static void make_nonce(uint64_t number,
                       unsigned char ret[crypto_aead_chacha20poly1305_ietf_NPUBBYTES])
{
    memset(ret, 0, crypto_aead_chacha20poly1305_ietf_NPUBBYTES);
    bytes_put_u32(ret, (uint32_t)number);
    bytes_put_u32(ret + 4, (uint32_t)(number >> 32));
}

void seal_close(struct seal *seal, unsigned char *message, size_t bytes)
{
    unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    make_nonce(seal->num_sent++, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(message, NULL, message, bytes, NULL, 0, NULL, nonce,
                                              seal->send_key);
}

bool seal_open(struct seal *seal, const unsigned char *sealed, size_t bytes,
               unsigned char *ret_message)
{
    unsigned char nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    make_nonce(seal->num_received++, nonce);
    return bytes >= SEAL_EXTRA_BYTES &&
           crypto_aead_chacha20poly1305_ietf_decrypt(ret_message, NULL, NULL, sealed, bytes, NULL,
                                                     0, nonce, seal->receive_key) == 0;
}
