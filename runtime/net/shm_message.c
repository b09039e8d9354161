/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in a ring. The head of most messages differs from the head of the message before in one
 * or two numbers. A ring neither loses messages nor changes their order. So only those words of the
 * head are written that differ from what the reader expects. A short message then takes one cache
 * line, which moves from core to core as a whole. */
#include <endian.h>
#include <string.h>

#include "runtime/net/shm_end.h"

enum { NUM_WORDS = COHORT__SHM_HEAD_WORDS, WORD = sizeof(uint64_t), HEAD = NUM_WORDS * WORD };

static uint64_t word_of(const unsigned char *head, uint32_t index)
{
    uint64_t word;
    memcpy(&word, head + index * WORD, WORD);
    return word;
}

/* A bit for each word of HEAD that differs from the same word of LAST. */
static uint32_t compare(const unsigned char *head, const uint64_t *last)
{
    uint32_t differ = 0;
    for (uint32_t i = NUM_WORDS; i-- > 0;)
        differ = 2 * differ + (word_of(head, i) != last[i]);
    return differ;
}

static size_t count(uint32_t bits)
{
    size_t num = 0;
    for (; bits; bits &= bits - 1)
        num++;
    return num;
}

static size_t total(const struct iovec *parts, int num_parts)
{
    size_t bytes = 0;
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

static void gather(unsigned char *to, const struct iovec *parts, int num_parts)
{
    for (int i = 0; i < num_parts; i++) {
        memcpy(to, parts[i].iov_base, parts[i].iov_len);
        to += parts[i].iov_len;
    }
}

/* HEAD was the head of a message. The next head is expected to be the same, with the message number
 * increased by one. So the number is written only if it is not the next one. */
static void advance(uint64_t *head)
{
    uint64_t *word = &head[COHORT__ENVELOPE_NUMBER_AT / WORD];
    uint64_t value = le64toh(*word);
    *word = htole64((value & ~(uint64_t)UINT32_MAX) | (uint32_t)(value + 1));
}

bool cohort__shm_write(struct cohort__shm_peer *peer, enum cohort__shm_kind kind,
                       const struct iovec *parts, int num_parts)
{
    size_t bytes = total(parts, num_parts);
    struct cohort__ring_record *record = cohort__ring_reserve(&peer->writer, bytes);
    if (!record)
        return false;
    gather(record->data, parts, num_parts);
    record->bytes = (uint32_t)bytes;
    record->kind = kind;
    cohort__ring_publish(&peer->writer, record);
    return true;
}

bool cohort__shm_write_message(struct cohort__shm_peer *peer, const struct iovec *parts,
                               int num_parts)
{
    const unsigned char *head = parts[0].iov_base;
    if (parts[0].iov_len != HEAD)
        return cohort__shm_write(peer, COHORT__SHM_MESSAGE, parts, num_parts);
    uint32_t differ = compare(head, peer->head_written);
    size_t bytes = count(differ) * WORD + total(parts + 1, num_parts - 1);
    struct cohort__ring_record *record = cohort__ring_reserve(&peer->writer, bytes);
    if (!record)
        return false;
    unsigned char *to = record->data;
    for (uint32_t left = differ; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        peer->head_written[i] = word_of(head, i);
        memcpy(to, &peer->head_written[i], WORD);
        to += WORD;
    }
    advance(peer->head_written);
    gather(to, parts + 1, num_parts - 1);
    record->bytes = (uint32_t)bytes;
    record->kind = COHORT__SHM_ABRIDGED;
    record->word = differ;
    cohort__ring_publish(&peer->writer, record);
    return true;
}

bool cohort__shm_read_message(struct cohort__shm_peer *peer, const struct cohort__ring_item *record,
                              struct cohort__net_message *ret_message)
{
    struct cohort__shm *shm = peer->shm;
    const unsigned char *from = record->data;
    size_t bytes = record->bytes;
    memcpy(shm->incoming, peer->head_read, HEAD); /* before single words are replaced */
    for (uint32_t left = record->word; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (i >= NUM_WORDS || bytes < WORD)
            return false;
        peer->head_read[i] = word_of(from, 0);
        memcpy(shm->incoming + i * WORD, &peer->head_read[i], WORD);
        from += WORD;
        bytes -= WORD;
    }
    advance(peer->head_read);
    if (bytes > sizeof(shm->incoming) - HEAD)
        return false;
    memcpy(shm->incoming + HEAD, from, bytes);
    *ret_message = (struct cohort__net_message){
        .net = &shm->net, .data = shm->incoming, .bytes = HEAD + bytes, .is_passing = true};
    return true;
}
