/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_BINS_H
#define COHORT_RUNTIME_WIRE_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* A message of byte strings, as msgpack: an array of COUNT strings, each of them a `bin`, or, where
 * it is longer than COHORT__BINS_PIECE_BYTES, an array of such pieces, all but the last one full.
 * So there is no limit but memory; and nothing is allocated here. */
enum { COHORT__BINS_PIECE_BYTES = 1 << 20 };

/* Writing: how much memory the head and each string take; then the same into that memory. */
size_t cohort__bins_head_bytes(uint32_t count);
size_t cohort__bins_string_bytes(size_t bytes); /* 0: more than memory */
unsigned char *cohort__bins_put_head(unsigned char *to, uint32_t count);
unsigned char *cohort__bins_put_string(unsigned char *to, const void *data, size_t bytes);

/* Reading, in order: how many strings there are; for each its length, then the string itself, into
 * memory of exactly that length; nothing may be left at the end. Each is COHORT_ERR_PROTOCOL, with
 * a message, where the bytes make no sense. */
struct cohort__bins {
    const unsigned char *next;
    size_t left;
};
cohort_status cohort__bins_get_head(struct cohort__bins *bins, uint32_t *ret_count);
cohort_status cohort__bins_get_length(const struct cohort__bins *bins, size_t *ret_bytes);
/* After get_length has succeeded. */
void cohort__bins_get_string(struct cohort__bins *bins, void *to);
cohort_status cohort__bins_get_end(const struct cohort__bins *bins);

#endif
