/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/pack.h"

#include <assert.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cohort__packer_reserve(struct cohort__packer *packer, size_t bytes)
{
    if (packer->status || bytes <= packer->capacity - packer->bytes)
        return;
    size_t capacity = packer->capacity ? packer->capacity : 128;
    while (capacity - packer->bytes < bytes && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *grown =
        capacity - packer->bytes < bytes ? NULL : realloc(packer->data, capacity);
    if (!grown) {
        packer->status =
            cohort_fail(COHORT_ERR_NO_MEMORY, "no memory to pack a message of %zu bytes",
                        packer->bytes + bytes);
        return;
    }
    packer->data = grown;
    packer->capacity = capacity;
}

static int append(void *context, const char *data, size_t bytes)
{
    struct cohort__packer *packer = context;
    cohort__packer_reserve(packer, bytes);
    if (packer->status)
        return -1;
    if (bytes > 0)
        memcpy(packer->data + packer->bytes, data, bytes);
    packer->bytes += bytes;
    return 0;
}

static msgpack_packer on(struct cohort__packer *packer)
{
    msgpack_packer pk;
    msgpack_packer_init(&pk, packer, append);
    return pk;
}

void cohort__packer_fini(struct cohort__packer *packer)
{
    if (!packer)
        return;
    free(packer->data);
    *packer = (struct cohort__packer){0};
}

void cohort__packer_reset(struct cohort__packer *packer)
{
    packer->bytes = 0;
    packer->status = COHORT_OK;
}

void cohort__pack_map(struct cohort__packer *packer, uint32_t num_entries)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_map(&pk, num_entries);
}

void cohort__pack_array(struct cohort__packer *packer, uint32_t num_elements)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_array(&pk, num_elements);
}

void cohort__pack_unsigned(struct cohort__packer *packer, uint64_t value)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_uint64(&pk, value);
}

void cohort__pack_signed(struct cohort__packer *packer, int64_t value)
{
    msgpack_packer pk = on(packer);
    msgpack_pack_int64(&pk, value);
}

void cohort__pack_bool(struct cohort__packer *packer, bool value)
{
    msgpack_packer pk = on(packer);
    if (value)
        msgpack_pack_true(&pk);
    else
        msgpack_pack_false(&pk);
}

void cohort__pack_text(struct cohort__packer *packer, const char *text)
{
    msgpack_packer pk = on(packer);
    size_t bytes = strlen(text);
    msgpack_pack_str(&pk, bytes);
    msgpack_pack_str_body(&pk, text, bytes);
}

void cohort__pack_bytes(struct cohort__packer *packer, const void *data, size_t bytes)
{
    msgpack_packer pk = on(packer);
    if (bytes > UINT32_MAX) {
        if (!packer->status)
            packer->status = cohort_fail(COHORT_ERR_BAD_PARAMETER,
                                         "%zu bytes are too many for one field", bytes);
        return;
    }
    msgpack_pack_bin(&pk, bytes);
    msgpack_pack_bin_body(&pk, data, bytes);
}

void cohort__pack_field_unsigned(struct cohort__packer *packer, const char *key, uint64_t value)
{
    cohort__pack_text(packer, key);
    cohort__pack_unsigned(packer, value);
}

void cohort__pack_field_signed(struct cohort__packer *packer, const char *key, int64_t value)
{
    cohort__pack_text(packer, key);
    cohort__pack_signed(packer, value);
}

void cohort__pack_field_bool(struct cohort__packer *packer, const char *key, bool value)
{
    cohort__pack_text(packer, key);
    cohort__pack_bool(packer, value);
}

void cohort__pack_field_text(struct cohort__packer *packer, const char *key, const char *text)
{
    cohort__pack_text(packer, key);
    cohort__pack_text(packer, text);
}

void cohort__pack_field_bytes(struct cohort__packer *packer, const char *key, const void *data,
                              size_t bytes)
{
    cohort__pack_text(packer, key);
    cohort__pack_bytes(packer, data, bytes);
}

/* --- unpacking --- */

struct cohort__unpacked {
    msgpack_unpacked result;
    char what[80];
};

/* struct cohort__value is another name for msgpack_object. */
static const msgpack_object *object_of(const struct cohort__value *value)
{
    return (const msgpack_object *)(const void *)value;
}

static const struct cohort__value *value_of(const msgpack_object *object)
{
    return (const struct cohort__value *)(const void *)object;
}

