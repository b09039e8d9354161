/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire/schema.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Whether the struct at FROM, whose kind is known, has FIELD. */
static bool has(const struct cohort__schema *schema, const struct cohort__field *field,
                const unsigned char *from)
{
    uint32_t kind = 0;
    if (field->kinds == 0)
        return true;
    memcpy(&kind, from + schema->fields[0].offset, sizeof(kind));
    return field->kinds >> kind & 1;
}

static size_t num_numbers(const struct cohort__field *field)
{
    return field->size / (field->kind == COHORT__FIELD_U32 ? sizeof(uint32_t) : sizeof(uint64_t));
}

/* Writing ------------------------------------------------------------------------------------- */

static void pack_numbers(struct cohort__packer *packer, const struct cohort__field *field,
                         const void *at)
{
    const size_t num = num_numbers(field);
    const uint32_t *small = at;
    const uint64_t *large = at;
    if (num > 1)
        cohort__pack_array(packer, (uint32_t)num);
    for (size_t i = 0; i < num; i++)
        cohort__pack_unsigned(packer, field->kind == COHORT__FIELD_U32 ? small[i] : large[i]);
}

/* As bytes, since nothing says that they are UTF-8. */
static void pack_text(struct cohort__packer *packer, const struct cohort__field *field,
                      const char *text)
{
    cohort__pack_bytes(packer, text, strnlen(text, field->most));
}

static void pack_value(struct cohort__packer *packer, const struct cohort__field *field,
                       const unsigned char *from);

static void pack_list(struct cohort__packer *packer, const struct cohort__field *field,
                      const unsigned char *from)
{
    const struct cohort__schema *element = field->element;
    const unsigned char *at = from + field->offset;
    uint32_t num;
    memcpy(&num, from + field->num, sizeof(num));
    if (field->kind == COHORT__FIELD_LIST)
        memcpy(&at, from + field->offset, sizeof(at));
    cohort__pack_array(packer, num);
    for (uint32_t i = 0; i < num; i++, at += element->bytes)
        if (element->fields[0].key)
            cohort__schema_pack(packer, element, at);
        else
            pack_value(packer, &element->fields[0], at);
}

static void pack_value(struct cohort__packer *packer, const struct cohort__field *field,
                       const unsigned char *from)
{
    const void *at = from + field->offset;
    const struct cohort__bytes *span = at;
    switch (field->kind) {
    case COHORT__FIELD_U32:
    case COHORT__FIELD_U64:
        pack_numbers(packer, field, at);
        break;
    case COHORT__FIELD_INT:
        cohort__pack_signed(packer, *(const int *)at);
        break;
    case COHORT__FIELD_BOOL:
        cohort__pack_bool(packer, *(const bool *)at);
        break;
    case COHORT__FIELD_CHARS:
        pack_text(packer, field, at);
        break;
    case COHORT__FIELD_TEXT:
        pack_text(packer, field, *(const char *const *)at);
        break;
    case COHORT__FIELD_BYTES:
        cohort__pack_bytes(packer, span->data, span->bytes);
        break;
    case COHORT__FIELD_LIST:
    case COHORT__FIELD_ARRAY:
        pack_list(packer, field, from);
    }
}

void cohort__schema_pack(struct cohort__packer *packer, const struct cohort__schema *schema,
                         const void *from)
{
    uint32_t num = schema->version > 0;
    for (size_t i = 0; i < schema->num_fields; i++)
        num += has(schema, &schema->fields[i], from);
    cohort__pack_map(packer, num);
    if (schema->version > 0)
        cohort__pack_field_unsigned(packer, "version", schema->version);
    for (size_t i = 0; i < schema->num_fields; i++) {
        if (!has(schema, &schema->fields[i], from))
            continue;
        cohort__pack_text(packer, schema->fields[i].key);
        pack_value(packer, &schema->fields[i], from);
    }
}

/* Reading ------------------------------------------------------------------------------------- */

struct reading {
    const struct cohort__unpacked *unpacked;
    const char *what;
    const unsigned char *message;
    unsigned char *copy;  /* of the message, in the block; NULL: there is no block */
    unsigned char *lists; /* where the next list goes, in the block */
};

static cohort_status too_much(const struct reading *reading, const struct cohort__field *field,
                              size_t num, const char *of_what)
{
    return cohort_fail(COHORT_ERR_PROTOCOL, "%s: field '%s' has %zu %s, where %llu are allowed",
                       reading->what, field->key ? field->key : "of a list", num, of_what,
                       (unsigned long long)field->most);
}

