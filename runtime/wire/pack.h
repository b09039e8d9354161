/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_PACK_H
#define COHORT_RUNTIME_WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Messages of variable form, as msgpack (https://msgpack.org).
 *
 * Writing: append to a packer, then look at `status` once: the first failure (memory) sticks. A
 * zeroed packer is valid. A map of N entries is pack_map(N), then N times a key (pack_text) and a
 * value; pack_field_* do both. */
struct cohort__packer {
    unsigned char *data;
    size_t bytes;
    size_t capacity;
    cohort_status status;
};

/* NULL is fine. */
void cohort__packer_fini(struct cohort__packer *packer);

/* Empties it, keeps the memory. */
void cohort__packer_reset(struct cohort__packer *packer);

void cohort__pack_map(struct cohort__packer *packer, uint32_t num_entries);
void cohort__pack_array(struct cohort__packer *packer, uint32_t num_elements);
void cohort__pack_unsigned(struct cohort__packer *packer, uint64_t value);
void cohort__pack_signed(struct cohort__packer *packer, int64_t value);
void cohort__pack_bool(struct cohort__packer *packer, bool value);
void cohort__pack_text(struct cohort__packer *packer, const char *text);
/* At most 4 GiB - 1. */
void cohort__pack_bytes(struct cohort__packer *packer, const void *data, size_t bytes);

void cohort__pack_field_unsigned(struct cohort__packer *packer, const char *key, uint64_t value);
void cohort__pack_field_signed(struct cohort__packer *packer, const char *key, int64_t value);
void cohort__pack_field_bool(struct cohort__packer *packer, const char *key, bool value);
void cohort__pack_field_text(struct cohort__packer *packer, const char *key, const char *text);
void cohort__pack_field_bytes(struct cohort__packer *packer, const char *key, const void *data,
                              size_t bytes);

/* Reading: bytes from outside become a tree of values, after which nothing can be out of bounds.
 * Text and bytes point into the message, which has to stay. Every failure is COHORT_ERR_PROTOCOL,
 * with a message that names WHAT the message is and the field. */
struct cohort__unpacked;
struct cohort__value; /* one node; lives as long as the tree */

enum {
    COHORT__UNPACK_MAX_BYTES = 64 << 20, /* of one message */
    COHORT__UNPACK_MAX_DEPTH = 16,       /* maps and arrays in one another */
    COHORT__UNPACK_MAX_VALUES = 1 << 20, /* in all; blocks of memory go as bytes */
};

/* The message is exactly one value. WHAT ("HELLO of locality 3") is copied. */
cohort_status cohort__unpack(struct cohort__unpacked **ret_unpacked, const void *data, size_t bytes,
                             const char *what);

/* NULL is fine. */
void cohort__unpacked_destroy(struct cohort__unpacked *unpacked);

const struct cohort__value *cohort__unpacked_root(const struct cohort__unpacked *unpacked);

/* Whether MAP, which has to be one, has the field KEY. */
cohort_status cohort__has_field(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key, bool *ret_has);

/* Fields of a map. MAP being none, the field missing or twice there, and any other type than that
 * asked for are failures. */
cohort_status cohort__get_unsigned(const struct cohort__unpacked *unpacked,
                                   const struct cohort__value *map, const char *key, uint64_t max,
                                   uint64_t *ret_value);
cohort_status cohort__get_signed(const struct cohort__unpacked *unpacked,
                                 const struct cohort__value *map, const char *key,
                                 int64_t *ret_value);
cohort_status cohort__get_bool(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key, bool *ret_value);
/* Not terminated; may hold any bytes. */
cohort_status cohort__get_text(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key,
                               const char **ret_text, size_t *ret_bytes);
cohort_status cohort__get_bytes(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const void **ret_data, size_t *ret_bytes);
/* A map or an array that is the field's value. */
cohort_status cohort__get_map(const struct cohort__unpacked *unpacked,
                              const struct cohort__value *map, const char *key,
                              const struct cohort__value **ret_map);
cohort_status cohort__get_array(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const struct cohort__value **ret_array, uint32_t *ret_count);

/* Elements of an array. */
cohort_status cohort__element_unsigned(const struct cohort__unpacked *unpacked,
                                       const struct cohort__value *array, uint32_t index,
                                       uint64_t max, uint64_t *ret_value);
cohort_status cohort__element_bytes(const struct cohort__unpacked *unpacked,
                                    const struct cohort__value *array, uint32_t index,
                                    const void **ret_data, size_t *ret_bytes);
cohort_status cohort__element_map(const struct cohort__unpacked *unpacked,
                                  const struct cohort__value *array, uint32_t index,
                                  const struct cohort__value **ret_map);

#endif