/* msgpack-c allocates memory for as many elements as a header claims, before it has seen any of
 * them. So the message is scanned first, to check that everything that is claimed is there. */
struct scan {
    const unsigned char *next;
    size_t left;
    size_t num_values;
    const char *wrong;
};

static uint64_t take_number(struct scan *scan, size_t bytes)
{
    uint64_t number = 0;
    if (bytes > scan->left) {
        scan->wrong = "is cut off";
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | scan->next[i];
    scan->next += bytes;
    scan->left -= bytes;
    return number;
}

static void skip(struct scan *scan, uint64_t bytes)
{
    if (scan->wrong)
        return;
    if (bytes > scan->left) {
        scan->wrong = "is cut off";
        return;
    }
    scan->next += bytes;
    scan->left -= bytes;
}

/* Scans the head of one value, and if it is a scalar, its body. Returns the number of values inside
 * it. */
static uint64_t scan_value(struct scan *scan)
{
    unsigned tag = (unsigned)take_number(scan, 1);
    if (scan->wrong || tag <= 0x7f || tag >= 0xe0) /* small numbers */
        return 0;
    if (tag <= 0x8f)
        return 2 * (uint64_t)(tag & 0x0f);
    if (tag <= 0x9f)
        return tag & 0x0f;
    if (tag <= 0xbf) {
        skip(scan, tag & 0x1f);
        return 0;
    }
    switch (tag) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3:
        return 0;
    case 0xc4: /* bytes and text after a length of 8, 16 or 32 bits */
    case 0xd9:
        skip(scan, take_number(scan, 1));
        return 0;
    case 0xc5:
    case 0xda:
        skip(scan, take_number(scan, 2));
        return 0;
    case 0xc6:
    case 0xdb:
        skip(scan, take_number(scan, 4));
        return 0;
    case 0xcc: /* numbers */
    case 0xd0:
        skip(scan, 1);
        return 0;
    case 0xcd:
    case 0xd1:
        skip(scan, 2);
        return 0;
    case 0xca:
    case 0xce:
    case 0xd2:
        skip(scan, 4);
        return 0;
    case 0xcb:
    case 0xcf:
    case 0xd3:
        skip(scan, 8);
        return 0;
    case 0xdc: /* arrays and maps after a count */
        return take_number(scan, 2);
    case 0xdd:
        return take_number(scan, 4);
    case 0xde:
        return 2 * take_number(scan, 2);
    case 0xdf:
        return 2 * take_number(scan, 4);
    default: /* extensions, and 0xc1, which is never used */
        scan->wrong = "holds a type that is not used here";
        return 0;
    }
}

static const char *find_wrong(const void *data, size_t bytes)
{
    struct scan scan = {.next = data, .left = bytes};
    uint64_t missing[COHORT__UNPACK_MAX_DEPTH + 1] = {1};
    size_t depth = 0;
    if (bytes > COHORT__UNPACK_MAX_BYTES)
        return "is too long";
    for (;;) {
        while (missing[depth] == 0) {
            if (depth-- == 0)
                return scan.left > 0 ? "has bytes behind its end" : NULL;
        }
        missing[depth]--;
        uint64_t inside = scan_value(&scan);
        if (scan.wrong)
            return scan.wrong;
        scan.num_values++;
        if (scan.num_values > COHORT__UNPACK_MAX_VALUES)
            return "has too many values";
        if (inside > 0 && depth == COHORT__UNPACK_MAX_DEPTH)
            return "is nested too deeply";
        if (inside > 0)
            missing[++depth] = inside;
    }
}

cohort_status cohort__unpack(struct cohort__unpacked **ret_unpacked, const void *data, size_t bytes,
                             const char *what)
{
    const char *wrong = find_wrong(data, bytes);
    if (wrong)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: the message of %zu bytes %s", what, bytes,
                           wrong);
    struct cohort__unpacked *unpacked = calloc(1, sizeof(*unpacked));
    if (!unpacked)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", what);
    snprintf(unpacked->what, sizeof(unpacked->what), "%s", what);
    msgpack_unpacked_init(&unpacked->result);
    size_t offset = 0;
    msgpack_unpack_return result = msgpack_unpack_next(&unpacked->result, data, bytes, &offset);
    assert(result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_NOMEM_ERROR); /* scanned */
    if (result != MSGPACK_UNPACK_SUCCESS) {
        cohort__unpacked_destroy(unpacked);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", what);
    }
    *ret_unpacked = unpacked;
    return COHORT_OK;
}

