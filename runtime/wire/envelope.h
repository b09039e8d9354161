/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_ENVELOPE_H
#define COHORT_RUNTIME_WIRE_ENVELOPE_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* The fixed binary header of every message between localities, little-endian, without padding:
 *
 *   0 magic u16   2 version u8   3 kind u8    4 source_locality u32
 *   8 job_key u64              16 epoch u32  20 credit u24  23 drained u8
 *  24 instance u64             32 generation u64
 *  40 source_site u32          44 dest_site u32
 *  48 fingerprint u64          56 tag u32    60 payload_bytes u32
 *  64 total_bytes u64          72 handle u64
 *  80 number u32               84 segment u32
 *  88 incarnation u32          92 offset u32                             96: the payload
 *
 * No field has two meanings to save room. On a network, this costs 16 bytes. Within a host, only
 * words that differ from those of the last message are written (net/shm_progress.c), and the number
 * is implied. */
enum {
    COHORT__ENVELOPE_BYTES = 96,
    COHORT__ENVELOPE_NUMBER_AT = 80,
    COHORT__ENVELOPE_MAGIC = 0x4843, /* "CH" in a dump */
    COHORT__ENVELOPE_VERSION = 8,
    COHORT__ENVELOPE_TOKEN_BYTES = 40, /* the payload of ANNOUNCE is a net token of this size */
    COHORT__ENVELOPE_MAX_CREDIT = 0xffffff,
    COHORT__ENVELOPE_MAX_DRAINED = 0xff,
};

/* The instance of messages of remote tasks. Communicators have at least 1 << 32. */
#define COHORT__INSTANCE_REMOTE UINT64_C(1)

enum cohort__kind {
    COHORT__KIND_DATA = 1, /* carries the payload itself */
    COHORT__KIND_ANNOUNCE, /* total_bytes wait at the sender; the payload is a token for them */
    COHORT__KIND_FETCHED,  /* the announcer may use the block that was announced with `handle`
                            * again; tag 1: the block was not wanted, and the payload may say which
                            * locality has died */
    COHORT__KIND_ERROR,  /* instead of data: msgpack that says which site has failed, and how; empty
                          * where there was no memory for that */
    COHORT__KIND_ASK,    /* asks what has become of `generation` at the receiver; the payload is
                          * msgpack that says what the sender has called, or empty */
    COHORT__KIND_ANSWER, /* the answer is in `tag`; the last generation called, in `handle` */
    COHORT__KIND_CREDIT, /* carries only `credit` and `drained`; tag 1: asks for a CREDIT back */
    COHORT__KIND_REGISTRY, /* msgpack to or from the name registry */
    COHORT__KIND_FRAGMENT, /* a piece of a DATA that has total_bytes; those of one have the same
                            * `handle`, and else are like that DATA */
    COHORT__KIND_VERDICT,  /* about taking back `generation`, for no single site: what it says is in
                            * `tag` and `handle` (comm/verdict.c) */
    COHORT__KIND_END,
};

/* The same fields in the host's byte order. Magic and version are implied. */
struct cohort__envelope {
    enum cohort__kind kind;
    uint32_t source_locality;
    uint64_t job_key;
    uint32_t epoch;   /* of the sending locality */
    uint32_t credit;  /* eager bytes that the sender of this message gives back to the receiver */
    uint32_t drained; /* messages from the receiver that the sender has read since it last reported
                       * them, without CREDIT */
    uint64_t instance;
    uint64_t generation;
    uint32_t source_site;
    uint32_t dest_site;
    uint64_t fingerprint;
    uint32_t tag;
    uint32_t payload_bytes; /* in this message */
    uint64_t total_bytes;   /* size of the announced block, or of all fragments; else 0 */
    uint64_t handle;        /* the announcer's cookie; of ANSWER: a generation */
    uint32_t number;        /* counts the messages from this sender to this receiver, from 0 */
    uint32_t segment;       /* the number of the part, if data is sent in several parts; else 0 */
    uint32_t incarnation;   /* of the sending locality: how often it was started again */
    uint32_t offset;        /* of FRAGMENT: where its payload begins in the DATA; else 0 */
};

/* "DATA" and so on. "unknown" if KIND is not valid. */
const char *cohort__kind_name(enum cohort__kind kind);

void cohort__envelope_encode(const struct cohort__envelope *envelope,
                             unsigned char out[COHORT__ENVELOPE_BYTES]);

/* Decodes the header of a message of N bytes in total, and checks everything that can be checked
 * without knowing the job. Job key, epoch, source, incarnation and number are left to the router.
 * COHORT_ERR_PROTOCOL. */
cohort_status cohort__envelope_decode(const unsigned char *bytes, size_t n,
                                      struct cohort__envelope *ret);

/* The same for the first N bytes of a message that may be longer. */
cohort_status cohort__envelope_decode_front(const unsigned char *bytes, size_t n,
                                            struct cohort__envelope *ret);

#endif
