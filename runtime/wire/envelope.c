/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/envelope.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <string.h>

/* The limits of one kind of message. */
struct rule {
    const char *name;
    uint32_t min_payload;
    uint32_t max_payload;
    uint64_t min_total;
    uint64_t max_total;
    uint32_t max_offset;
};

static const struct rule rules[COHORT__KIND_END] = {
    [COHORT__KIND_DATA] = {"DATA", 0, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_ANNOUNCE] = {"ANNOUNCE", COHORT__ENVELOPE_TOKEN_BYTES,
                               COHORT__ENVELOPE_TOKEN_BYTES, 0, UINT64_MAX, 0},
    [COHORT__KIND_FETCHED] = {"FETCHED", 0, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_ERROR] = {"ERROR", 0, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_ASK] = {"ASK", 0, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_ANSWER] = {"ANSWER", 0, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_CREDIT] = {"CREDIT", 0, 0, 0, 0, 0},
    [COHORT__KIND_REGISTRY] = {"REGISTRY", 1, UINT32_MAX, 0, 0, 0},
    [COHORT__KIND_FRAGMENT] = {"FRAGMENT", 1, UINT32_MAX, 2, UINT32_MAX, UINT32_MAX},
    [COHORT__KIND_VERDICT] = {"VERDICT", 0, UINT32_MAX, 0, 0, 0},
};

/* One word of 8 bytes, made of two numbers of 4 bytes. FIRST comes first in memory. */
static uint64_t pair(uint32_t first, uint32_t second)
{
    return first | (uint64_t)second << 32;
}

static void put64(unsigned char *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof value);
}

static uint16_t get16(const unsigned char *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return le16toh(value);
}

static uint32_t get32(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return le32toh(value);
}

static uint64_t get64(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return le64toh(value);
}

const char *cohort__kind_name(enum cohort__kind kind)
{
    return kind > 0 && kind < COHORT__KIND_END ? rules[kind].name : "unknown";
}

void cohort__envelope_encode(const struct cohort__envelope *envelope,
                             unsigned char out[COHORT__ENVELOPE_BYTES])
{
    assert(envelope->credit <= COHORT__ENVELOPE_MAX_CREDIT);
    assert(envelope->drained <= COHORT__ENVELOPE_MAX_DRAINED);
    /* Writes whole words, so that they can be read back immediately, in the order in which they are
     * written. */
    put64(out, pair(COHORT__ENVELOPE_MAGIC | COHORT__ENVELOPE_VERSION << 16 |
                        (uint32_t)envelope->kind << 24,
                    envelope->source_locality));
    put64(out + 8, envelope->job_key);
    put64(out + 16, pair(envelope->epoch, envelope->credit | envelope->drained << 24));
    put64(out + 24, envelope->instance);
    put64(out + 32, envelope->generation);
    put64(out + 40, pair(envelope->source_site, envelope->dest_site));
    put64(out + 48, envelope->fingerprint);
    put64(out + 56, pair(envelope->tag, envelope->payload_bytes));
    put64(out + 64, envelope->total_bytes);
    put64(out + 72, envelope->handle);
    put64(out + 80, pair(envelope->number, envelope->segment));
    put64(out + 88, pair(envelope->incarnation, envelope->offset));
}

/* The order of the checks: first messages that are not Cohort's at all, then another version of
 * Cohort, then the details. */
static cohort_status check(const unsigned char *bytes, size_t n)
{
    if (n < COHORT__ENVELOPE_BYTES)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "a message of %zu bytes is too short for an envelope of %d", n,
                           COHORT__ENVELOPE_BYTES);
    if (get16(bytes) != COHORT__ENVELOPE_MAGIC)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "a message begins with 0x%04x, not with an envelope's magic 0x%04x",
                           get16(bytes), COHORT__ENVELOPE_MAGIC);
    if (bytes[2] != COHORT__ENVELOPE_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "an envelope has version %u, this locality speaks version %d", bytes[2],
                           COHORT__ENVELOPE_VERSION);
    if (bytes[3] == 0 || bytes[3] >= COHORT__KIND_END)
        return cohort_fail(COHORT_ERR_PROTOCOL, "an envelope is of kind %u, which is unknown",
                           bytes[3]);
    const struct rule *rule = &rules[bytes[3]];
    uint32_t payload = get32(bytes + 60);
    uint64_t total = get64(bytes + 64);
    if (payload != n - COHORT__ENVELOPE_BYTES)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s announces a payload of %" PRIu32 " bytes, but carries %zu",
                           rule->name, payload, n - COHORT__ENVELOPE_BYTES);
    if (payload < rule->min_payload || payload > rule->max_payload)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s carries a payload of %" PRIu32 " bytes, not %" PRIu32 "%s",
                           rule->name, payload, rule->min_payload,
                           rule->max_payload > rule->min_payload ? " or more" : "");
    if (total < rule->min_total || total > rule->max_total)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s speaks of a block of %" PRIu64 " bytes",
                           rule->name, total);
    uint32_t offset = get32(bytes + 92);
    if (offset > rule->max_offset)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s ends its envelope with 0x%" PRIx32 ", not 0",
                           rule->name, offset);
    if (rule->max_offset > 0 && (offset > total || payload >= total || payload > total - offset))
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s has %" PRIu32 " bytes from byte %" PRIu32 " on of %" PRIu64,
                           rule->name, payload, offset, total);
    return COHORT_OK;
}

cohort_status cohort__envelope_decode(const unsigned char *bytes, size_t n,
                                      struct cohort__envelope *ret)
{
    cohort_status st = check(bytes, n);
    if (st != COHORT_OK)
        return st;
    *ret = (struct cohort__envelope){
        .kind = (enum cohort__kind)bytes[3],
        .source_locality = get32(bytes + 4),
        .job_key = get64(bytes + 8),
        .epoch = get32(bytes + 16),
        .credit = get32(bytes + 20) & COHORT__ENVELOPE_MAX_CREDIT,
        .drained = bytes[23],
        .instance = get64(bytes + 24),
        .generation = get64(bytes + 32),
        .source_site = get32(bytes + 40),
        .dest_site = get32(bytes + 44),
        .fingerprint = get64(bytes + 48),
        .tag = get32(bytes + 56),
        .payload_bytes = (uint32_t)(n - COHORT__ENVELOPE_BYTES),
        .total_bytes = get64(bytes + 64),
        .handle = get64(bytes + 72),
        .number = get32(bytes + 80),
        .segment = get32(bytes + 84),
        .incarnation = get32(bytes + 88),
        .offset = get32(bytes + 92),
    };
    return COHORT_OK;
}

cohort_status cohort__envelope_decode_front(const unsigned char *bytes, size_t n,
                                            struct cohort__envelope *ret)
{
    if (n >= COHORT__ENVELOPE_BYTES)
        n = COHORT__ENVELOPE_BYTES + (size_t)get32(bytes + 60);
    return cohort__envelope_decode(bytes, n, ret);
}
