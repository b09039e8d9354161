/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/packet.h"

#include <endian.h>
#include <string.h>

enum { WORD = sizeof(uint16_t) };

static size_t aligned(size_t bytes)
{
    return (bytes + COHORT__PACKET_ALIGNMENT - 1) / COHORT__PACKET_ALIGNMENT *
           COHORT__PACKET_ALIGNMENT;
}

/* What stands behind NUM messages. */
static size_t tail_bytes(size_t num)
{
    return num > 1 ? (num + 1) * WORD : COHORT__PACKET_OVERHEAD;
}

static void write_word(unsigned char *to, uint16_t value)
{
    value = htole16(value);
    memcpy(to, &value, WORD);
}

static uint16_t read_word(const unsigned char *from)
{
    uint16_t value;
    memcpy(&value, from, WORD);
    return le16toh(value);
}

void cohort__packet_init(struct cohort__packet *packet, unsigned char *data, size_t capacity)
{
    packet->data = data;
    packet->capacity = capacity;
    packet->bytes = 0;
    packet->num = 0;
}

bool cohort__packet_add(struct cohort__packet *packet, const struct iovec *parts, int num_parts)
{
    size_t bytes = 0, offset = aligned(packet->bytes);
    for (int i = 0; i < num_parts; i++)
        bytes += parts[i].iov_len;
    size_t besides = offset + tail_bytes(packet->num + 1U);
    if (packet->num == COHORT__PACKET_NUM_MESSAGES || besides > packet->capacity ||
        bytes > packet->capacity - besides)
        return false;
    memset(packet->data + packet->bytes, 0, offset - packet->bytes); /* no old bytes leave */
    packet->lengths[packet->num++] = (uint16_t)bytes;
    packet->bytes = offset + bytes;
    for (int i = 0; i < num_parts; i++) {
        if (parts[i].iov_len > 0)
            memcpy(packet->data + offset, parts[i].iov_base, parts[i].iov_len);
        offset += parts[i].iov_len;
    }
    return true;
}

size_t cohort__packet_finish(struct cohort__packet *packet)
{
    unsigned char *to = packet->data + packet->bytes;
    for (uint16_t i = 0; packet->num > 1 && i < packet->num; i++, to += WORD)
        write_word(to, packet->lengths[i]);
    write_word(to, packet->num);
    return packet->bytes + tail_bytes(packet->num);
}

/* Where the messages end, by their lengths. */
static size_t find_end(const struct cohort__packet_reader *reader)
{
    size_t end = 0;
    for (uint16_t i = 0; i < reader->num; i++)
        end = aligned(end) + read_word(reader->lengths + (size_t)i * WORD);
    return end;
}

bool cohort__packet_reader_init(struct cohort__packet_reader *reader, const unsigned char *data,
                                size_t bytes)
{
    if (bytes < COHORT__PACKET_OVERHEAD)
        return false;
    uint16_t num = read_word(data + bytes - WORD);
    if (num == 0 || num > COHORT__PACKET_NUM_MESSAGES || tail_bytes(num) > bytes)
        return false;
    size_t end = bytes - tail_bytes(num);
    *reader = (struct cohort__packet_reader){
        .data = data,
        .lengths = num > 1 ? data + end : NULL,
        .first_length = end,
        .num = num,
    };
    return num == 1 || find_end(reader) == end;
}

bool cohort__packet_reader_next(struct cohort__packet_reader *reader,
                                const unsigned char **ret_message, size_t *ret_bytes)
{
    if (reader->num_read == reader->num)
        return false;
    size_t bytes = reader->lengths ? read_word(reader->lengths + (size_t)reader->num_read * WORD)
                                   : reader->first_length;
    *ret_message = reader->data + reader->offset;
    *ret_bytes = bytes;
    reader->offset = aligned(reader->offset + bytes);
    reader->num_read++;
    return true;
}
