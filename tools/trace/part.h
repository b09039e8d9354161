/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: one locality's part of a trace, to be read. */
#ifndef COHORT_TOOLS_TRACE_PART_H
#define COHORT_TOOLS_TRACE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cohort/status.h"
#include "tools/trace/event.h"

/* One locality's part of a trace (base/trace_format.h), to be read. Nothing in it is trusted: the
 * process may have been killed while it wrote, and the file may be anybody's. It is read, not
 * mapped, so that a file that becomes shorter does no harm. One thread at a time. */

struct block_at {
    uint64_t thread, sequence, at; /* where in the file */
};

/* A moment by three clocks: the last two in ns, CLOCK_MONOTONIC and CLOCK_REALTIME. */
struct moment {
    uint64_t cycles, mono, real;
};

struct module {
    uint64_t bias, begin, end;
    unsigned char build_id[COHORT__TRACE_TEXT_BYTES];
    size_t build_id_bytes;
    struct elf_symbols *symbols; /* NULL: not read yet */
    char path[512];
};

struct part {
    char *path;
    int file;
    struct cohort__trace_head head;
    struct block_at *blocks; /* by thread, and then by sequence; each once */
    size_t num_blocks;
    struct moment *moments; /* by cycles */
    size_t num_moments;
    struct module *modules;
    size_t num_modules;
};

/* Opens PATH with FLAGS, and reads the head of the part that it is. -1: it can't be opened, as
 * errno says; EBADMSG: it is no part. */
int part_open(const char *path, int flags, struct cohort__trace_head *ret_head);

/* Opens PATH. On failure it needs no fini. COHORT_ERR_SYSTEM: it can't be read;
 * COHORT_ERR_PROTOCOL: it is no part, or one of another version of the library, or has no clock;
 * COHORT_ERR_NO_MEMORY. */
cohort_status part_init(struct part *part, const char *path);
void part_fini(struct part *part);

/* CYCLES of the part as nanoseconds of CLOCK_MONOTONIC of its host, or what was made of that. */
uint64_t part_time(const struct part *part, uint64_t cycles);

/* Writes how the function, or the place in one, at ADDRESS is called. */
void part_name(struct part *part, uint64_t address, char *text, size_t bytes);

/* The number of that of RANK among PARTS, which are by rank; or of another one, if it is not there.
 */
uint32_t parts_find(const struct part *parts, uint32_t num, uint32_t rank);

/* The events of one thread, in turn. */
struct stream {
    const struct part *part;
    size_t block, end;  /* in the part's list */
    uint32_t num_read;  /* records of that block that were read */
    uint32_t next, num; /* in `records` */
    uint64_t last;      /* time */
    char text[1024];
    char from[1024];
    size_t from_bytes; /* of the next CALL; then its event is over */
    unsigned char build_id[COHORT__TRACE_TEXT_BYTES];
    size_t build_id_bytes;
    struct {
        uint64_t at, head, a, b;
    } records[128];
};

/* From the block number BLOCK of the part on, which is the first one of its thread. */
void stream_init(struct stream *stream, const struct part *part, size_t block);

/* False: there is none any more. */
bool stream_next(struct stream *stream, struct event *ret_event);

#endif
