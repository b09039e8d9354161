/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_MSGPACK_H
#define COHORT_MSGPACK_H

/* Conversion between msgpack-c's objects and Cohort's, for collectives of structured values. Not
 * part of cohort/cohort.h: a program that includes this header needs msgpack-c (>= 4), and links
 * with it. */

#include <msgpack.h>

#include "cohort/objects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How deep maps and arrays may be nested: as deep as msgpack-c reads them. */
enum { COHORT_OBJECT_MAX_DEPTH = 32 };

/* Whether VALUE, inside of DEPTH maps and arrays, has no more around each other than that. */
static inline int cohort__object_is_shallow(const msgpack_object *value, int depth)
{
    int is_map = value->type == MSGPACK_OBJECT_MAP, is_shallow = 1;
    uint32_t i, num = is_map                                ? value->via.map.size
                      : value->type == MSGPACK_OBJECT_ARRAY ? value->via.array.size
                                                            : 0;
    if (num > 0 && depth == COHORT_OBJECT_MAX_DEPTH)
        return 0;
    for (i = 0; is_shallow && i < num; i++) {
        if (is_map)
            is_shallow = cohort__object_is_shallow(&value->via.map.ptr[i].key, depth + 1) &&
                         cohort__object_is_shallow(&value->via.map.ptr[i].val, depth + 1);
        else
            is_shallow = cohort__object_is_shallow(&value->via.array.ptr[i], depth + 1);
    }
    return is_shallow;
}

/* How many bytes of a length follow TAG, if it is one of a text, of bytes, of an extension, of an
 * array or a map. */
static inline unsigned cohort__object_length_bytes(unsigned tag)
{
    if (tag >= 0xc4 && tag <= 0xc9)
        return 1U << (tag - 0xc4) % 3;
    if (tag >= 0xd9 && tag <= 0xdb)
        return 1U << (tag - 0xd9);
    return tag >= 0xdc && tag <= 0xdf ? 2U << (tag & 1) : 0;
}

/* Reads the head of a value, which begins with TAG and has LENGTH behind it: sets how many bytes of
 * its own follow, and returns how many values are in it. */
static inline uint64_t cohort__object_head(unsigned tag, uint64_t length, uint64_t *ret_bytes)
{
    *ret_bytes = 0;
    if (tag >= 0x80 && tag <= 0x8f)
        return 2 * (uint64_t)(tag & 0x0f);
    if (tag >= 0x90 && tag <= 0x9f)
        return tag & 0x0f;
    if (tag == 0xdc || tag == 0xdd)
        return length;
    if (tag == 0xde || tag == 0xdf)
        return 2 * length;
    if (tag >= 0xa0 && tag <= 0xbf)
        *ret_bytes = tag & 0x1f;
    else if (tag == 0xca || tag == 0xcb)
        *ret_bytes = 4U << (tag - 0xca);
    else if (tag >= 0xcc && tag <= 0xd3)
        *ret_bytes = 1U << (tag & 3);
    else if (tag >= 0xd4 && tag <= 0xd8)
        *ret_bytes = 1 + (1U << (tag - 0xd4));
    else
        *ret_bytes = length + (tag >= 0xc7 && tag <= 0xc9);
    return 0;
}

/* msgpack-c asks for memory for as many elements as a head claims, before it has seen any of them.
 * So it is looked first whether all is there. Returns what is wrong; NULL: nothing. *RET_LEFT is
 * what is behind the value. */
