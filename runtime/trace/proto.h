/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_RUNTIME_TRACE_PROTO_H
#define COHORT_RUNTIME_TRACE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes messages of protobuf into memory, and from there into a file. Whatever goes wrong is
 * remembered, so that it has to be asked for only once. One thread at a time. All zero, but the
 * file, is a valid start. */
struct cohort__proto {
    FILE *file;
    unsigned char *data;
    size_t bytes, room;
    bool has_failed; /* no memory, or the file can't be written: errno said why */
    int error;       /* errno, or 0: no memory */
};

void cohort__proto_fini(struct cohort__proto *proto);

void cohort__proto_varint(struct cohort__proto *proto, uint32_t field, uint64_t value);
void cohort__proto_fixed64(struct cohort__proto *proto, uint32_t field, uint64_t value);
void cohort__proto_text(struct cohort__proto *proto, uint32_t field, const char *text);

/* A message in the one that is being written: begin returns what end has to be told. */
size_t cohort__proto_begin(struct cohort__proto *proto, uint32_t field);
void cohort__proto_end(struct cohort__proto *proto, size_t mark);

/* Writes what is in memory to the file. */
void cohort__proto_flush(struct cohort__proto *proto);

#endif
