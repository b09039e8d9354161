/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: writes and reads messages of protobuf. */
#ifndef COHORT_TOOLS_TRACE_PROTO_H
#define COHORT_TOOLS_TRACE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes messages of protobuf into memory, and from there into a file. Whatever goes wrong is
 * remembered, so that it has to be asked for only once. One thread at a time. All zero, but the
 * file, is a valid start. */
struct proto {
    FILE *file;
    unsigned char *data;
    size_t bytes, room;
    bool has_failed; /* no memory, or the file can't be written: errno said why */
    int error;       /* errno, or 0: no memory */
};

void proto_fini(struct proto *proto);

void proto_varint(struct proto *proto, uint32_t field, uint64_t value);
void proto_fixed64(struct proto *proto, uint32_t field, uint64_t value);
void proto_text(struct proto *proto, uint32_t field, const char *text);

/* A message in the one that is being written: begin returns what end has to be told. */
size_t proto_begin(struct proto *proto, uint32_t field);
void proto_end(struct proto *proto, size_t mark);

/* Writes what is in memory to the file. */
void proto_flush(struct proto *proto);

/* What is left of a message. */
struct wire {
    const unsigned char *at, *end;
    bool is_damaged;
};

struct wire_field {
    uint32_t number;
    uint64_t value;   /* of a number */
    struct wire data; /* of a text or a message; else empty */
};

/* False: there is no more, or what follows makes no sense (is_damaged). */
bool wire_next(struct wire *wire, struct wire_field *ret_field);

#endif
