/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/bell.h"
#include "runtime/base/error.h"
#include "runtime/base/memory_file.h"
#include "runtime/net/heap.h"
#include "runtime/net/shm_memory.h"

static cohort_status fail(const char *what)
{
    bool is_full = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    return cohort_fail(is_full ? COHORT_ERR_NO_MEMORY : COHORT_ERR_SYSTEM,
                       "shared memory of this host: %s: %s", what, strerror(errno));
}

static struct cohort__hub *allocate(uint32_t size)
{
    struct cohort__hub *hub = malloc(sizeof(*hub) + size * sizeof(hub->doorbells[0]));
    if (!hub)
        return NULL;
    hub->size = size;
    hub->memory = -1;
    hub->is_row = false;
    for (uint32_t slot = 0; slot < size; slot++)
        hub->doorbells[slot] = -1;
    return hub;
}

/* The most that all heaps together may have: much less than there are addresses, since a locality
 * may map all of them. */
static const uint64_t all_heaps = UINT64_C(1) << 45;

/* A locality may have all memory of the host for itself, if the others have none, and room between
 * its blocks. */
static uint64_t heap_bytes(uint32_t size)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t most = all_heaps / size;
    uint64_t wanted = 2 * memory + COHORT__HEAP_HUGE;
    return (wanted < most ? wanted : most) / COHORT__HEAP_HUGE * COHORT__HEAP_HUGE;
}

static cohort_status memory_create(struct cohort__hub *hub)
{
    struct cohort__shm_head head = {
        .magic = COHORT__SHM_MAGIC, .size = hub->size, .heap_bytes = heap_bytes(hub->size)};
    if (getrandom(&head.id, sizeof(head.id), 0) != sizeof(head.id))
        return fail("getrandom");
    const char *what;
    hub->memory = cohort__memory_file_create(
        "cohort", cohort__shm_memory_bytes(hub->size, head.heap_bytes), &head, sizeof(head), &what);
    if (hub->memory < 0)
        return fail(what);
    return COHORT_OK;
}

cohort_status cohort__hub_create(struct cohort__hub **ret_hub, uint32_t size)
{
    if (size == 0 || size > COHORT__HUB_MAX_SLOTS)
        return cohort_fail(COHORT_ERR_BAD_PARAMETER,
                           "shared memory for %u localities; it can be 1 to %d", (unsigned)size,
                           COHORT__HUB_MAX_SLOTS);
    struct cohort__hub *hub = allocate(size);
    if (!hub)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    cohort_status status = memory_create(hub);
    for (uint32_t slot = 0; slot < size && !status; slot++) {
        hub->doorbells[slot] = cohort__bell_create();
        if (hub->doorbells[slot] < 0)
            status = fail("eventfd");
    }
    if (status) {
        cohort__hub_destroy(hub);
        return status;
    }
    *ret_hub = hub;
    return COHORT_OK;
}

/* The process that made the memory has to have sealed it, so that no process can cut off what we
 * have mapped. */
static bool is_hub(const struct cohort__hub *hub)
{
    struct cohort__shm_head head;
    struct stat stat;
    return pread(hub->memory, &head, sizeof(head), 0) == sizeof(head) &&
           head.magic == COHORT__SHM_MAGIC && head.size == hub->size &&
           head.heap_bytes <= all_heaps / hub->size && cohort__memory_file_holds(hub->memory, 0) &&
           fstat(hub->memory, &stat) == 0 &&
           (uint64_t)stat.st_size == cohort__shm_memory_bytes(hub->size, head.heap_bytes);
}

/* Whether all doorbells are open. They are checked in batches, as there may be thousands. */
static bool are_open(const int *doorbells, uint32_t num)
{
    enum { BATCH = 256 }; /* below any limit of open files, which poll keeps to */
    struct pollfd entries[BATCH];
    for (uint32_t done = 0; done < num; done += BATCH) {
        nfds_t count = num - done < BATCH ? num - done : BATCH;
        for (nfds_t i = 0; i < count; i++)
            entries[i] = (struct pollfd){.fd = doorbells[done + i]};
        if (poll(entries, count, 0) < 0)
            return false;
        for (nfds_t i = 0; i < count; i++)
            if (entries[i].fd < 0 || entries[i].revents & POLLNVAL)
                return false;
    }
    return true;
}

