/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cohortrun/seal.h"

#include <string.h>

#include "tests/support/test.h"

enum { BYTES = 20 };

/* Both ends, up to the point where they trust each other. */
struct pair {
    struct seal launcher;
    struct seal daemon;
    unsigned char offer[SEAL_OFFER_BYTES];
    unsigned char challenge[SEAL_CHALLENGE_BYTES];
    unsigned char proof[SEAL_PROOF_BYTES];
};

static void start(struct pair *pair, const unsigned char *launcher_key,
                  const unsigned char *daemon_key)
{
    CHECK(seal_init(&pair->launcher, SEAL_LAUNCHER, launcher_key, 0));
    CHECK(seal_init(&pair->daemon, SEAL_DAEMON, daemon_key, 5));
    seal_make_offer(&pair->daemon, pair->offer);
}

static void shake_hands(struct pair *pair)
{
    unsigned char key[SEAL_KEY_BYTES];
    CHECK(seal_make_key(key));
    start(pair, key, key);
    CHECK(seal_take_offer(&pair->launcher, pair->offer, sizeof(pair->offer)));
    CHECK_INT(pair->launcher.host, 5);
    seal_make_challenge(&pair->launcher, pair->challenge);
    CHECK(seal_take_challenge(&pair->daemon, pair->challenge, sizeof(pair->challenge)));
    seal_make_proof(&pair->daemon, pair->proof);
    CHECK(seal_take_proof(&pair->launcher, pair->proof, sizeof(pair->proof)));
}

static void seal_text(struct seal *seal, unsigned char sealed[BYTES + SEAL_EXTRA_BYTES],
                      const char *text)
{
    memset(sealed, 0, BYTES);
    strcpy((char *)sealed, text);
    seal_close(seal, sealed, BYTES);
    CHECK(memcmp(sealed, text, strlen(text)) != 0);
}

static bool opens(struct seal *seal, const unsigned char *sealed, size_t bytes, const char *text)
{
    unsigned char message[BYTES] = "";
    return seal_open(seal, sealed, bytes, message) && strcmp((char *)message, text) == 0;
}

TEST(both_ways)
{
    struct pair pair;
    unsigned char sealed[BYTES + SEAL_EXTRA_BYTES];
    shake_hands(&pair);
    for (int i = 0; i < 3; i++) {
        seal_text(&pair.launcher, sealed, "down");
        CHECK(opens(&pair.daemon, sealed, sizeof(sealed), "down"));
        seal_text(&pair.daemon, sealed, "up");
        CHECK(opens(&pair.launcher, sealed, sizeof(sealed), "up"));
    }
    seal_fini(&pair.launcher);
    CHECK(pair.launcher.send_key[0] == 0 && pair.launcher.key[0] == 0);
}

/* Greetings with one changed byte, and greetings that are too short or too long. */
TEST(changed_greetings)
{
    struct pair pair;
    shake_hands(&pair);
    for (size_t i = 0; i < sizeof(pair.challenge); i++) {
        pair.challenge[i] ^= 1;
        CHECK(!seal_take_challenge(&pair.daemon, pair.challenge, sizeof(pair.challenge)));
        pair.challenge[i] ^= 1;
    }
    CHECK(!seal_take_challenge(&pair.daemon, pair.challenge, sizeof(pair.challenge) - 1));
    for (size_t i = 0; i < sizeof(pair.proof); i++) {
        pair.proof[i] ^= 1;
        CHECK(!seal_take_proof(&pair.launcher, pair.proof, sizeof(pair.proof)));
        pair.proof[i] ^= 1;
    }
    CHECK(!seal_take_proof(&pair.launcher, pair.proof, 0));
    for (size_t i = 0; i < sizeof(pair.offer); i++) {
        pair.offer[i] ^= 1;
        /* The beginning is checked. Changes behind it lead to different tags. */
        if (seal_take_offer(&pair.launcher, pair.offer, sizeof(pair.offer)))
            CHECK(!seal_take_proof(&pair.launcher, pair.proof, sizeof(pair.proof)));
        else
            CHECK(i < 8);
        pair.offer[i] ^= 1;
    }
    CHECK(!seal_take_offer(&pair.launcher, pair.offer, sizeof(pair.offer) - 1));
}

TEST(wrong_key)
{
    struct pair pair;
    unsigned char key[SEAL_KEY_BYTES], other[SEAL_KEY_BYTES];
    CHECK(seal_make_key(key) && seal_make_key(other));
    CHECK(memcmp(key, other, sizeof(key)) != 0);
    start(&pair, key, other);
    CHECK(seal_take_offer(&pair.launcher, pair.offer, sizeof(pair.offer)));
    seal_make_challenge(&pair.launcher, pair.challenge);
    CHECK(!seal_take_challenge(&pair.daemon, pair.challenge, sizeof(pair.challenge)));
    seal_make_proof(&pair.daemon, pair.proof);
    CHECK(!seal_take_proof(&pair.launcher, pair.proof, sizeof(pair.proof)));
}

/* What one side sends is not accepted by that side, nor in another connection. */
TEST(reflected)
{
    struct pair pair, later;
    unsigned char sealed[BYTES + SEAL_EXTRA_BYTES];
    shake_hands(&pair);
    CHECK(!seal_take_proof(&pair.launcher, pair.challenge + SEAL_RANDOM_BYTES, SEAL_TAG_BYTES));
    seal_text(&pair.launcher, sealed, "down");
    CHECK(!opens(&pair.launcher, sealed, sizeof(sealed), "down"));
    start(&later, pair.launcher.key, pair.launcher.key);
    /* From the first connection. */
    CHECK(seal_take_offer(&later.launcher, pair.offer, sizeof(pair.offer)));
    seal_make_challenge(&later.launcher, later.challenge);
    CHECK(!seal_take_proof(&later.launcher, pair.proof, sizeof(pair.proof)));
}

TEST(changed_messages)
{
    struct pair pair;
    unsigned char sealed[2][BYTES + SEAL_EXTRA_BYTES];
    for (size_t i = 0; i < sizeof(sealed[0]); i++) {
        shake_hands(&pair);
        seal_text(&pair.daemon, sealed[0], "up");
        sealed[0][i] ^= 1;
        CHECK(!opens(&pair.launcher, sealed[0], sizeof(sealed[0]), "up"));
    }
    shake_hands(&pair);
    seal_text(&pair.daemon, sealed[0], "first");
    seal_text(&pair.daemon, sealed[1], "second");
    CHECK(!opens(&pair.launcher, sealed[1], sizeof(sealed[1]), "second")); /* out of order */
    shake_hands(&pair);
    seal_text(&pair.daemon, sealed[0], "first");
    CHECK(opens(&pair.launcher, sealed[0], sizeof(sealed[0]), "first"));
    CHECK(!opens(&pair.launcher, sealed[0], sizeof(sealed[0]), "first")); /* again */
    CHECK(!opens(&pair.launcher, sealed[0], SEAL_EXTRA_BYTES - 1, ""));
}
