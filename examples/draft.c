/* SPDX-License-Identifier: Apache-2.0 */
#include "examples/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cohort_status fail(const char *path, const char *what)
{
    return cohort_fail(COHORT_ERR_SYSTEM, "%s: %s: %s", path, what, strerror(errno));
}

/* Finds the file that PATH stands for, and its permissions (0 if there is none yet). Anything
 * except a regular file is refused: a draft that takes the name of /dev/null would remove the
 * device. */
static cohort_status find_target(const char *path, char **ret_target, mode_t *ret_mode)
{
    struct stat info;
    mode_t mode = 0;
    char *target;
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return cohort_fail(COHORT_ERR_BAD_PARAMETER, "%s: cannot write: not a regular file",
                               path);
        if (access(path, W_OK))
            return fail(path, "cannot write");
        mode = info.st_mode & 0777;
        target = realpath(path, NULL);
    } else if (errno == ENOENT && *path) {
        target = strdup(path);
    } else {
        return fail(path, "cannot write");
    }
    if (!target)
        return fail(path, "cannot write");
    *ret_target = target;
    *ret_mode = mode;
    return COHORT_OK;
}

/* The folder of TARGET, "." where it names none. The caller frees it; NULL: no memory. */
static char *folder_of(const char *target)
{
    const char *slash = strrchr(target, '/');
    if (!slash)
        return strdup(".");
    return strndup(target, slash == target ? 1 : (size_t)(slash - target));
}

/* Opens a file without a name. It vanishes with its descriptor, unless it is linked into a folder,
 * by way of /proc. */
static int open_nameless(const char *folder)
{
    if (access("/proc/self/fd", X_OK))
        return -1;
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

static int open_named(int fd, const char *name)
{
    (void)fd;
    return open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
}

static int link_to(int fd, const char *name)
{
    char self[40];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Calls CREATE with hidden names in the folder of TARGET until one is free. Returns what CREATE
 * returned, and the name in *RET_NAME; or -1 with errno. */
static int take_name(const char *target, int (*create)(int fd, const char *name), int fd,
                     char **ret_name)
{
    char *folder = folder_of(target);
    char *name = NULL;
    int result = -1;
    for (unsigned attempt = 0; folder && attempt < 1000; attempt++) {
        if (asprintf(&name, "%s/.draft-%ld-%u", folder, (long)getpid(), attempt) < 0) {
            name = NULL;
            break;
        }
        result = create(fd, name);
        if (result >= 0 || errno != EEXIST)
            break;
        free(name);
        name = NULL;
    }
    int error = errno;
    free(folder);
    if (result >= 0)
        *ret_name = name;
    else
        free(name);
    errno = error;
    return result;
}

static int open_file(const char *target, char **ret_name)
{
    char *folder = folder_of(target);
    int fd = folder ? open_nameless(folder) : -1;
    free(folder);
    return fd >= 0 ? fd : take_name(target, open_named, -1, ret_name);
}

cohort_status draft_open(struct draft *ret_draft, const char *path)
{
    struct draft draft = {0};
    mode_t mode = 0;
    cohort_status status = find_target(path, &draft.target, &mode);
    if (status)
        return status;
    int fd = open_file(draft.target, &draft.name);
    if (fd >= 0 && (!mode || fchmod(fd, mode) == 0))
        draft.file = fdopen(fd, "wb");
    if (draft.file) {
        *ret_draft = draft;
        return COHORT_OK;
    }
    status = fail(path, "cannot write");
    if (fd >= 0)
        close(fd);
    draft_fini(&draft);
    return status;
}

static int rename_to_target(struct draft *draft)
{
    if (rename(draft->name, draft->target))
        return -1;
    free(draft->name);
    draft->name = NULL;
    return 0;
}

cohort_status draft_commit(struct draft *draft)
{
    int fd = fileno(draft->file);
    if (fflush(draft->file) || ferror(draft->file))
        return fail(draft->target, "cannot write");
    if (!draft->name) {
        if (link_to(fd, draft->target) == 0)
            return COHORT_OK;
        /* A link replaces no file. A rename does, but needs a name to start from. */
        if (errno != EEXIST || take_name(draft->target, link_to, fd, &draft->name))
            return fail(draft->target, "cannot create");
    }
    return rename_to_target(draft) ? fail(draft->target, "cannot create") : COHORT_OK;
}

void draft_fini(struct draft *draft)
{
    if (draft->file)
        fclose(draft->file);
    if (draft->name)
        unlink(draft->name);
    free(draft->name);
    free(draft->target);
    *draft = (struct draft){0};
}
