/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/ledger_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/descriptors.h"
#include "runtime/base/error.h"
#include "runtime/base/ledger.h"

/* Lines that are read at a time: so many bytes, or one. */
enum { BLOCK_BYTES = 256 * 1024 };

static cohort_status fail_to_read(void)
{
    return errno ? cohort_fail(COHORT_ERR_SYSTEM, "ledger: reading it: %s", strerror(errno))
                 : cohort_fail(COHORT_ERR_PROTOCOL, "ledger: it ends too early");
}

/* Keeps those chunks that make sense. */
static void keep_chunks(struct cohort__ledger_view *view)
{
    struct cohort__ledger_chunk *chunks = view->head.chunks;
    uint32_t num = atomic_load_explicit(&view->head.num_chunks, memory_order_relaxed), kept = 0;
    view->is_damaged = num > COHORT__LEDGER_CHUNKS;
    for (uint32_t i = 0; i < num && i < COHORT__LEDGER_CHUNKS; i++) {
        uint32_t stride = cohort__ledger_stride(chunks[i].kind);
        uint64_t begin = (uint64_t)chunks[i].page * COHORT__LEDGER_PAGE_BYTES;
        uint64_t end = begin + (uint64_t)chunks[i].num * chunks[i].stride;
        if (stride > 0 && stride == chunks[i].stride && chunks[i].page > 0 &&
            end <= COHORT__LEDGER_REGION_BYTES)
            memcpy(&chunks[kept++], &chunks[i], sizeof(chunks[i]));
        else
            view->is_damaged = true;
    }
    view->num_chunks = kept;
}

cohort_status cohort__ledger_view_init(struct cohort__ledger_view *view, int memory, uint32_t slot)
{
    view->memory = memory;
    view->region = slot * COHORT__LEDGER_REGION_BYTES;
    if (!cohort__descriptor_read(memory, &view->head, sizeof(view->head), view->region))
        return fail_to_read();
    if (view->head.magic != COHORT__LEDGER_MAGIC)
        return cohort_fail(COHORT_ERR_PROTOCOL, "no program has begun to write the ledger");
    if (view->head.version != COHORT__LEDGER_VERSION)
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "its program has another version of the library: its ledger has version "
                           "%u, not %d",
                           (unsigned)view->head.version, COHORT__LEDGER_VERSION);
    keep_chunks(view);
    return COHORT_OK;
}

/* Two readings one after the other: where the first word is the same and not 0, the line was not
 * changed while the first one read its other fields. */
static void visit_lines(const char *lines, const char *again, uint32_t num, uint32_t stride,
                        void (*visit)(void *context, const void *line), void *context)
{
    for (uint32_t i = 0; i < num; i++) {
        uint64_t before, after;
        memcpy(&before, lines + (size_t)i * stride, sizeof(before));
        memcpy(&after, again + (size_t)i * stride, sizeof(after));
        if (before != 0 && before == after)
            visit(context, lines + (size_t)i * stride);
    }
}

static cohort_status each_of_chunk(const struct cohort__ledger_view *view,
                                   const struct cohort__ledger_chunk *chunk, char *buffer,
                                   void (*visit)(void *context, const void *line), void *context)
{
    uint64_t at = view->region + (uint64_t)chunk->page * COHORT__LEDGER_PAGE_BYTES;
    const uint32_t step = BLOCK_BYTES / chunk->stride;
    for (uint32_t done = 0; done < chunk->num; done += step) {
        uint32_t num = chunk->num - done < step ? chunk->num - done : step;
        size_t bytes = (size_t)num * chunk->stride;
        uint64_t begin = at + (uint64_t)done * chunk->stride;
        if (!cohort__descriptor_read(view->memory, buffer, bytes, begin) ||
            !cohort__descriptor_read(view->memory, buffer + BLOCK_BYTES, bytes, begin))
            return fail_to_read();
        visit_lines(buffer, buffer + BLOCK_BYTES, num, chunk->stride, visit, context);
    }
    return COHORT_OK;
}

cohort_status cohort__ledger_each(const struct cohort__ledger_view *view,
                                  enum cohort__ledger_kind kind,
                                  void (*visit)(void *context, const void *line), void *context)
{
    char *buffer = aligned_alloc(64, 2 * BLOCK_BYTES);
    cohort_status status = COHORT_OK;
    if (!buffer)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "ledger: no memory to read it");
    for (uint32_t i = 0; i < view->num_chunks && !status; i++)
        if (view->head.chunks[i].kind == (uint32_t)kind)
            status = each_of_chunk(view, &view->head.chunks[i], buffer, visit, context);
    free(buffer);
    return status;
}

uint64_t cohort__ledger_nanoseconds(const struct cohort__ledger_view *view, uint64_t now_cycles,
                                    uint64_t now_mono, uint64_t cycles)
{
    const struct cohort__ledger_moment *first = &view->head.first, *last = &view->head.last;
    if (now_cycles == 0) {
        now_cycles = last->cycles;
        now_mono = last->mono;
    }
    if (now_cycles <= first->cycles || now_mono <= first->mono)
        return first->mono;
    long double rate =
        (long double)(now_mono - first->mono) / (long double)(now_cycles - first->cycles);
    long double since_first = ((long double)cycles - (long double)first->cycles) * rate;
    long double at = (long double)first->mono + since_first;
    return at < 0 ? 0 : at > 1e19L ? UINT64_MAX : (uint64_t)at;
}

/* Finding it --------------------------------------------------------------------------------- */

/* The slot is that of the region of which the process has mapped something. */
static bool find_slot(pid_t pid, uint32_t *ret_slot)
{
    char path[64], line[512];
    bool is_found = false;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return false;
    while (!is_found && fgets(line, sizeof(line), maps)) {
        unsigned long long offset;
        is_found = strstr(line, "/memfd:" COHORT__LEDGER_NAME " ") &&
                   sscanf(line, "%*s %*s %llx", &offset) == 1;
        if (is_found)
            *ret_slot = (uint32_t)(offset / COHORT__LEDGER_REGION_BYTES);
    }
    fclose(maps);
    return is_found;
}

/* -1: it has none open. */
static int open_memory(const char *folder, DIR *descriptors)
{
    const struct dirent *entry;
    while ((entry = readdir(descriptors))) {
        char path[320], target[64];
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        ssize_t bytes = readlink(path, target, sizeof(target) - 1);
        target[bytes > 0 ? bytes : 0] = '\0';
        if (strncmp(target, "/memfd:" COHORT__LEDGER_NAME " ",
                    strlen("/memfd:" COHORT__LEDGER_NAME " ")) != 0)
            continue;
        int memory = open(path, O_RDONLY | O_CLOEXEC);
        if (memory >= 0)
            return memory;
    }
    return -1;
}

cohort_status cohort__ledger_find(pid_t pid, int *ret_memory, uint32_t *ret_slot)
{
    char folder[64];
    uint32_t slot;
    snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
    DIR *descriptors = opendir(folder);
    if (!descriptors)
        return cohort_fail(COHORT_ERR_SYSTEM, "process %d: %s", (int)pid,
                           errno == ENOENT ? "there is none" : strerror(errno));
    int memory = find_slot(pid, &slot) ? open_memory(folder, descriptors) : -1;
    closedir(descriptors);
    if (memory < 0)
        return cohort_fail(
            COHORT_ERR_STATE,
            "process %d has no ledger: it is no program of Cohort, or has not begun, "
            "or has ended",
            (int)pid);
    *ret_memory = memory;
    *ret_slot = slot;
    return COHORT_OK;
}