static inline const char *cohort__object_scan(const cohort_object *object, size_t *ret_left)
{
    uint64_t missing[COHORT_OBJECT_MAX_DEPTH + 1];
    const unsigned char *next = (const unsigned char *)object->data;
    size_t left = object->bytes;
    int depth = 0;
    missing[0] = 1;
    while (depth >= 0) {
        uint64_t length = 0, bytes, inside;
        unsigned tag, length_bytes, i;
        if (missing[depth] == 0) {
            depth--;
            continue;
        }
        missing[depth]--;
        if (left == 0)
            return "it is cut off";
        tag = next[0];
        length_bytes = cohort__object_length_bytes(tag);
        if (tag == 0xc1)
            return "not msgpack";
        if (length_bytes >= left)
            return "it is cut off";
        for (i = 1; i <= length_bytes; i++)
            length = length << 8 | next[i];
        inside = cohort__object_head(tag, length, &bytes);
        left -= 1 + length_bytes;
        if (bytes > left || inside > left)
            return "it is cut off";
        next += 1 + length_bytes + (size_t)bytes;
        left -= (size_t)bytes;
        if (inside > 0 && depth == COHORT_OBJECT_MAX_DEPTH)
            return "it is nested too deeply";
        if (inside > 0)
            missing[++depth] = inside;
    }
    *ret_left = left;
    return NULL;
}

/* Packs VALUE into *ret_object, whose data the caller gives back with cohort_object_fini.
 * COHORT_ERR_BAD_PARAMETER: nothing to pack, or maps and arrays that are nested more than
 * COHORT_OBJECT_MAX_DEPTH deep; COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
static inline cohort_status cohort_object_pack(const msgpack_object *value,
                                               cohort_object *ret_object)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    if (!value || !ret_object)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_object_pack: no %s",
                           value ? "place for the object" : "value");
    if (!cohort__object_is_shallow(value, 0))
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "cohort_object_pack: maps and arrays are nested more than %d deep",
                           (int)COHORT_OBJECT_MAX_DEPTH);
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&packer, &buffer, msgpack_sbuffer_write);
    if (msgpack_pack_object(&packer, *value)) {
        msgpack_sbuffer_destroy(&buffer);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_object_pack: no memory");
    }
    ret_object->bytes = buffer.size;
    ret_object->data = msgpack_sbuffer_release(&buffer);
    return COHORT_OK;
}

/* Unpacks OBJECT's bytes, which have to be exactly one value, into *ret_value. The caller calls
 * msgpack_unpacked_destroy on it. Text and bytes in it point into OBJECT's data, which has to stay
 * until then. COHORT_ERR_PROTOCOL: the bytes are not exactly one value, or one that is nested more
 * than COHORT_OBJECT_MAX_DEPTH deep, or a part of what they claim is missing, which is found before
 * there is memory for it; COHORT_ERR_BAD_PARAMETER; COHORT_ERR_NO_MEMORY. On failure *ret_value is
 * not touched. Any thread; never suspends. */
static inline cohort_status cohort_object_unpack(const cohort_object *object,
                                                 msgpack_unpacked *ret_value)
{
    msgpack_unpacked value;
    size_t offset = 0, left = 0;
    const char *wrong;
    /* This returns constants, so that compilers see that *ret_value is set where it is used. */
    if (!object || !ret_value) {
        cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_object_unpack: no %s",
                    object ? "place for the value" : "object");
        return COHORT_ERR_BAD_PARAMETER;
    }
    wrong = cohort__object_scan(object, &left);
    if (wrong || left > 0) {
        if (wrong)
            cohort_fail(COHORT_ERR_PROTOCOL, "cohort_object_unpack: %lu bytes are no value: %s",
                        (unsigned long)object->bytes, wrong);
        else
            cohort_fail(COHORT_ERR_PROTOCOL, "cohort_object_unpack: %lu bytes behind the value",
                        (unsigned long)left);
        return COHORT_ERR_PROTOCOL;
    }
    msgpack_unpacked_init(&value);
    if (msgpack_unpack_next(&value, (const char *)object->data, object->bytes, &offset) ==
        MSGPACK_UNPACK_SUCCESS) {
        *ret_value = value;
        return COHORT_OK;
    }
    msgpack_unpacked_destroy(&value);
    cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_object_unpack: no memory");
    return COHORT_ERR_NO_MEMORY;
}

#ifdef __cplusplus
}
#endif

#endif