void cohort__unpacked_destroy(struct cohort__unpacked *unpacked)
{
    if (!unpacked)
        return;
    msgpack_unpacked_destroy(&unpacked->result);
    free(unpacked);
}

const struct cohort__value *cohort__unpacked_root(const struct cohort__unpacked *unpacked)
{
    return value_of(&unpacked->result.data);
}

static const char *type_name(msgpack_object_type type)
{
    switch (type) {
    case MSGPACK_OBJECT_BOOLEAN:
        return "a truth value";
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        return "an unsigned number";
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        return "a negative number";
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        return "a fraction";
    case MSGPACK_OBJECT_STR:
        return "text";
    case MSGPACK_OBJECT_BIN:
        return "bytes";
    case MSGPACK_OBJECT_ARRAY:
        return "an array";
    case MSGPACK_OBJECT_MAP:
        return "a map";
    default:
        return "nothing";
    }
}

/* The place of a value, for error messages: the field KEY of a map, or if KEY is NULL, the element
 * INDEX of an array. */
struct place {
    const struct cohort__unpacked *unpacked;
    const char *key;
    uint32_t index;
};

static cohort_status wrong(const struct place *place, const char *problem)
{
    if (place->key)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: field '%s' %s", place->unpacked->what,
                           place->key, problem);
    return cohort_fail(COHORT_ERR_PROTOCOL, "%s: element %u %s", place->unpacked->what,
                       (unsigned)place->index, problem);
}

static cohort_status expect(const struct place *place, const msgpack_object *object,
                            msgpack_object_type type)
{
    if (object->type == type)
        return COHORT_OK;
    char problem[64];
    snprintf(problem, sizeof(problem), "is %s, not %s", type_name(object->type), type_name(type));
    return wrong(place, problem);
}

static bool has_key(const msgpack_object_kv *entry, const char *key)
{
    size_t bytes = strlen(key);
    return entry->key.type == MSGPACK_OBJECT_STR && entry->key.via.str.size == bytes &&
           memcmp(entry->key.via.str.ptr, key, bytes) == 0;
}

/* *ret_object becomes NULL if MAP has no such field. */
static cohort_status look_for_field(const struct place *place, const struct cohort__value *map,
                                    const msgpack_object **ret_object)
{
    const msgpack_object *object = object_of(map);
    const msgpack_object *found = NULL;
    if (object->type != MSGPACK_OBJECT_MAP)
        return wrong(place, "is missing: there is no map");
    for (uint32_t i = 0; i < object->via.map.size; i++) {
        const msgpack_object_kv *entry = &object->via.map.ptr[i];
        if (!has_key(entry, place->key))
            continue;
        if (found)
            return wrong(place, "is there twice");
        found = &entry->val;
    }
    *ret_object = found;
    return COHORT_OK;
}

static cohort_status find_field(const struct place *place, const struct cohort__value *map,
                                const msgpack_object **ret_object)
{
    const msgpack_object *found;
    cohort_status status = look_for_field(place, map, &found);
    if (!status && !found)
        status = wrong(place, "is missing");
    if (!status)
        *ret_object = found;
    return status;
}

static cohort_status find_element(const struct place *place, const struct cohort__value *array,
                                  const msgpack_object **ret_object)
{
    const msgpack_object *object = object_of(array);
    if (object->type != MSGPACK_OBJECT_ARRAY || place->index >= object->via.array.size)
        return wrong(place, "is missing");
    *ret_object = &object->via.array.ptr[place->index];
    return COHORT_OK;
}

static cohort_status find(const struct place *place, const struct cohort__value *container,
                          msgpack_object_type type, const msgpack_object **ret_object)
{
    const msgpack_object *object = NULL;
    cohort_status status = place->key ? find_field(place, container, &object)
                                      : find_element(place, container, &object);
    if (!status)
        status = expect(place, object, type);
    if (!status)
        *ret_object = object;
    return status;
}

static cohort_status find_unsigned(const struct place *place, const struct cohort__value *container,
                                   uint64_t max, uint64_t *ret_value)
{
    const msgpack_object *object;
    cohort_status status = find(place, container, MSGPACK_OBJECT_POSITIVE_INTEGER, &object);
    if (status)
        return status;
    if (object->via.u64 > max)
        return wrong(place, "is out of range");
    *ret_value = object->via.u64;
    return COHORT_OK;
}

