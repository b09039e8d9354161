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

/* Packs VALUE into *ret_object, whose data the caller gives back with cohort_object_fini.
 * COHORT_ERR_BAD_PARAMETER: nothing to pack; COHORT_ERR_NO_MEMORY. Any thread; never suspends. */
static inline cohort_status cohort_object_pack(const msgpack_object *value,
                                               cohort_object *ret_object)
{
    msgpack_sbuffer buffer;
    msgpack_packer packer;
    if (!value || !ret_object)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_object_pack: no %s",
                           value ? "place for the object" : "value");
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
 * until then. COHORT_ERR_PROTOCOL: the bytes are not exactly one value; COHORT_ERR_BAD_PARAMETER;
 * COHORT_ERR_NO_MEMORY. On failure *ret_value is not touched. Any thread; never suspends. */
static inline cohort_status cohort_object_unpack(const cohort_object *object,
                                                 msgpack_unpacked *ret_value)
{
    msgpack_unpacked value;
    size_t offset = 0;
    msgpack_unpack_return result;
    if (!object || !ret_value) {
        cohort_fail(COHORT_ERR_BAD_PARAMETER, "cohort_object_unpack: no %s",
                    object ? "place for the value" : "object");
        return COHORT_ERR_BAD_PARAMETER;
    }
    msgpack_unpacked_init(&value);
    result = msgpack_unpack_next(&value, (const char *)object->data, object->bytes, &offset);
    if (result == MSGPACK_UNPACK_SUCCESS && offset == object->bytes) {
        *ret_value = value;
        return COHORT_OK;
    }
    msgpack_unpacked_destroy(&value);
    /* The code below returns constants, so that compilers see that *ret_value is set where it is
     * used. */
    if (result == MSGPACK_UNPACK_NOMEM_ERROR) {
        cohort_fail(COHORT_ERR_NO_MEMORY, "cohort_object_unpack: no memory");
        return COHORT_ERR_NO_MEMORY;
    }
    if (result == MSGPACK_UNPACK_SUCCESS)
        cohort_fail(COHORT_ERR_PROTOCOL, "cohort_object_unpack: %lu bytes behind the value",
                    (unsigned long)(object->bytes - offset));
    else
        cohort_fail(COHORT_ERR_PROTOCOL, "cohort_object_unpack: %lu bytes are no value: %s",
                    (unsigned long)object->bytes,
                    result == MSGPACK_UNPACK_CONTINUE ? "it is cut off" : "not msgpack");
    return COHORT_ERR_PROTOCOL;
}

#ifdef __cplusplus
}
#endif

#endif
