/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/envelope.h"

#include <string.h>

#include "tests/support/test.h"

static struct cohort__envelope example(enum cohort__kind kind)
{
    struct cohort__envelope e = {
        .kind = kind,
        .source_locality = 0x04050607,
        .job_key = 0x08090a0b0c0d0e0f,
        .epoch = 0x10111213,
        .credit = 0x151617,
        .drained = 0x14,
        .instance = 0x18191a1b1c1d1e1f,
        .generation = 0x2021222324252627,
        .source_site = 0x28292a2b,
        .dest_site = 0x2c2d2e2f,
        .fingerprint = 0x3031323334353637,
        .tag = 0x38393a3b,
        .handle = 0x48494a4b4c4d4e4f,
        .number = 0x50515253,
        .segment = 0x54555657,
        .incarnation = 0x58595a5b,
    };
    if (kind == COHORT__KIND_ANNOUNCE) {
        e.payload_bytes = COHORT__ENVELOPE_TOKEN_BYTES;
        e.total_bytes = 0x4041424344454647;
    } else if (kind == COHORT__KIND_ERROR || kind == COHORT__KIND_REGISTRY) {
        e.payload_bytes = 7;
    } else if (kind == COHORT__KIND_FRAGMENT) {
        e.payload_bytes = 7;
        e.total_bytes = 0x1000;
        e.offset = 0x5c;
    }
    return e;
}

static bool same(const struct cohort__envelope *a, const struct cohort__envelope *b)
{
    return a->kind == b->kind && a->source_locality == b->source_locality &&
           a->job_key == b->job_key && a->epoch == b->epoch && a->credit == b->credit &&
           a->drained == b->drained && a->instance == b->instance &&
           a->generation == b->generation && a->source_site == b->source_site &&
           a->dest_site == b->dest_site && a->fingerprint == b->fingerprint && a->tag == b->tag &&
           a->payload_bytes == b->payload_bytes && a->total_bytes == b->total_bytes &&
           a->handle == b->handle && a->number == b->number && a->segment == b->segment &&
           a->incarnation == b->incarnation && a->offset == b->offset;
}

TEST(round_trip)
{
    for (int kind = 1; kind < COHORT__KIND_END; kind++) {
        struct cohort__envelope e = example((enum cohort__kind)kind);
        struct cohort__envelope back = {0};
        unsigned char bytes[COHORT__ENVELOPE_BYTES];
        cohort__envelope_encode(&e, bytes);
        CHECK_OK(cohort__envelope_decode(bytes, sizeof bytes + e.payload_bytes, &back));
        CHECK(same(&e, &back));
    }
}

/* The wire format determines the layout, not the compiler. */
TEST(layout)
{
    static const unsigned char want[COHORT__ENVELOPE_BYTES] = {
        0x43, 0x48, 0x08, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a,
        0x09, 0x08, 0x13, 0x12, 0x11, 0x10, 0x17, 0x16, 0x15, 0x14, 0x1f, 0x1e, 0x1d, 0x1c,
        0x1b, 0x1a, 0x19, 0x18, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, 0x20, 0x2b, 0x2a,
        0x29, 0x28, 0x2f, 0x2e, 0x2d, 0x2c, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x30,
        0x3b, 0x3a, 0x39, 0x38, 0x28, 0x00, 0x00, 0x00, 0x47, 0x46, 0x45, 0x44, 0x43, 0x42,
        0x41, 0x40, 0x4f, 0x4e, 0x4d, 0x4c, 0x4b, 0x4a, 0x49, 0x48, 0x53, 0x52, 0x51, 0x50,
        0x57, 0x56, 0x55, 0x54, 0x5b, 0x5a, 0x59, 0x58, 0,    0,    0,    0,
    };
    struct cohort__envelope e = example(COHORT__KIND_ANNOUNCE);
    unsigned char bytes[COHORT__ENVELOPE_BYTES];
    cohort__envelope_encode(&e, bytes);
    for (size_t i = 0; i < sizeof want; i++)
        CHECK_INT(bytes[i], want[i]);
}

/* A valid message of KIND with one byte changed, N bytes long, has to be refused with TEXT. */
static void refuse(enum cohort__kind kind, size_t n, size_t at, unsigned char value,
                   const char *text)
{
    struct cohort__envelope e = example(kind);
    struct cohort__envelope back = {.tag = 99};
    unsigned char bytes[COHORT__ENVELOPE_BYTES];
    cohort__envelope_encode(&e, bytes);
    bytes[at] = value;
    CHECK_FAILS(cohort__envelope_decode(bytes, n, &back), COHORT_ERR_PROTOCOL, text);
    CHECK_INT(back.tag, 99);
}

