/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_WIRE_BINS_H
#define COHORT_RUNTIME_WIRE_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"

/* A message of byte strings, in msgpack: an array of COUNT elements. Each string is a `bin`. A
 * string that is longer than COHORT__BINS_PIECE_BYTES is an array of such pieces, all full except
 * the last one. So only memory limits the length. A number N stands for N empty strings, a *run*,
 * where writer and reader have agreed on that, and so does a map of strings with a name each, a
 * number, for several in the place of one. Nothing is allocated here. */
enum { COHORT__BINS_PIECE_BYTES = 1 << 20 };

/* Writing: first ask how much memory the head and each string take, then put them into memory of
 * that size. put returns the end of what it has written. */
size_t cohort__bins_head_bytes(uint32_t count);
size_t cohort__bins_string_bytes(size_t bytes); /* 0: more than memory can hold */
unsigned char *cohort__bins_put_head(unsigned char *to, uint32_t count);
unsigned char *cohort__bins_put_string(unsigned char *to, const void *data, size_t bytes);
size_t cohort__bins_run_bytes(uint32_t num);
unsigned char *cohort__bins_put_run(unsigned char *to, uint32_t num);
/* A map: its head, as long as that of an array, then for each of its COUNT strings the name and the
 * string. */
enum { COHORT__BINS_NAME_BYTES = 9 };
unsigned char *cohort__bins_put_map(unsigned char *to, uint32_t count);
unsigned char *cohort__bins_put_name(unsigned char *to, uint64_t name);

/* Reading, in this order: get_head tells how many elements there are. For each one, get_run tells
 * how many empty strings it stands for, 0 if it is a string. For each string, get_length tells its
 * length, and get_string copies it into memory of exactly that length. In place of a string
 * get_map tells how many strings a map has, each with a name, which get_name tells. get_end checks
 * that nothing is left. All except get_run and get_string return COHORT_ERR_PROTOCOL, with a
 * message, if the bytes are not valid. */
struct cohort__bins {
    const unsigned char *next;
    size_t left;
};
cohort_status cohort__bins_get_head(struct cohort__bins *bins, uint32_t *ret_count);
uint32_t cohort__bins_get_run(struct cohort__bins *bins);
cohort_status cohort__bins_get_length(const struct cohort__bins *bins, size_t *ret_bytes);
/* Only after get_length has succeeded for the same string. */
void cohort__bins_get_string(struct cohort__bins *bins, void *to);
cohort_status cohort__bins_get_map(struct cohort__bins *bins, uint32_t *ret_count);
cohort_status cohort__bins_get_name(struct cohort__bins *bins, uint64_t *ret_name);
cohort_status cohort__bins_get_end(const struct cohort__bins *bins);

#endif
