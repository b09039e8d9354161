/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: reads messages of protobuf. */
#include "tools/trace/wire.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

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
