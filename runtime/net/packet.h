/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_NET_PACKET_H
#define COHORT_RUNTIME_NET_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* What a network carries at once: one message, or several to the same peer. The messages stand one
 * after the other, each at a multiple of COHORT__PACKET_ALIGNMENT bytes, with zeros between. Behind
 * the last one come the lengths of all messages, if there are several, and then their number; all
 * these are u16, little-endian. One thread at a time. */
enum {
    COHORT__PACKET_ALIGNMENT = 32,
    COHORT__PACKET_NUM_MESSAGES = 160, /* at most */
    COHORT__PACKET_OVERHEAD = 2,       /* bytes of a packet with one message, beside the message */
};

/* Being filled. */
struct cohort__packet {
    unsigned char *data;
    size_t capacity; /* of data; at most 65535 */
    size_t bytes;    /* up to the end of the last message */
    uint16_t num;
    uint16_t lengths[COHORT__PACKET_NUM_MESSAGES];
};

/* An empty one. DATA has room for CAPACITY bytes, and belongs to the caller. */
void cohort__packet_init(struct cohort__packet *packet, unsigned char *data, size_t capacity);

/* Copies the parts into it, as one message. False: there is no room, and nothing was done. */
bool cohort__packet_add(struct cohort__packet *packet, const struct iovec *parts, int num_parts);

/* Writes what comes behind the messages, of which there is at least one. Returns how many bytes of
 * `data` are the packet. Later messages may still be added; then call it again. */
size_t cohort__packet_finish(struct cohort__packet *packet);

/* Being read. */
struct cohort__packet_reader {
    const unsigned char *data;
    const unsigned char *lengths; /* NULL: there is one message */
    size_t first_length;
    size_t offset;
    uint16_t num;
    uint16_t num_read;
};

/* Checks the BYTES bytes at DATA, which stay the caller's. False: they are no packet. */
bool cohort__packet_reader_init(struct cohort__packet_reader *reader, const unsigned char *data,
                                size_t bytes);

/* The next message. False: there is none any more. */
bool cohort__packet_reader_next(struct cohort__packet_reader *reader,
                                const unsigned char **ret_message, size_t *ret_bytes);

#endif
