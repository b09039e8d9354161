/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: one locality's part of a trace, to be read. */
#include "tools/trace/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "tools/share/elf_symbols.h"
#include "runtime/base/error.h"
#include "tools/trace/list.h"

/* In what was damaged there may be any number: 30 years. */
static const double most_ns = 1e18;

/* What is more is no trace that was written by the library. */
enum { MOST_THREADS = 1 << 20, MOST_MODULES = 1 << 14 };

/* One thread's events ------------------------------------------------------------------------- */

void stream_init(struct stream *stream, const struct part *part, size_t block)
{
    stream->part = part;
    stream->block = stream->end = block;
    while (stream->end < part->num_blocks &&
           part->blocks[stream->end].thread == part->blocks[block].thread)
        stream->end++;
    stream->num_read = stream->next = stream->num = 0;
    stream->last = 0;
    stream->text[0] = '\0';
    stream->from_bytes = 0;
    stream->build_id_bytes = 0;
}

/* The last block may be cut off: then there is nothing behind that. */
static bool fill(struct stream *stream)
{
    const uint32_t most = sizeof(stream->records) / sizeof(stream->records[0]);
    while (stream->block < stream->end) {
        uint32_t left = COHORT__TRACE_BLOCK_RECORDS - stream->num_read;
        uint32_t num = left < most ? left : most;
        uint64_t at = stream->part->blocks[stream->block].at +
                      offsetof(struct cohort__trace_block, records) +
                      stream->num_read * sizeof(stream->records[0]);
        bool is_there = num > 0 && cohort__descriptor_read(stream->part->file, stream->records,
                                                           num * sizeof(stream->records[0]), at);
        if (is_there && stream->records[0].at != 0) {
            stream->num_read += num;
            stream->num = num;
            stream->next = 0;
            return true;
        }
        stream->block++;
        stream->num_read = 0;
    }
    return false;
}

/* The number of the next record in `records`; -1: there is none. Behind the last record of a block
 * there are zeroes. */
static int peek(struct stream *stream)
{
    while (stream->next == stream->num || stream->records[stream->next].at == 0) {
        if (stream->next < stream->num) {
            stream->block++;
            stream->num_read = 0;
        }
        stream->next = stream->num = 0;
        if (!fill(stream))
            return -1;
    }
    return (int)stream->next;
}

static enum cohort__trace_kind kind_at(const struct stream *stream, int i)
{
    uint64_t kind = stream->records[i].head & 0xff;
    return kind < COHORT__TRACE_KINDS ? (enum cohort__trace_kind)kind : COHORT__TRACE_NONE;
}

/* Appends what record I holds to TEXT, which has *USED of BYTES. */
static void take_text(const struct stream *stream, int i, void *text, size_t *used, size_t bytes)
{
    unsigned char packed[24];
    for (unsigned k = 0; k < 8; k++)
        packed[k] = (unsigned char)(stream->records[i].head >> 8 * k);
    memcpy(packed + 8, &stream->records[i].a, 8);
    memcpy(packed + 16, &stream->records[i].b, 8);
    size_t n = packed[1] < COHORT__TRACE_TEXT_BYTES ? packed[1] : COHORT__TRACE_TEXT_BYTES;
    n = n < bytes - *used ? n : bytes - *used;
    memcpy((unsigned char *)text + *used, packed + 2, n);
    *used += n;
}

static void take_texts(struct stream *stream)
{
    size_t used = 0;
    int i;
    stream->build_id_bytes = 0;
    while ((i = peek(stream)) >= 0) {
        enum cohort__trace_kind kind = kind_at(stream, i);
        if (kind == COHORT__TRACE_TEXT)
            take_text(stream, i, stream->text, &used, sizeof(stream->text) - 1);
        else if (kind == COHORT__TRACE_BUILD_ID)
            take_text(stream, i, stream->build_id, &stream->build_id_bytes,
                      sizeof(stream->build_id));
        else
            break;
        stream->next++;
    }
    stream->text[used] = '\0';
}

