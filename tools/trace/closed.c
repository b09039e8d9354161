/* SPDX-License-Identifier: Apache-2.0 */
/* cohort-trace: the join of a job that has no cohortrun. */
#include "tools/trace/closed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/trace_format.h"
#include "tools/trace/join.h"

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

static bool is_closed(int part, uint32_t rank, struct cohort__trace_head *ret_head)
{
    return part >= 0 && pread(part, ret_head, sizeof(*ret_head), 0) == sizeof(*ret_head) &&
           ret_head->magic == COHORT__TRACE_MAGIC && ret_head->rank == rank &&
           ret_head->is_closed == 1;
}

/* Whether the parts of all localities of the job whose first one is there are closed. */
static cohort_status check_all(const char *file, uint64_t *ret_key, bool *ret_are_closed)
{
    struct cohort__trace_head first = {.size = 1}, head;
    bool are_closed = true;
    for (uint32_t rank = 0; rank < first.size && are_closed; rank++) {
        int part;
        cohort_status status = open_part(file, rank, O_RDONLY, &part);
        if (status)
            return status;
        are_closed = is_closed(part, rank, &head) && (rank == 0 || head.key == first.key);
        first = rank == 0 && are_closed ? head : first;
        if (part >= 0)
            close(part);
    }
    *ret_key = first.key;
    *ret_are_closed = are_closed;
    return COHORT_OK;
}

/* The first part is also the lock: it goes when the trace is made. */
cohort_status trace_join_closed(const char *file)
{
    uint64_t key;
    bool are_closed = false;
    int lock = -1;
    cohort_status status = check_all(file, &key, &are_closed);
    if (!status && are_closed)
        status = open_part(file, 0, O_RDWR, &lock);
    while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR)
        ;
    if (lock >= 0) /* somebody may have done it meanwhile */
        status = check_all(file, &key, &are_closed);
    if (lock >= 0 && !status && are_closed)
        status = trace_join(&(struct trace_join_options){.file = file, .has_key = true, .key = key},
                            NULL);
    if (lock >= 0)
        close(lock);
    return status;
}
