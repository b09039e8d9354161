/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* To the kernel the memory is a file. So the user's limit for the size of files would apply to it,
 * and the kernel would enforce that limit with a signal. */
static bool fill(int memory, uint64_t bytes, const void *head, size_t head_bytes)
{
    struct rlimit limit, none;
    sigset_t xfsz, before;
    const struct timespec now = {0};
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &before);
    bool is_limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    none = (struct rlimit){limit.rlim_max, limit.rlim_max};
    if (is_limited)
        setrlimit(RLIMIT_FSIZE, &none);
    bool is_filled = ftruncate(memory, (off_t)bytes) == 0 &&
                     pwrite(memory, head, head_bytes, 0) == (ssize_t)head_bytes;
    int error = is_filled ? 0 : errno;
    if (is_limited)
        setrlimit(RLIMIT_FSIZE, &limit);
    if (error == EFBIG)
        sigtimedwait(&xfsz, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_filled;
}

int cohort__memory_file_create(const char *name, uint64_t bytes, const void *head,
                               size_t head_bytes, const char **ret_what)
{
    int memory = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) {
        *ret_what = "memfd_create";
        return -1;
    }
    bool is_filled = fill(memory, bytes, head, head_bytes);
    if (is_filled && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return memory;
    int error = errno;
    *ret_what = is_filled ? "sealing it" : "its size";
    close(memory);
    errno = error;
    return -1;
}

bool cohort__memory_file_holds(int memory, uint64_t bytes)
{
    struct stat stat;
    int seals = fcntl(memory, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(memory, &stat) == 0 &&
           (uint64_t)stat.st_size >= bytes;
}
