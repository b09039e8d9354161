/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_SCHEMA_H
#define COHORT_RUNTIME_WIRE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "runtime/wire/pack.h"

/* Messages that are structs: a table says once which members go over the wire, and what may come
 * from there. The message is a map from the names of the members to their values (pack.h). */

struct cohort__bytes {
    const void *data;
    size_t bytes;
};

enum cohort__field_kind {
    COHORT__FIELD_U32, /* one, or an array of them; likewise: */
    COHORT__FIELD_U64,
    COHORT__FIELD_INT,
    COHORT__FIELD_BOOL,
    COHORT__FIELD_CHARS, /* char[], terminated */
    COHORT__FIELD_TEXT,  /* const char *, terminated; what is longer than allowed is cut */
    COHORT__FIELD_BYTES, /* struct cohort__bytes */
    COHORT__FIELD_LIST,  /* a pointer to structs, whose number another member has */
    COHORT__FIELD_ARRAY, /* the structs themselves */
};

struct cohort__field {
    const char *key; /* NULL: the element of a list is no map, but this value */
    enum cohort__field_kind kind;
    uint32_t kinds; /* of messages that have it, a bit for each; 0: all */
    size_t offset;
    size_t size;   /* of the member */
    uint64_t most; /* the greatest number; the most bytes, or elements */
    const struct cohort__schema *element;
    size_t num; /* offset of the member that says how many elements there are, a uint32_t */
};

struct cohort__schema {
    const struct cohort__field *fields; /* if there are kinds, the first one is the kind */
    size_t num_fields;
    size_t bytes;     /* of the struct */
    uint32_t version; /* that the message has to have; 0: it has none */
};

/* clang-format off */
#define COHORT__FIELD_KIND(member)                                                                 \
    _Generic((member),                                                                             \
             uint32_t: COHORT__FIELD_U32, uint32_t *: COHORT__FIELD_U32,                           \
             uint64_t: COHORT__FIELD_U64, uint64_t *: COHORT__FIELD_U64,                           \
             int: COHORT__FIELD_INT, bool: COHORT__FIELD_BOOL,                                     \
             const char *: COHORT__FIELD_TEXT, struct cohort__bytes: COHORT__FIELD_BYTES)
#define COHORT__FIELD_AT(type, member)                                                             \
    .key = #member, .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* The rows of a table. MOST means nothing for an int or a bool. */
#define COHORT__FIELD(type, member, most_) COHORT__FIELD_OF(0, type, member, most_)
#define COHORT__FIELD_OF(kinds_, type, member, most_)                                              \
    {COHORT__FIELD_AT(type, member), .kind = COHORT__FIELD_KIND(((type *)NULL)->member),           \
     .kinds = kinds_, .most = most_}
#define COHORT__CHARS(type, member)                                                                \
    {COHORT__FIELD_AT(type, member), .kind = COHORT__FIELD_CHARS,                                  \
     .most = sizeof(((type *)NULL)->member) - 1}
#define COHORT__LIST(kinds_, type, member, num_, most_, element_)                                  \
    {COHORT__FIELD_AT(type, member), .kind = COHORT__FIELD_LIST, .kinds = kinds_, .most = most_,   \
     .element = element_, .num = offsetof(type, num_)}
#define COHORT__ARRAY(type, member, num_, element_)                                                \
    {COHORT__FIELD_AT(type, member), .kind = COHORT__FIELD_ARRAY,                                  \
     .most = sizeof(((type *)NULL)->member) / sizeof(((type *)NULL)->member[0]),                   \
     .element = element_, .num = offsetof(type, num_)}
/* The only row of a table for the elements of a list that are values. */
#define COHORT__ELEMENT(type, most_)                                                               \
    {.kind = COHORT__FIELD_KIND(*(type *)NULL), .size = sizeof(type), .most = most_}
#define COHORT__SCHEMA(type, fields_, version_)                                                    \
    {fields_, sizeof(fields_) / sizeof((fields_)[0]), sizeof(type), version_}
/* clang-format on */

/* Appends the struct at FROM to PACKER, whose status says whether that succeeded. */
void cohort__schema_pack(struct cohort__packer *packer, const struct cohort__schema *schema,
                         const void *from);

/* Reads DATA, a message that errors call WHAT, into the struct at TO. Bytes point into DATA; there
 * are no texts or lists. COHORT_ERR_PROTOCOL, COHORT_ERR_NO_MEMORY; then TO may be half written. */
cohort_status cohort__schema_unpack(const struct cohort__schema *schema, const void *data,
                                    size_t bytes, const char *what, void *to);

/* The same for a message that was unpacked, whose bytes have to stay. */
cohort_status cohort__schema_read(const struct cohort__schema *schema,
                                  const struct cohort__unpacked *unpacked, const char *what,
                                  void *to);

/* The same into one block of memory, which begins with the struct and has all that it points to. A
 * list is followed by an element that is all zero. The caller frees the block. */
cohort_status cohort__schema_unpack_block(const struct cohort__schema *schema, const void *data,
                                          size_t bytes, const char *what, void **ret_block);

#endif