bool stream_next(struct stream *stream, struct event *ret_event)
{
    uint64_t c = 0, d = 0;
    int i;
    while ((i = peek(stream)) >= 0) {
        enum cohort__trace_kind kind = kind_at(stream, i);
        uint64_t head = stream->records[i].head;
        uint64_t time = part_time(stream->part, stream->records[i].at);
        uint64_t a = stream->records[i].a, b = stream->records[i].b;
        stream->next++;
        if (kind == COHORT__TRACE_MORE) {
            c = a;
            d = b;
            continue;
        }
        if (kind == COHORT__TRACE_FROM)
            take_text(stream, i, stream->from, &stream->from_bytes, sizeof(stream->from) - 1);
        if (kind == COHORT__TRACE_NONE || kind == COHORT__TRACE_FROM ||
            kind == COHORT__TRACE_TEXT || kind == COHORT__TRACE_BUILD_ID)
            continue;
        stream->last = time > stream->last ? time : stream->last;
        *ret_event = (struct event){
            .at = stream->last,
            .rank = stream->part->head.rank,
            .thread = (uint32_t)stream->part->blocks[stream->end - 1].thread,
            .kind = kind,
            .small = (uint8_t)(head >> 8),
            .value = head >> 16,
            .a = a,
            .b = b,
            .c = c,
            .d = d,
            .text = stream->text,
            .from = "",
        };
        if (kind == COHORT__TRACE_CALL) {
            stream->from[stream->from_bytes] = '\0';
            stream->from_bytes = 0;
            ret_event->from = stream->from;
        }
        take_texts(stream);
        return true;
    }
    return false;
}

/* The clock ----------------------------------------------------------------------------------- */

uint64_t part_time(const struct part *part, uint64_t cycles)
{
    const struct moment *moments = part->moments;
    size_t low = 0, high = part->num_moments;
    if (high == 0)
        return cycles;
    while (low < high) { /* the first one behind it */
        size_t middle = low + (high - low) / 2;
        if (moments[middle].cycles <= cycles)
            low = middle + 1;
        else
            high = middle;
    }
    size_t last = low < part->num_moments ? low : part->num_moments - 1;
    size_t first = last > 0 ? last - 1 : 0;
    last = first == last && part->num_moments > 1 ? 1 : last;
    double per_cycle = 1;
    if (moments[last].cycles > moments[first].cycles)
        per_cycle = (double)(moments[last].mono - moments[first].mono) /
                    (double)(moments[last].cycles - moments[first].cycles);
    double since = (double)(int64_t)(cycles - moments[first].cycles) * per_cycle;
    since = since < most_ns ? since > -most_ns ? since : -most_ns : most_ns;
    uint64_t time = moments[first].mono + (uint64_t)(int64_t)since;
    return since < 0 && time > moments[first].mono ? 0 : time;
}

static int compare_moments(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    return a->cycles < b->cycles ? -1 : a->cycles > b->cycles;
}

/* Functions ----------------------------------------------------------------------------------- */

void part_name(struct part *part, uint64_t address, char *text, size_t bytes)
{
    for (size_t i = 0; i < part->num_modules; i++) {
        struct module *module = &part->modules[i];
        if (address < module->begin || address >= module->end)
            continue;
        if (!module->symbols)
            module->symbols =
                elf_symbols_read(module->path, module->build_id, module->build_id_bytes);
        elf_symbols_name(module->symbols, module->path, address - module->bias, text, bytes);
        return;
    }
    snprintf(text, bytes, "0x%llx", (unsigned long long)address);
}

/* Opening ------------------------------------------------------------------------------------- */