TEST(not_ours)
{
    for (size_t n = 0; n < COHORT__ENVELOPE_BYTES; n++)
        refuse(COHORT__KIND_DATA, n, 0, 0x43, "too short");
    refuse(COHORT__KIND_DATA, 96, 0, 0x44, "magic");
    refuse(COHORT__KIND_DATA, 96, 1, 0x00, "magic");
    refuse(COHORT__KIND_DATA, 96, 2, 1, "version 1");
    refuse(COHORT__KIND_DATA, 96, 2, 0, "version 0");
    refuse(COHORT__KIND_DATA, 96, 3, 0, "kind 0");
    refuse(COHORT__KIND_DATA, 96, 3, COHORT__KIND_END, "unknown");
    refuse(COHORT__KIND_DATA, 96, 3, 255, "kind 255");
}

TEST(payload)
{
    refuse(COHORT__KIND_DATA, 97, 60, 0, "carries 1");
    refuse(COHORT__KIND_DATA, 96, 60, 1, "payload of 1 bytes");
    refuse(COHORT__KIND_DATA, 96, 63, 0x80, "payload of 2147483648");
    refuse(COHORT__KIND_DATA, (size_t)96 + UINT32_MAX + 1, 60, 0, "carries 4294967296");
    refuse(COHORT__KIND_ANNOUNCE, 96 + 39, 60, 39, "payload of 39 bytes, not 40");
    refuse(COHORT__KIND_ANNOUNCE, 96 + 41, 60, 41, "payload of 41 bytes, not 40");
    refuse(COHORT__KIND_CREDIT, 97, 60, 1, "CREDIT carries a payload");
    refuse(COHORT__KIND_REGISTRY, 96, 60, 0, "not 1 or more");
}

TEST(total)
{
    for (int kind = 1; kind < COHORT__KIND_END; kind++) {
        struct cohort__envelope e = example((enum cohort__kind)kind);
        if (kind != COHORT__KIND_ANNOUNCE && kind != COHORT__KIND_FRAGMENT)
            refuse(e.kind, 96 + e.payload_bytes, 71, 1, "block of 72057594037927936 bytes");
    }
    struct cohort__envelope e = example(COHORT__KIND_ANNOUNCE);
    struct cohort__envelope back;
    unsigned char bytes[COHORT__ENVELOPE_BYTES];
    e.total_bytes = 0;
    cohort__envelope_encode(&e, bytes);
    CHECK_OK(cohort__envelope_decode(bytes, 96 + 40, &back));
    CHECK_INT(back.total_bytes, 0);
}

TEST(rest)
{
    refuse(COHORT__KIND_DATA, 96, 92, 1, "DATA ends its envelope with 0x1, not 0");
    refuse(COHORT__KIND_CREDIT, 96, 95, 1, "0x1000000, not 0");
    refuse(COHORT__KIND_FRAGMENT, 96, 60, 0, "not 1 or more");
    refuse(COHORT__KIND_FRAGMENT, 96 + 7, 65, 0, "block of 0 bytes");
    refuse(COHORT__KIND_FRAGMENT, 96 + 7, 93, 0x10, "7 bytes from byte 4188 on of 4096");
    refuse(COHORT__KIND_FRAGMENT, 96 + 7, 94, 1, "on of 4096");
    struct cohort__envelope e = example(COHORT__KIND_FRAGMENT), back;
    unsigned char bytes[COHORT__ENVELOPE_BYTES];
    for (e.offset = 0x1000 - 7; e.offset <= 0x1000 - 6; e.offset++) {
        cohort__envelope_encode(&e, bytes);
        CHECK_INT(cohort__envelope_decode(bytes, 96 + 7, &back),
                  e.offset == 0x1000 - 7 ? COHORT_OK : COHORT_ERR_PROTOCOL);
    }
    e.total_bytes = e.payload_bytes; /* all of it is no fragment */
    e.offset = 0;
    cohort__envelope_encode(&e, bytes);
    CHECK_INT(cohort__envelope_decode(bytes, 96 + 7, &back), COHORT_ERR_PROTOCOL);
}

TEST(kind_name)
{
    CHECK_TEXT(cohort__kind_name(COHORT__KIND_DATA), "DATA");
    CHECK_TEXT(cohort__kind_name(COHORT__KIND_REGISTRY), "REGISTRY");
    CHECK_TEXT(cohort__kind_name(COHORT__KIND_VERDICT), "VERDICT");
    CHECK_TEXT(cohort__kind_name((enum cohort__kind)0), "unknown");
    CHECK_TEXT(cohort__kind_name(COHORT__KIND_END), "unknown");
}
