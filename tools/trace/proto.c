/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: writes and reads messages of protobuf. */
#include "tools/trace/proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* The length of a message is not known when it begins, so it gets as much room as any may need:
 * a number may have leading zeroes. */
enum { LENGTH_BYTES = 4 };

void proto_fini(struct proto *proto)
{
    free(proto->data);
    proto->data = NULL;
}

static void fail(struct proto *proto, int error)
{
    if (!proto->has_failed)
        proto->error = error;
    proto->has_failed = true;
}

/* Room for BYTES more. */
static bool reserve(struct proto *proto, size_t bytes)
{
    if (proto->has_failed)
        return false;
    if (proto->room - proto->bytes >= bytes)
        return true;
    size_t room = 2 * proto->room + bytes + 4096;
    unsigned char *data = realloc(proto->data, room);
    if (!data) {
        fail(proto, 0);
        return false;
    }
    proto->data = data;
    proto->room = room;
    return true;
}

static void put(struct proto *proto, const void *data, size_t bytes)
{
    if (bytes == 0 || !reserve(proto, bytes))
        return;
    memcpy(proto->data + proto->bytes, data, bytes);
    proto->bytes += bytes;
}

static void put_number(struct proto *proto, uint64_t value)
{
    unsigned char digits[10];
    size_t num = 0;
    do {
        digits[num] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        num++;
        value >>= 7;
    } while (value > 0);
    put(proto, digits, num);
}

static void put_tag(struct proto *proto, uint32_t field, uint32_t type)
{
    put_number(proto, (uint64_t)field << 3 | type);
}

void proto_varint(struct proto *proto, uint32_t field, uint64_t value)
{
    put_tag(proto, field, VARINT);
    put_number(proto, value);
}

void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    put_tag(proto, field, FIXED64);
    put(proto, bytes, sizeof(bytes));
}

/* Text has to be UTF-8. What is not ASCII could be anything. */
void proto_text(struct proto *proto, uint32_t field, const char *text)
{
    size_t bytes = strlen(text);
    put_tag(proto, field, BYTES);
    put_number(proto, bytes);
    if (bytes == 0 || !reserve(proto, bytes))
        return;
    for (size_t i = 0; i < bytes; i++)
        proto->data[proto->bytes++] = (unsigned char)text[i] < 0x80 ? (unsigned char)text[i] : '?';
}

size_t proto_begin(struct proto *proto, uint32_t field)
{
    static const unsigned char zeroes[LENGTH_BYTES];
    put_tag(proto, field, BYTES);
    put(proto, zeroes, sizeof(zeroes));
    return proto->bytes;
}

void proto_end(struct proto *proto, size_t mark)
{
    if (proto->has_failed)
        return;
    size_t length = proto->bytes - mark;
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        proto->data[mark - LENGTH_BYTES + i] =
            (unsigned char)((length >> 7 * i & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

void proto_flush(struct proto *proto)
{
    if (proto->bytes > 0 && !proto->has_failed &&
        fwrite(proto->data, 1, proto->bytes, proto->file) != proto->bytes)
        fail(proto, errno ? errno : EIO);
    proto->bytes = 0;
}

/* Reading -------------------------------------------------------------------------------------- */

static bool read_number(struct wire *wire, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
        unsigned char digit = *wire->at++;
        number |= (uint64_t)(digit & 0x7f) << shift;
        if (digit < 0x80) {
            *ret_number = number;
            return true;
        }
    }
    return false;
}

static bool read_fixed(struct wire *wire, size_t bytes, uint64_t *ret_number)
{
    uint64_t number = 0;
    if ((size_t)(wire->end - wire->at) < bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)*wire->at++ << 8 * i;
    *ret_number = number;
    return true;
}

static bool read_data(struct wire *wire, struct wire *ret_data)
{
    uint64_t bytes;
    if (!read_number(wire, &bytes) || bytes > (uint64_t)(wire->end - wire->at))
        return false;
    *ret_data = (struct wire){.at = wire->at, .end = wire->at + bytes};
    wire->at += bytes;
    return true;
}

bool wire_next(struct wire *wire, struct wire_field *ret_field)
{
    uint64_t tag;
    if (wire->at == wire->end || wire->is_damaged)
        return false;
    *ret_field = (struct wire_field){0};
    bool is_good = read_number(wire, &tag);
    uint32_t type = is_good ? tag & 7 : BYTES + 1;
    ret_field->number = is_good ? (uint32_t)(tag >> 3) : 0;
    if (type == VARINT)
        is_good = read_number(wire, &ret_field->value);
    else if (type == FIXED64 || type == FIXED32)
        is_good = read_fixed(wire, type == FIXED64 ? 8 : 4, &ret_field->value);
    else
        is_good = type == BYTES && read_data(wire, &ret_field->data);
    wire->is_damaged = !is_good;
    return is_good;
}
