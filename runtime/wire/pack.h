/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_PACK_H
#define COHORT_RUNTIME_WIRE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* Messages whose form is not fixed, in msgpack (https://msgpack.org).
 *
 * Writing: append values to a packer, and look at `status` once at the end. After the first
 * failure, `status` keeps it, and later values are ignored. An all-zero packer is valid. For a map
 * of N entries, call pack_map(N), and then N times append a key (pack_text) and a value.
 * pack_field_* append both. */
struct cohort__packer {
    unsigned char *data;
    size_t bytes;
    size_t capacity;
    cohort_status status;
};

/* NULL is fine. */
void cohort__packer_fini(struct cohort__packer *packer);

/* Empties the packer, but keeps its memory. */
void cohort__packer_reset(struct cohort__packer *packer);

/* Makes room for BYTES more: appending so many can't fail then. */
void cohort__packer_reserve(struct cohort__packer *packer, size_t bytes);

void cohort__pack_map(struct cohort__packer *packer, uint32_t num_entries);
void cohort__pack_array(struct cohort__packer *packer, uint32_t num_elements);
void cohort__pack_unsigned(struct cohort__packer *packer, uint64_t value);
void cohort__pack_signed(struct cohort__packer *packer, int64_t value);
void cohort__pack_bool(struct cohort__packer *packer, bool value);
void cohort__pack_text(struct cohort__packer *packer, const char *text);
/* BYTES is at most 4 GiB - 1, else the status becomes COHORT_ERR_BAD_PARAMETER. */
void cohort__pack_bytes(struct cohort__packer *packer, const void *data, size_t bytes);

void cohort__pack_field_unsigned(struct cohort__packer *packer, const char *key, uint64_t value);
void cohort__pack_field_signed(struct cohort__packer *packer, const char *key, int64_t value);
void cohort__pack_field_bool(struct cohort__packer *packer, const char *key, bool value);
void cohort__pack_field_text(struct cohort__packer *packer, const char *key, const char *text);
void cohort__pack_field_bytes(struct cohort__packer *packer, const char *key, const void *data,
                              size_t bytes);

/* Reading: unpack checks bytes from outside and makes a tree of values of them. After that, no
 * access can be out of bounds. Texts and byte strings point into the message, which has to stay
 * valid. If the message is wrong, the error is COHORT_ERR_PROTOCOL, with a text that names the
 * message (WHAT) and the field. unpack may also fail with COHORT_ERR_NO_MEMORY. */
struct cohort__unpacked;
struct cohort__value; /* one node; valid as long as the tree */

enum {
    COHORT__UNPACK_MAX_BYTES = 64 << 20, /* size of one message */
    COHORT__UNPACK_MAX_DEPTH = 16,       /* how deep maps and arrays may be nested */
    COHORT__UNPACK_MAX_VALUES = 1 << 20, /* in one message; large data has to be a byte string */
};

/* The message must be exactly one value. WHAT ("HELLO of locality 3") is copied. */
cohort_status cohort__unpack(struct cohort__unpacked **ret_unpacked, const void *data, size_t bytes,
                             const char *what);

/* NULL is fine. */
void cohort__unpacked_destroy(struct cohort__unpacked *unpacked);

const struct cohort__value *cohort__unpacked_root(const struct cohort__unpacked *unpacked);

/* *RET_HAS tells whether MAP has the field KEY. It is a failure if MAP is not a map, or has the
 * field twice. */
cohort_status cohort__has_field(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key, bool *ret_has);

/* Read fields of a map. It is a failure if MAP is not a map, if the field is missing or there
 * twice, or if its type is not the one that was asked for. */
cohort_status cohort__get_unsigned(const struct cohort__unpacked *unpacked,
                                   const struct cohort__value *map, const char *key, uint64_t max,
                                   uint64_t *ret_value);
cohort_status cohort__get_signed(const struct cohort__unpacked *unpacked,
                                 const struct cohort__value *map, const char *key,
                                 int64_t *ret_value);
cohort_status cohort__get_bool(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key, bool *ret_value);
/* The text is not terminated and may contain any bytes. */
cohort_status cohort__get_text(const struct cohort__unpacked *unpacked,
                               const struct cohort__value *map, const char *key,
                               const char **ret_text, size_t *ret_bytes);
cohort_status cohort__get_bytes(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const void **ret_data, size_t *ret_bytes);
cohort_status cohort__get_array(const struct cohort__unpacked *unpacked,
                                const struct cohort__value *map, const char *key,
                                const struct cohort__value **ret_array, uint32_t *ret_count);

/* Read elements of an array. */
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
