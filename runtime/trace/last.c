/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/trace/last.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/trace_format.h"
#include "runtime/trace/join.h"

/* *RET_PART is -1: it is not there. COHORT_ERR_SYSTEM: it can't be opened. */
static cohort_status open_part(const char *file, uint32_t rank, int flags, int *ret_part)
{
    char path[PATH_MAX];
    const int bytes = snprintf(path, sizeof(path), "%s.%u.part", file, (unsigned)rank);
    const bool is_cut = bytes < 0 || (size_t)bytes >= sizeof(path);
    int part = is_cut ? -1 : open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (part < 0 && (is_cut || errno != ENOENT))
        return cohort_fail(COHORT_ERR_SYSTEM, "no trace is made: part %u of %s: %s", (unsigned)rank,
                           file, strerror(is_cut ? ENAMETOOLONG : errno));
    *ret_part = part;
    return COHORT_OK;
}

static bool is_closed(int part, uint64_t key, uint32_t rank)
{
    struct cohort__trace_head head;
    return pread(part, &head, sizeof(head), 0) == sizeof(head) &&
           head.magic == COHORT__TRACE_MAGIC && head.key == key && head.rank == rank &&
           head.is_closed == 1;
}

static cohort_status check_all(const char *file, uint64_t key, uint32_t size, bool *ret_are_closed)
{
    bool are_closed = true;
    for (uint32_t rank = 0; rank < size && are_closed; rank++) {
        int part;
        cohort_status status = open_part(file, rank, O_RDONLY, &part);
        if (status)
            return status;
        are_closed = part >= 0 && is_closed(part, key, rank);
        if (part >= 0)
            close(part);
    }
    *ret_are_closed = are_closed;
    return COHORT_OK;
}

/* The first part is also the lock: it goes when the trace is made. */
cohort_status cohort__trace_join_last(const char *file, uint64_t key, uint32_t size)
{
    bool are_closed = false;
    int lock = -1;
    cohort_status status = check_all(file, key, size, &are_closed);
    if (!status && are_closed)
        status = open_part(file, 0, O_RDWR, &lock);
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
        ;
    if (lock >= 0) /* somebody may have done it meanwhile */
        status = check_all(file, key, size, &are_closed);
    if (lock >= 0 && !status && are_closed)
        status = cohort__trace_join(
            &(struct cohort__trace_join_options){.file = file, .has_key = true, .key = key}, NULL);
    if (lock >= 0)
        close(lock);
    return status;
}
