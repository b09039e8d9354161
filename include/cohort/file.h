/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COHORT_FILE_H
#define COHORT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "cohort/future.h"
#include "cohort/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Files for tasks: open, read, write, sync and close are futures, and a task that awaits one
 * suspends, while a thread of libuv's own waits for the disk. There are four of these
 * (UV_THREADPOOL_SIZE in the environment changes that), which lookups of hosts' names use, too.
 *
 * What all calls have in common:
 * - Any thread may make them; none suspends. Calls about one file may run at the same time and in
 *   any order: who reads what was written awaits the write first.
 * - What a call is to fill in or to write, the buffer and what *ret_... is, belongs to the call
 * until its future completes, on failure too. Whoever drops the future has to know by other means
 * when that is. *ret_... is untouched on failure. Paths are read before the call returns.
 * - What a thread has begun can't be cancelled, and goes on to its end: a task in a cancelled scope
 *   (cohort/scope.h) that awaits it waits for that, and gets its result. Calls that wait for a
 *   thread end with COHORT_ERR_CANCELLED; they have done nothing then.
 * - A call does not keep the job from ending, if no task awaits it; its end waits for those that a
 *   thread has begun, and cancels the others. What the program has left open then is closed, and
 * the log says so (COHORT_LOG=warn).
 * - Further errors are COHORT_ERR_BAD_PARAMETER (NULL; an offset above INT64_MAX), COHORT_ERR_STATE
 *   (before the start or after the end of the runtime), COHORT_ERR_NO_MEMORY (also where the
 * process has no more descriptors, RLIMIT_NOFILE), COHORT_ERR_GONE (it was closed here before) and
 *   COHORT_ERR_SYSTEM: what the system says. Messages have the path, and libuv's words with the
 * name of the error, as "no such file or directory (ENOENT)".
 *
 * An open file. Reference-counted: open gives the caller one reference, ref takes one more and
 * returns its argument, unref gives one back; NULL is fine for both. When the last one is given
 * back, the file is closed as soon as its calls have ended; if that fails, nobody is told. */
typedef struct cohort_file cohort_file;
COHORT_API cohort_file *cohort_file_ref(cohort_file *file);
COHORT_API void cohort_file_unref(cohort_file *file);

/* Opens the file at PATH. FLAGS and MODE are those of open(2); O_CLOEXEC is always added. */
COHORT_API cohort_future *cohort_file_open(const char *path, int flags, int mode,
                                           cohort_file **ret_file) COHORT_MUST_USE;

/* Reads BYTES from OFFSET on. *ret_bytes is how many it were: fewer only if the file ends before.
 */
COHORT_API cohort_future *cohort_file_read(cohort_file *file, uint64_t offset, void *buffer,
                                           size_t bytes, size_t *ret_bytes) COHORT_MUST_USE;

/* Writes all BYTES of DATA at OFFSET. On failure a part of them may have been written. Where the
 * file was opened with O_APPEND, Linux writes at its end instead. */
COHORT_API cohort_future *cohort_file_write(cohort_file *file, uint64_t offset, const void *data,
                                            size_t bytes) COHORT_MUST_USE;

/* Completes when what was written before is on the disk, fsync(2). */
COHORT_API cohort_future *cohort_file_sync(cohort_file *file) COHORT_MUST_USE;

/* How many bytes the file has now. */
COHORT_API cohort_future *cohort_file_size(cohort_file *file, uint64_t *ret_bytes) COHORT_MUST_USE;

/* Closes FILE, whoever else has references, when the calls that have begun have ended; those that
 * come later get COHORT_ERR_GONE. The error, if there is one, is the system's about data that it
 * had not written yet. COHORT_OK, or that error, also if it was closed before. Not cancelled. The
 * caller keeps its reference. */
COHORT_API cohort_future *cohort_file_close(cohort_file *file) COHORT_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