static bool is_row(const struct cohort__hub *hub)
{
    for (uint32_t slot = 0; slot < hub->size; slot++)
        if ((int64_t)hub->doorbells[slot] != (int64_t)hub->memory + 1 + slot)
            return false;
    return true;
}

/* In one call where the kernel can (Linux 5.11). */
static bool set_close_on_exec(const struct cohort__hub *hub)
{
    unsigned first = (unsigned)hub->memory;
    if (hub->is_row && close_range(first, first + hub->size, CLOSE_RANGE_CLOEXEC) == 0)
        return true;
    bool is_good = fcntl(hub->memory, F_SETFD, FD_CLOEXEC) == 0;
    for (uint32_t slot = 0; slot < hub->size; slot++)
        is_good &= fcntl(hub->doorbells[slot], F_SETFD, FD_CLOEXEC) == 0;
    return is_good;
}

cohort_status cohort__hub_adopt(struct cohort__hub **ret_hub, int memory, const int *doorbells,
                                uint32_t size)
{
    struct cohort__hub *hub = allocate(size);
    if (!hub) {
        close(memory);
        for (uint32_t slot = 0; slot < size; slot++)
            close(doorbells[slot]);
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    }
    hub->memory = memory;
    memcpy(hub->doorbells, doorbells, size * sizeof(hub->doorbells[0]));
    hub->is_row = is_row(hub);
    if (!is_hub(hub) || !are_open(hub->doorbells, size) || !set_close_on_exec(hub)) {
        cohort__hub_destroy(hub);
        return cohort_fail(COHORT_ERR_PROTOCOL,
                           "descriptor %d and the %u after it are no shared memory of %u "
                           "localities; were they closed?",
                           memory, (unsigned)size, (unsigned)size);
    }
    *ret_hub = hub;
    return COHORT_OK;
}

/* Reads a number that END follows, and moves *TEXT behind END. */
static bool read_number(const char **text, char end, long least, long most, long *ret)
{
    char *rest;
    *ret = strtol(*text, &rest, 10); /* LONG_MAX if it is too large */
    bool is_good = rest != *text && *rest == end && *ret >= least && *ret <= most;
    *text = rest + 1;
    return is_good;
}

/* The standard descriptors are never accepted: with a wrong text they would be closed. */
cohort_status cohort__hub_inherit(struct cohort__hub **ret_hub)
{
    const char *text = getenv(COHORT__HUB_VARIABLE), *at = text;
    long first, size;
    if (!text) {
        *ret_hub = NULL;
        return COHORT_OK;
    }
    if (!read_number(&at, ' ', STDERR_FILENO + 1, INT_MAX - COHORT__HUB_MAX_SLOTS, &first) ||
        !read_number(&at, '\0', 1, COHORT__HUB_MAX_SLOTS, &size))
        return cohort_fail(COHORT_ERR_PROTOCOL, COHORT__HUB_VARIABLE " is '%s'", text);
    unsetenv(COHORT__HUB_VARIABLE);
    int *doorbells = malloc((size_t)size * sizeof(*doorbells));
    if (!doorbells)
        return cohort_fail(COHORT_ERR_NO_MEMORY, "shared memory of this host: out of memory");
    for (long i = 0; i < size; i++)
        doorbells[i] = (int)(first + 1 + i);
    struct cohort__hub *hub = NULL;
    cohort_status status = cohort__hub_adopt(&hub, (int)first, doorbells, (uint32_t)size);
    free(doorbells);
    if (!status)
        *ret_hub = hub;
    return status;
}

/* In one call where the kernel can. gcc 12's thread sanitizer does not know that call, and would
 * regard the descriptors as still open. */
static bool close_row(const struct cohort__hub *hub)
{
#ifdef __SANITIZE_THREAD__
    (void)hub;
    return false;
#else
    unsigned first = (unsigned)hub->memory;
    return hub->is_row && close_range(first, first + hub->size, 0) == 0;
#endif
}

void cohort__hub_destroy(struct cohort__hub *hub)
{
    if (!hub)
        return;
    bool are_closed = close_row(hub);
    if (!are_closed && hub->memory >= 0)
        close(hub->memory);
    for (uint32_t slot = 0; !are_closed && slot < hub->size; slot++)
        if (hub->doorbells[slot] >= 0)
            close(hub->doorbells[slot]);
    free(hub);
}