/* One more element in *LIST of NUM, which has room for powers of two. False: no memory. */
static int compare_blocks(const void *left, const void *right)
{
    const struct block_at *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* A block may be there twice: written by the locality, and taken from the ledger. The first one
 * counts. */
static void drop_doubles(struct part *part)
{
    size_t num = 0;
    if (part->num_blocks == 0)
        return;
    qsort(part->blocks, part->num_blocks, sizeof(*part->blocks), compare_blocks);
    for (size_t i = 0; i < part->num_blocks; i++)
        if (num == 0 || part->blocks[i].thread != part->blocks[num - 1].thread ||
            part->blocks[i].sequence != part->blocks[num - 1].sequence)
            part->blocks[num++] = part->blocks[i];
    part->num_blocks = num;
}

static cohort_status find_blocks(struct part *part, uint64_t bytes)
{
    for (uint64_t at = COHORT__TRACE_HEAD_BYTES; at + 64 < bytes; at += COHORT__TRACE_BLOCK_BYTES) {
        uint64_t words[2];
        if (!cohort__descriptor_read(part->file, words, sizeof(words), at))
            break;
        if (words[0] == 0 || words[0] > MOST_THREADS)
            continue; /* was not written: the disk was full, or the process was killed */
        if (!list_grow(&part->blocks, part->num_blocks, sizeof(*part->blocks)))
            return COHORT_ERR_NO_MEMORY;
        part->blocks[part->num_blocks++] = (struct block_at){words[0] - 1, words[1], at};
    }
    drop_doubles(part);
    return COHORT_OK;
}

/* All modules are written at the begin and at the end. */
static cohort_status add_module(struct part *part, const struct event *event,
                                const struct stream *stream)
{
    for (size_t i = 0; i < part->num_modules; i++)
        if (part->modules[i].begin == event->a && strcmp(part->modules[i].path, event->text) == 0)
            return COHORT_OK;
    if (part->num_modules == MOST_MODULES)
        return COHORT_OK;
    if (!list_grow(&part->modules, part->num_modules, sizeof(*part->modules)))
        return COHORT_ERR_NO_MEMORY;
    struct module *module = &part->modules[part->num_modules++];
    *module = (struct module){
        .bias = event->value,
        .begin = event->a,
        .end = event->b,
        .build_id_bytes = stream->build_id_bytes,
    };
    memcpy(module->build_id, stream->build_id, stream->build_id_bytes);
    snprintf(module->path, sizeof(module->path), "%s", event->text);
    return COHORT_OK;
}

/* The clock's moments come first as `at` in cycles: the part has none yet, so time is cycles. */
static cohort_status survey(struct part *part, struct stream *stream)
{
    struct moment *moments = NULL;
    size_t num = 0;
    cohort_status status = COHORT_OK;
    for (size_t block = 0; block < part->num_blocks && !status; block = stream->end) {
        struct event event;
        stream_init(stream, part, block);
        while (!status && stream_next(stream, &event)) {
            if (event.kind == COHORT__TRACE_MODULE)
                status = add_module(part, &event, stream);
            if (event.kind != COHORT__TRACE_CLOCK)
                continue;
            if (!list_grow(&moments, num, sizeof(*moments)))
                status = COHORT_ERR_NO_MEMORY;
            else
                moments[num++] = (struct moment){event.at, event.a, event.b};
        }
    }
    if (num > 0)
        qsort(moments, num, sizeof(*moments), compare_moments);
    part->moments = moments;
    part->num_moments = num;
    return status;
}

int part_open(const char *path, int flags, struct cohort__trace_head *ret_head)
{
    struct stat stat;
    int file = open(path, flags | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    if (fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) &&
        cohort__descriptor_read(file, ret_head, sizeof(*ret_head), 0) &&
        ret_head->magic == COHORT__TRACE_MAGIC)
        return file;
    close(file);
    errno = EBADMSG;
    return -1;
}

static cohort_status read_part(struct part *part, const char *path)
{
    struct cohort__trace_head *head = &part->head;
    if (head->version != COHORT__TRACE_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "%s: is a part of version %u, this program reads version %d", path,
                           (unsigned)head->version, COHORT__TRACE_VERSION);
    if (head->size == 0 || head->rank >= head->size)
        return cohort_fail(COHORT_ERR_PROTOCOL, "%s: is of locality %u of %u", path,
                           (unsigned)head->rank, (unsigned)head->size);
    head->host[sizeof(head->host) - 1] = head->clock[sizeof(head->clock) - 1] = '\0';
    head->program[sizeof(head->program) - 1] = '\0';
    struct stream *stream = malloc(sizeof(*stream));
    cohort_status status =
        stream ? find_blocks(part, (uint64_t)lseek(part->file, 0, SEEK_END)) : COHORT_ERR_NO_MEMORY;
    if (!status)
        status = survey(part, stream);
    free(stream);
    return status ? cohort_fail(status, "%s: no memory to read it", path) : COHORT_OK;
}

cohort_status part_init(struct part *part, const char *path)
{
    *part = (struct part){.path = strdup(path)};
    part->file = part_open(path, O_RDONLY, &part->head);
    cohort_status status = COHORT_OK;
    if (part->file < 0)
        status = errno == EBADMSG
                     ? cohort_fail(COHORT_ERR_PROTOCOL, "%s: is no part of a trace", path)
                     : cohort_fail(COHORT_ERR_SYSTEM, "%s: %s", path, strerror(errno));
    else if (!part->path)
        status = cohort_fail(COHORT_ERR_NO_MEMORY, "%s: no memory to read it", path);
    else
        status = read_part(part, path);
    if (status)
        part_fini(part);
    return status;
}

void part_fini(struct part *part)
{
    if (part->file >= 0)
        close(part->file);
    for (size_t i = 0; i < part->num_modules; i++)
        elf_symbols_destroy(part->modules[i].symbols);
    free(part->path);
    free(part->blocks);
    free(part->moments);
    free(part->modules);
    *part = (struct part){.file = -1};
}

uint32_t parts_find(const struct part *parts, uint32_t num, uint32_t rank)
{
    uint32_t low = 0, high = num;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (parts[middle].head.rank <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}