static void put_number(const struct cohort__field *field, unsigned char *at, size_t i,
                       uint64_t value)
{
    const uint32_t small = (uint32_t)value;
    if (field->kind == COHORT__FIELD_U32)
        memcpy(at + i * sizeof(small), &small, sizeof(small));
    else
        memcpy(at + i * sizeof(value), &value, sizeof(value));
}

static cohort_status read_number(const struct reading *reading, const struct cohort__value *map,
                                 const struct cohort__field *field, unsigned char *at)
{
    uint64_t value;
    cohort_status status =
        cohort__get_unsigned(reading->unpacked, map, field->key, field->most, &value);
    if (!status)
        put_number(field, at, 0, value);
    return status;
}

static cohort_status read_row(const struct reading *reading, const struct cohort__value *map,
                              const struct cohort__field *field, unsigned char *at)
{
    const struct cohort__value *array;
    uint64_t value;
    uint32_t num;
    cohort_status status = cohort__get_array(reading->unpacked, map, field->key, &array, &num);
    if (!status && num != num_numbers(field))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s: field '%s' has %u numbers instead of %zu",
                             reading->what, field->key, (unsigned)num, num_numbers(field));
    for (uint32_t i = 0; !status && i < num; i++) {
        status = cohort__element_unsigned(reading->unpacked, array, i, field->most, &value);
        if (!status)
            put_number(field, at, i, value);
    }
    return status;
}

static cohort_status read_int(const struct reading *reading, const struct cohort__value *map,
                              const struct cohort__field *field, unsigned char *at)
{
    int64_t value;
    cohort_status status = cohort__get_signed(reading->unpacked, map, field->key, &value);
    if (!status && (value < INT_MIN || value > INT_MAX))
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s: field '%s' is out of range", reading->what,
                             field->key);
    if (!status)
        *(int *)(void *)at = (int)value;
    return status;
}

/* Bytes of FIELD of a map; if it has no key, of element INDEX of an array. */
static cohort_status find_bytes(const struct reading *reading,
                                const struct cohort__value *container, uint32_t index,
                                const struct cohort__field *field, struct cohort__bytes *ret_span)
{
    struct cohort__bytes span;
    cohort_status status =
        field->key
            ? cohort__get_bytes(reading->unpacked, container, field->key, &span.data, &span.bytes)
            : cohort__element_bytes(reading->unpacked, container, index, &span.data, &span.bytes);
    if (!status && span.bytes > field->most)
        status = too_much(reading, field, span.bytes, "bytes");
    if (!status)
        *ret_span = span;
    return status;
}

/* Where SPAN, of the message, is in the block. */
static unsigned char *in_block(const struct reading *reading, const struct cohort__bytes *span)
{
    return reading->copy + ((const unsigned char *)span->data - reading->message);
}

/* Behind it, in the block, is the head of another value, which is not needed there, or the end. */
static const char *end_text(const struct reading *reading, const struct cohort__bytes *span)
{
    char *text = (char *)in_block(reading, span);
    text[span->bytes] = '\0';
    return text;
}

static cohort_status read_bytes(const struct reading *reading,
                                const struct cohort__value *container, uint32_t index,
                                const struct cohort__field *field, void *at)
{
    struct cohort__bytes span;
    cohort_status status = find_bytes(reading, container, index, field, &span);
    if (status)
        return status;
    const bool is_empty = span.bytes == 0; /* then msgpack-c does not say where it is */
    if (field->kind == COHORT__FIELD_CHARS) {
        memcpy(at, is_empty ? "" : span.data, span.bytes);
        ((char *)at)[span.bytes] = '\0';
    } else if (field->kind == COHORT__FIELD_TEXT) {
        *(const char **)at = is_empty ? "" : end_text(reading, &span);
    } else {
        span.data = is_empty ? "" : reading->copy ? in_block(reading, &span) : span.data;
        *(struct cohort__bytes *)at = span;
    }
    return COHORT_OK;
}

static cohort_status read_struct(struct reading *reading, const struct cohort__value *map,
                                 const struct cohort__schema *schema, unsigned char *to);

static cohort_status read_element(struct reading *reading, const struct cohort__value *array,
                                  uint32_t index, const struct cohort__schema *element,
                                  unsigned char *to)
{
    const struct cohort__value *map;
    if (!element->fields[0].key)
        return read_bytes(reading, array, index, &element->fields[0], to);
    cohort_status status = cohort__element_map(reading->unpacked, array, index, &map);
    return status ? status : read_struct(reading, map, element, to);
}