static cohort_status find_bytes(const struct place *place, const struct cohort__value *container,
                                const void **ret_data, size_t *ret_bytes)
{
    const msgpack_object *object;
    cohort_status status = find(place, container, MSGPACK_OBJECT_BIN, &object);
    if (status)
        return status;
    *ret_data = object->via.bin.ptr;
    *ret_bytes = object->via.bin.size;
    return COHORT_OK;
}

static cohort_status find_value(const struct place *place, const struct cohort__value *container,
                                msgpack_object_type type, const struct cohort__value **ret_value)
{
    const msgpack_object *object;
    cohort_status status = find(place, container, type, &object);
    if (!status)
        *ret_value = value_of(object);
    return status;
}

cohort_status cohort__has_field(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key, bool *ret_has)
{
    const msgpack_object *found;
    cohort_status status = look_for_field(&(struct place){unpacked, key, 0}, map, &found);
    if (!status)
        *ret_has = found != NULL;
    return status;
}

cohort_status cohort__get_unsigned(const struct cohort__unpacked *unpacked,
                                   const struct cohort__value *map, const char *key, uint64_t max,
                                   uint64_t *ret_value)
{
    return find_unsigned(&(struct place){unpacked, key, 0}, map, max, ret_value);
}

cohort_status cohort__get_signed(const struct cohort__unpacked *unpacked,
                                 const struct cohort__value *map, const char *key,
                                 int64_t *ret_value)
{
    struct place place = {unpacked, key, 0};
    const msgpack_object *object;
    cohort_status status = find_field(&place, map, &object);
    if (status)
        return status;
    if (object->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
        *ret_value = object->via.i64;
        return COHORT_OK;
    }
    uint64_t value = 0;
    status = find_unsigned(&place, map, INT64_MAX, &value);
    if (!status)
        *ret_value = (int64_t)value;
    return status;
}

cohort_status cohort__get_bool(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key, bool *ret_value)
{
    const msgpack_object *object;
    cohort_status status =
        find(&(struct place){unpacked, key, 0}, map, MSGPACK_OBJECT_BOOLEAN, &object);
    if (!status)
        *ret_value = object->via.boolean;
    return status;
}

cohort_status cohort__get_text(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key,
                               const char **ret_text, size_t *ret_bytes)
{
    const msgpack_object *object;
    cohort_status status =
        find(&(struct place){unpacked, key, 0}, map, MSGPACK_OBJECT_STR, &object);
    if (status)
        return status;
    *ret_text = object->via.str.ptr;
    *ret_bytes = object->via.str.size;
    return COHORT_OK;
}

cohort_status cohort__get_bytes(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const void **ret_data, size_t *ret_bytes)
{
    return find_bytes(&(struct place){unpacked, key, 0}, map, ret_data, ret_bytes);
}

cohort_status cohort__get_array(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const struct cohort__value **ret_array, uint32_t *ret_count)
{
    const struct cohort__value *array;
    cohort_status status =
        find_value(&(struct place){unpacked, key, 0}, map, MSGPACK_OBJECT_ARRAY, &array);
    if (status)
        return status;
    *ret_array = array;
    *ret_count = object_of(array)->via.array.size;
    return COHORT_OK;
}

cohort_status cohort__element_unsigned(const struct cohort__unpacked *unpacked,
                                       const struct cohort__value *array, uint32_t index,
                                       uint64_t max, uint64_t *ret_value)
{
    return find_unsigned(&(struct place){unpacked, NULL, index}, array, max, ret_value);
}

cohort_status cohort__element_bytes(const struct cohort__unpacked *unpacked,
                                    const struct cohort__value *array, uint32_t index,
                                    const void **ret_data, size_t *ret_bytes)
{
    return find_bytes(&(struct place){unpacked, NULL, index}, array, ret_data, ret_bytes);
}

cohort_status cohort__element_map(const struct cohort__unpacked *unpacked,
                                  const struct cohort__value *array, uint32_t index,
                                  const struct cohort__value **ret_map)
{
    return find_value(&(struct place){unpacked, NULL, index}, array, MSGPACK_OBJECT_MAP, ret_map);
}
