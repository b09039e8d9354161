/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* With O_NONBLOCK it does not wait for the writer of a pipe. For regular files that means
 * nothing. */
cohort_status source_open(const char *path, FILE **ret_file, uint64_t *ret_bytes)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
    FILE *file = fstat(fd, &info) == 0 ? fdopen(fd, "rb") : NULL;
    if (!file) {
        cohort_status status =
            cohort_fail(COHORT_ERR_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
        close(fd);
        return status;
    }
    if (!S_ISREG(info.st_mode)) {
        fclose(file);
        return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: cannot read: %s", path,
                           S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
    }
    *ret_file = file;
    *ret_bytes = (uint64_t)info.st_size;
    return COHORT_OK;
}