static cohort_status read_list(struct reading *reading, const struct cohort__value *map,
                               const struct cohort__field *field, unsigned char *to)
{
    const struct cohort__schema *element = field->element;
    const struct cohort__value *array;
    unsigned char *at = to + field->offset;
    uint32_t num;
    cohort_status status = cohort__get_array(reading->unpacked, map, field->key, &array, &num);
    if (!status && num > field->most)
        status = too_much(reading, field, num, "elements");
    if (status)
        return status;
    if (field->kind == COHORT__FIELD_LIST) {
        memcpy(at, &reading->lists, sizeof(reading->lists));
        at = reading->lists;
        reading->lists += ((size_t)num + 1) * element->bytes;
    }
    memcpy(to + field->num, &num, sizeof(num));
    for (uint32_t i = 0; !status && i < num; i++)
        status = read_element(reading, array, i, element, at + i * element->bytes);
    return status;
}

static cohort_status read_value(struct reading *reading, const struct cohort__value *map,
                                const struct cohort__field *field, unsigned char *to)
{
    unsigned char *at = to + field->offset;
    switch (field->kind) {
    case COHORT__FIELD_U32:
    case COHORT__FIELD_U64:
        return num_numbers(field) == 1 ? read_number(reading, map, field, at)
                                       : read_row(reading, map, field, at);
    case COHORT__FIELD_INT:
        return read_int(reading, map, field, at);
    case COHORT__FIELD_BOOL:
        return cohort__get_bool(reading->unpacked, map, field->key, (bool *)at);
    case COHORT__FIELD_LIST:
    case COHORT__FIELD_ARRAY:
        return read_list(reading, map, field, to);
    default:
        return read_bytes(reading, map, 0, field, at);
    }
}

static cohort_status read_version(const struct reading *reading, const struct cohort__value *map,
                                  const struct cohort__schema *schema)
{
    uint64_t version = 0;
    cohort_status status =
        schema->version == 0
            ? COHORT_OK
            : cohort__get_unsigned(reading->unpacked, map, "version", UINT32_MAX, &version);
    if (!status && version != schema->version)
        status = cohort_fail(COHORT_ERR_PROTOCOL, "%s has version %u, this program's is %u",
                             reading->what, (unsigned)version, (unsigned)schema->version);
    return status;
}

static cohort_status read_struct(struct reading *reading, const struct cohort__value *map,
                                 const struct cohort__schema *schema, unsigned char *to)
{
    cohort_status status = read_version(reading, map, schema);
    for (size_t i = 0; !status && i < schema->num_fields; i++)
        if (has(schema, &schema->fields[i], to))
            status = read_value(reading, map, &schema->fields[i], to);
    return status;
}

cohort_status cohort__schema_read(const struct cohort__schema *schema,
                                  const struct cohort__unpacked *unpacked, const char *what,
                                  void *to)
{
    struct reading reading = {.unpacked = unpacked, .what = what};
    return read_struct(&reading, cohort__unpacked_root(unpacked), schema, to);
}

cohort_status cohort__schema_unpack(const struct cohort__schema *schema, const void *data,
                                    size_t bytes, const char *what, void *to)
{
    struct cohort__unpacked *unpacked;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    status = cohort__schema_read(schema, unpacked, what, to);
    cohort__unpacked_destroy(unpacked);
    return status;
}

/* How many bytes the lists of a message take, with an element behind each. */
static size_t lists_bytes(const struct cohort__unpacked *unpacked,
                          const struct cohort__schema *schema)
{
    const struct cohort__value *map = cohort__unpacked_root(unpacked), *array;
    size_t bytes = 0;
    for (size_t i = 0; i < schema->num_fields; i++) {
        const struct cohort__field *field = &schema->fields[i];
        bool is_there = false;
        uint32_t num;
        if (field->kind == COHORT__FIELD_LIST &&
            !cohort__has_field(unpacked, map, field->key, &is_there) && is_there &&
            !cohort__get_array(unpacked, map, field->key, &array, &num) && num <= field->most)
            bytes += ((size_t)num + 1) * field->element->bytes;
    }
    return bytes;
}

cohort_status cohort__schema_unpack_block(const struct cohort__schema *schema, const void *data,
                                          size_t bytes, const char *what, void **ret_block)
{
    struct cohort__unpacked *unpacked;
    cohort_status status = cohort__unpack(&unpacked, data, bytes, what);
    if (status)
        return status;
    const size_t before = schema->bytes + lists_bytes(unpacked, schema);
    unsigned char *block = calloc(1, before + bytes + 1);
    if (block) {
        struct reading reading = {unpacked, what, data, block + before, block + schema->bytes};
        memcpy(block + before, data, bytes);
        status = read_struct(&reading, cohort__unpacked_root(unpacked), schema, block);
    } else {
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: out of memory", what);
    }
    cohort__unpacked_destroy(unpacked);
    if (status)
        free(block);
    else
        *ret_block = block;
    return status;
}
